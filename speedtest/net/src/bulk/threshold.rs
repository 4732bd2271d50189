// SPDX-License-Identifier: Apache-2.0
//! SO_RCVLOWAT of a stream: the number of bytes for which the kernel wakes the loop.

use std::time::{Duration, Instant};

/// Highest threshold, in bytes. With 64 KiB, a stock iperf3 client moved 20 % more in one run and
/// 16 % less in another, and the server used twice the CPU.
const MOST: f64 = 512.0 * 1024.0;
/// Highest threshold as a share of the buffer limit. The window is about half of that limit; a
/// larger share would close it.
const OF_BUFFER: f64 = 0.125;
/// Longest time for a threshold to fill, in seconds.
const FILL_S: f64 = 0.002;
const OFTEN: Duration = Duration::from_millis(10);

/// SO_RCVLOWAT of one stream: the bytes that arrive in 2 ms. A slow stream is seen byte by byte.
#[derive(Debug, Clone, Copy)]
pub struct Threshold {
    then: Instant,
    bytes: u64,
    set: i32,
}

impl Threshold {
    pub fn new(now: Instant) -> Threshold {
        Threshold { then: now, bytes: 0, set: 1 }
    }

    /// Restart the rate measurement.
    pub fn restart(&mut self, now: Instant, bytes: u64) {
        self.then = now;
        self.bytes = bytes;
    }

    /// Return a new threshold, or None to keep the current one. `bytes` is the total received,
    /// `buffer` the receive buffer's limit.
    pub fn adapt(&mut self, now: Instant, bytes: u64, buffer: u32) -> Option<i32> {
        let elapsed_s = (now - self.then).as_secs_f64();
        if elapsed_s <= 0.0 {
            return None;
        }
        let per_s = (bytes - self.bytes) as f64 / elapsed_s;
        self.restart(now, bytes);
        let most = MOST.min(f64::from(buffer) * OF_BUFFER).max(1.0);
        let wanted = (per_s * FILL_S).clamp(1.0, most) as i32;
        (wanted != self.set).then(|| {
            self.set = wanted;
            wanted
        })
    }

    /// Call [`Threshold::adapt`] at most every 10 ms; callers may call this after each read.
    /// `buffer` is called only when needed.
    pub fn adapt_sometimes(&mut self, now: Instant, bytes: u64, buffer: impl FnOnce() -> u32) {
        if now >= self.then + OFTEN {
            self.adapt(now, bytes, buffer());
        }
    }

    /// Return the last value set.
    pub fn bytes(&self) -> i32 {
        self.set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_rate_between_one_byte_and_512_kib_and_leaves_the_window_open() {
        let start = Instant::now();
        let mut threshold = Threshold::new(start);
        let at = |tick: u64| start + Duration::from_millis(100 * tick);
        const BUFFER: u32 = 6 << 20;
        assert_eq!(threshold.adapt(start, 0, BUFFER), None);
        assert_eq!(threshold.adapt(at(1), 1_000_000, BUFFER), Some(20_000));
        assert_eq!(threshold.adapt(at(2), 2_000_000, BUFFER), None);
        assert_eq!(threshold.adapt(at(3), 3_000_000, 128 << 10), Some(16 << 10));
        assert_eq!(threshold.adapt(at(4), 1 << 40, BUFFER), Some(512 << 10));
        assert_eq!(threshold.adapt(at(5), 1 << 40, BUFFER), Some(1));
        assert_eq!(threshold.bytes(), 1);
    }

    #[test]
    fn asked_after_each_read_it_waits_until_there_is_a_rate() {
        let start = Instant::now();
        let mut threshold = Threshold::new(start);
        threshold.adapt_sometimes(start + Duration::from_millis(9), 1 << 30, || unreachable!());
        assert_eq!(threshold.bytes(), 1);
        threshold.adapt_sometimes(start + Duration::from_millis(10), 1 << 30, || 6 << 20);
        assert_eq!(threshold.bytes(), 512 << 10);
    }
}
