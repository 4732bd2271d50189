// SPDX-License-Identifier: Apache-2.0
//! A loop's two clocks: the host's, and one of its peers, which stands still in a gap: the host gives
//! the loop no CPU, e.g. while it is migrated, or a turn takes too long. Peers get no answer then
//! and cannot be late, so their limits are kept by the second clock.

use std::ops::Add;
use std::time::{Duration, Instant};

use crate::loop_meter::LONG_TURN;

/// Most time that peers are given back at once. After more they have given up themselves. It grows
/// again as time passes, so that on a host that is always busy limits last at most twice as long.
const MOST_GIVEN_BACK: Duration = Duration::from_secs(10);

/// Time of the peers' clock. Those of two loops cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeerInstant(Instant);

impl PeerInstant {
    /// Make an instant for a handler that is in no loop yet; it sets another one when it enters.
    pub fn outside() -> PeerInstant {
        PeerInstant(Instant::now())
    }
}

impl Add<Duration> for PeerInstant {
    type Output = PeerInstant;

    fn add(self, time: Duration) -> PeerInstant {
        PeerInstant(self.0 + time)
    }
}

/// Both clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// The end of the last turn, or epoll's return.
    pub now: Instant,
    /// Time given back so far, and what may be given back of the next gap.
    given_back: Duration,
    credit: Duration,
}

impl Clock {
    pub fn new() -> Clock {
        Clock { now: Instant::now(), given_back: Duration::ZERO, credit: MOST_GIVEN_BACK }
    }

    /// Advance to `now`; the loop has slept for at most `asleep`.
    pub fn advance(&mut self, now: Instant, asleep: Duration) {
        let passed = now.saturating_duration_since(self.now);
        let gap = passed.saturating_sub(asleep);
        let given = if gap > LONG_TURN { gap.min(self.credit) } else { Duration::ZERO };
        self.given_back += given;
        self.credit = (self.credit + passed - 2 * given).min(MOST_GIVEN_BACK);
        self.now = now;
    }

    pub fn peer_now(&self) -> PeerInstant {
        PeerInstant(self.now - self.given_back)
    }

    /// Return when it will be `at` unless another gap comes.
    pub fn when(&self, at: PeerInstant) -> Instant {
        at.0 + self.given_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_time_stands_still_in_gaps_while_credit_lasts() {
        let ms = Duration::from_millis;
        let mut clock = Clock::new();
        let (began, peer_began) = (clock.now, clock.peer_now());
        for (after, asleep, peer_after) in [
            (ms(5), ms(0), ms(5)),
            (ms(1005), ms(1000), ms(1005)),
            (ms(1505), ms(2000), ms(1505)),
            (ms(3505), ms(0), ms(1505)),
            (ms(7505), ms(1000), ms(2505)),
            (ms(107_505), ms(0), ms(96_505)),
            (ms(119_505), ms(0), ms(98_505)),
            (ms(121_505), ms(0), ms(98_505)),
            (ms(125_505), ms(0), ms(102_505)),
        ] {
            clock.advance(began + after, asleep);
            assert_eq!(clock.peer_now(), peer_began + peer_after);
            assert_eq!(clock.when(clock.peer_now()), clock.now);
        }
    }
}
