// SPDX-License-Identifier: Apache-2.0
//! Schedule of the next block at a given rate.

use std::time::{Duration, Instant};

/// Keeps an average rate from its start: a stream that fell behind catches up.
#[derive(Debug, Clone, Copy)]
pub struct Pacer {
    start: Instant,
    bytes: u64,
    bytes_per_s: f64,
}

impl Pacer {
    pub fn new(start: Instant, rate_bps: u64) -> Pacer {
        Pacer { start, bytes: 0, bytes_per_s: (rate_bps as f64 / 8.0).max(1.0) }
    }

    pub fn moved(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Return the moment at which the bytes moved so far are within the rate.
    pub fn due(&self) -> Instant {
        self.start + Duration::from_secs_f64((self.bytes as f64 / self.bytes_per_s).min(1e6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_due_at_the_rate() {
        let start = Instant::now();
        let mut pacer = Pacer::new(start, 8_000_000);
        assert_eq!(pacer.due(), start);
        pacer.moved(500_000);
        assert_eq!(pacer.due(), start + Duration::from_millis(500));
    }
}
