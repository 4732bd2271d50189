// SPDX-License-Identifier: Apache-2.0
//! A loop's two clocks: the host's, and one that stands still while the host gives the loop no CPU.
//! Limits of peers are kept by the second: in a gap, e.g. while the host is migrated, peers get no
//! answer and cannot be late.

use std::ops::Add;
use std::time::{Duration, Instant};

use crate::loop_meter::LONG_TURN;

/// Longest time of one gap that peers are given back. After more they have given up themselves.
const MOST_GIVEN_BACK: Duration = Duration::from_secs(10);

/// Time of a loop's second clock. Those of two loops cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoopInstant(Instant);

impl LoopInstant {
    /// Make an instant for a handler that is in no loop yet; it sets another one when it enters.
    pub fn outside() -> LoopInstant {
        LoopInstant(Instant::now())
    }
}

impl Add<Duration> for LoopInstant {
    type Output = LoopInstant;

    fn add(self, time: Duration) -> LoopInstant {
        LoopInstant(self.0 + time)
    }
}

/// Both clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// The end of the last turn, or epoll's return.
    pub now: Instant,
    /// Total time of all gaps.
    lost: Duration,
}

impl Clock {
    pub fn new() -> Clock {
        Clock { now: Instant::now(), lost: Duration::ZERO }
    }

    /// Advance to `now`; the loop has slept for at most `asleep`.
    pub fn advance(&mut self, now: Instant, asleep: Duration) {
        let gap = now.saturating_duration_since(self.now).saturating_sub(asleep);
        if gap > LONG_TURN {
            self.lost += gap.min(MOST_GIVEN_BACK);
        }
        self.now = now;
    }

    pub fn loop_now(&self) -> LoopInstant {
        LoopInstant(self.now - self.lost)
    }

    /// Return when it will be `at` unless another gap comes.
    pub fn when(&self, at: LoopInstant) -> Instant {
        at.0 + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_time_stands_still_in_gaps_only() {
        let ms = Duration::from_millis;
        let mut clock = Clock::new();
        let (began, loop_began) = (clock.now, clock.loop_now());
        for (after, asleep, loop_after) in [
            (ms(5), ms(0), ms(5)),
            (ms(1005), ms(1000), ms(1005)),
            (ms(1505), ms(2000), ms(1505)),
            (ms(3505), ms(0), ms(1505)),
            (ms(7505), ms(1000), ms(2505)),
            (ms(107_505), ms(0), ms(92_505)),
        ] {
            clock.advance(began + after, asleep);
            assert_eq!(clock.loop_now(), loop_began + loop_after);
            assert_eq!(clock.when(clock.loop_now()), clock.now);
        }
    }
}
