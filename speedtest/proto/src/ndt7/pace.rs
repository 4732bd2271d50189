// SPDX-License-Identifier: Apache-2.0
//! Size of the next message and time of the next measurement.

use std::time::Duration;

/// Size of the first message, in bytes; it doubles while it is at most 1/16 of the bytes sent.
const FIRST_BYTES: u64 = 1 << 13;
/// Largest message, in bytes: M-Lab's Go client closes on a larger one.
const MOST_BYTES: u64 = 1 << 20;
const FRACTION: u64 = 16;

const MEAN_S: f64 = 0.25;
const LEAST_S: f64 = 0.025;
const MOST_S: f64 = 0.625;

/// Message sizes of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    bytes: u64,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { bytes: FIRST_BYTES }
    }
}

impl Sizes {
    /// Return the size of the next message after `sent` bytes.
    pub fn next(&mut self, sent: u64) -> u64 {
        if self.bytes < MOST_BYTES && self.bytes <= sent / FRACTION {
            self.bytes *= 2;
        }
        self.bytes
    }
}

/// Return the time to the next measurement: exponentially distributed, so that it does not
/// synchronize with anything periodic. `random` is uniform in 0 to 1.
pub fn measurement_gap(random: f64) -> Duration {
    let seconds = -MEAN_S * (1.0 - random.clamp(0.0, 1.0 - 1e-9)).ln();
    Duration::from_secs_f64(seconds.clamp(LEAST_S, MOST_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_grow_with_what_was_sent_up_to_a_mebibyte() {
        let (mut sizes, mut sent, mut seen) = (Sizes::default(), 0, Vec::new());
        for _ in 0..1000 {
            let size = sizes.next(sent);
            assert!(size == FIRST_BYTES || size / 2 <= sent / FRACTION);
            sent += size;
            seen.push(size);
        }
        assert!(seen.windows(2).all(|pair| pair[1] == pair[0] || pair[1] == pair[0] * 2));
        assert_eq!((seen[0], seen[999]), (8192, 1 << 20));
    }

    #[test]
    fn gaps_are_a_quarter_second_on_average_and_bounded() {
        let gaps: Vec<f64> =
            (0..1000).map(|n| measurement_gap(f64::from(n) / 1000.0).as_secs_f64()).collect();
        let mean = gaps.iter().sum::<f64>() / 1000.0;
        assert!((0.2..0.27).contains(&mean), "{mean}");
        assert!(gaps.iter().all(|gap| (LEAST_S..=MOST_S).contains(gap)));
    }
}
