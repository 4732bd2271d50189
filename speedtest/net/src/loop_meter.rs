// SPDX-License-Identifier: Apache-2.0
//! Duration of each turn of a loop, and the delay of ready sockets until their turns.
//!
//! One loop writes, any thread reads. A user takes the difference of two readings.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Turn length above which this program is at fault, or the host gave it no CPU.
pub const LONG_TURN: Duration = Duration::from_millis(10);
/// Number of delay buckets, by powers of two of 1 µs; the last one is longer than an hour.
const DELAYS: usize = 32;

/// Counters of one loop since it was made.
#[derive(Debug, Default)]
pub struct LoopMeter {
    turns: AtomicU64,
    busy_ns: AtomicU64,
    long_turns: AtomicU64,
    longest_ns: AtomicU64,
    delays: [AtomicU64; DELAYS],
    delay_ns: AtomicU64,
    longest_delay_ns: AtomicU64,
    /// The longest turn over [`LONG_TURN`] since the last [`LoopMeter::take_long_turn`].
    unseen: Mutex<Option<LongTurn>>,
}

/// Turn that delayed the other sockets of its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongTurn {
    pub took: Duration,
    /// Type of the handler.
    pub handler: &'static str,
}

/// A reading of a [`LoopMeter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopReading {
    pub turns: u64,
    /// Total time of all turns.
    pub busy: Duration,
    pub long_turns: u64,
    pub longest_turn: Duration,
    /// Longest time between epoll's report of a socket and the call of its handler.
    pub longest_delay: Duration,
    delays: [u64; DELAYS],
    /// Sum of all delays.
    delay: Duration,
}

impl LoopMeter {
    /// Count a turn that has ended. Only the loop's own thread calls it.
    pub(crate) fn turn(&self, took: Duration, handler: &'static str) {
        add(&self.turns, 1);
        add(&self.busy_ns, nanos(took));
        raise(&self.longest_ns, took);
        if took <= LONG_TURN {
            return;
        }
        add(&self.long_turns, 1);
        let mut unseen = self.unseen.lock().unwrap_or_else(PoisonError::into_inner);
        if unseen.is_none_or(|before| before.took < took) {
            *unseen = Some(LongTurn { took, handler });
        }
    }

    /// Count the delay of a ready socket. Only the loop's own thread calls it.
    pub(crate) fn delayed(&self, by: Duration) {
        add(&self.delays[bucket(by)], 1);
        add(&self.delay_ns, nanos(by));
        raise(&self.longest_delay_ns, by);
    }

    pub fn read(&self) -> LoopReading {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LoopReading {
            turns: get(&self.turns),
            busy: Duration::from_nanos(get(&self.busy_ns)),
            long_turns: get(&self.long_turns),
            longest_turn: Duration::from_nanos(get(&self.longest_ns)),
            longest_delay: Duration::from_nanos(get(&self.longest_delay_ns)),
            delays: std::array::from_fn(|index| get(&self.delays[index])),
            delay: Duration::from_nanos(get(&self.delay_ns)),
        }
    }

    /// Return the longest of the long turns since the last call, for the log.
    pub fn take_long_turn(&self) -> Option<LongTurn> {
        self.unseen.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl LoopReading {
    /// Return the mean delay of ready sockets since `earlier`. None: no socket was ready.
    pub fn mean_delay_since(&self, earlier: &LoopReading) -> Option<Duration> {
        let count = |reading: &LoopReading| reading.delays.iter().sum::<u64>();
        let ready = count(self).saturating_sub(count(earlier));
        let waited = self.delay.saturating_sub(earlier.delay);
        (ready > 0).then(|| Duration::from_secs_f64(waited.as_secs_f64() / ready as f64))
    }

    /// Return a bound of the delays since `earlier`: the next power of two of 1 µs. None: no socket
    /// was ready.
    pub fn worst_delay_since(&self, earlier: &LoopReading) -> Option<Duration> {
        let grew = |index: &usize| self.delays[*index] > earlier.delays[*index];
        let worst = (0..DELAYS).rev().find(grew)?;
        Some(
            Duration::from_micros(1 << worst).min(self.longest_delay.max(Duration::from_micros(1))),
        )
    }
}

/// Return the bucket of a delay: bucket `n` holds delays of at most 2^n µs.
fn bucket(delay: Duration) -> usize {
    let micros = u64::try_from(delay.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX).max(1);
    let power = u64::BITS - (micros - 1).leading_zeros();
    (power as usize).min(DELAYS - 1)
}

/// Add without a locked instruction: there is one writer.
fn add(counter: &AtomicU64, count: u64) {
    counter.store(counter.load(Ordering::Relaxed) + count, Ordering::Relaxed);
}

fn raise(most: &AtomicU64, to: Duration) {
    let to = nanos(to);
    if to > most.load(Ordering::Relaxed) {
        most.store(to, Ordering::Relaxed);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_turns_are_kept_and_the_longest_until_it_is_seen() {
        let meter = LoopMeter::default();
        meter.turn(LONG_TURN, "short");
        assert_eq!((meter.read().long_turns, meter.take_long_turn()), (0, None));
        meter.turn(LONG_TURN * 3, "long");
        meter.turn(LONG_TURN * 2, "less long");
        assert_eq!((meter.read().turns, meter.read().long_turns), (3, 2));
        assert_eq!(meter.take_long_turn(), Some(LongTurn { took: LONG_TURN * 3, handler: "long" }));
        assert_eq!(meter.take_long_turn(), None);
        assert_eq!(meter.read().longest_turn, LONG_TURN * 3);
        assert_eq!(meter.read().busy, LONG_TURN * 6);
    }

    #[test]
    fn the_worst_delay_is_that_between_two_readings() {
        let meter = LoopMeter::default();
        let micros = Duration::from_micros;
        meter.delayed(micros(900));
        let earlier = meter.read();
        assert_eq!(meter.read().worst_delay_since(&earlier), None);
        meter.delayed(micros(100));
        meter.delayed(micros(3));
        assert_eq!(meter.read().worst_delay_since(&earlier), Some(micros(128)));
        assert_eq!(meter.read().mean_delay_since(&earlier), Some(micros(103) / 2));
        meter.delayed(micros(1000));
        assert_eq!(meter.read().worst_delay_since(&earlier), Some(micros(1000)));
    }

    #[test]
    fn each_bucket_ends_at_a_power_of_two() {
        let of = |nanos| bucket(Duration::from_nanos(nanos));
        assert_eq!([of(0), of(1000), of(1001), of(2000), of(2001)], [0, 0, 1, 1, 2]);
        assert_eq!(bucket(Duration::MAX), DELAYS - 1);
    }
}
