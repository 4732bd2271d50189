// SPDX-License-Identifier: Apache-2.0
//! For how much data shall the kernel wake the loop?

use std::time::Instant;

/// Waking for less than this costs more than it tells.
const MOST: f64 = 512.0 * 1024.0;
/// The loop shall not wait longer than this for a threshold to fill.
const FILL_S: f64 = 0.002;

/// SO_RCVLOWAT of one stream, as much as comes in two milliseconds: a slow one is seen byte by byte.
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

    /// The rate is counted from here on.
    pub fn restart(&mut self, now: Instant, bytes: u64) {
        self.then = now;
        self.bytes = bytes;
    }

    /// Follows the rate since the last call, `bytes` having come in all. Some: to be set.
    pub fn adapt(&mut self, now: Instant, bytes: u64) -> Option<i32> {
        let elapsed_s = (now - self.then).as_secs_f64();
        if elapsed_s <= 0.0 {
            return None;
        }
        let per_s = (bytes - self.bytes) as f64 / elapsed_s;
        self.restart(now, bytes);
        let wanted = (per_s * FILL_S).clamp(1.0, MOST) as i32;
        (wanted != self.set).then(|| {
            self.set = wanted;
            wanted
        })
    }

    /// What the kernel has been told last.
    pub fn bytes(&self) -> i32 {
        self.set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn it_follows_the_rate_between_one_byte_and_512_kib() {
        let start = Instant::now();
        let mut threshold = Threshold::new(start);
        let at = |tick: u64| start + Duration::from_millis(100 * tick);
        assert_eq!(threshold.adapt(start, 0), None);
        assert_eq!(threshold.adapt(at(1), 1_000_000), Some(20_000));
        assert_eq!(threshold.adapt(at(2), 2_000_000), None);
        assert_eq!(threshold.adapt(at(3), 1 << 40), Some(512 << 10));
        assert_eq!(threshold.adapt(at(4), 1 << 40), Some(1));
        assert_eq!(threshold.bytes(), 1);
    }
}
