// SPDX-License-Identifier: Apache-2.0
//! Time that the loops spent on each test.
//!
//! The time of each turn is added to its loop's meter, and to the [`LoopTime`] that its handler is
//! charged to. The difference is the time for everything else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time of the turns of all handlers of one test, by loop.
#[derive(Debug)]
pub struct LoopTime {
    turns_ns: Box<[AtomicU64]>,
}

impl LoopTime {
    /// Make counters for a test whose handlers may be in any of `lanes` loops.
    pub fn new(lanes: usize) -> LoopTime {
        LoopTime { turns_ns: (0..lanes).map(|_| AtomicU64::new(0)).collect() }
    }

    pub(crate) fn add(&self, lane: usize, took: Duration) {
        if let Some(turns_ns) = self.turns_ns.get(lane) {
            turns_ns.fetch_add(nanos(took), Ordering::Relaxed);
        }
    }

    /// Return the time so far, by loop.
    pub fn read(&self) -> Vec<Duration> {
        let time = |ns: &AtomicU64| Duration::from_nanos(ns.load(Ordering::Relaxed));
        self.turns_ns.iter().map(time).collect()
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_kept_by_loop() {
        let loop_time = LoopTime::new(2);
        loop_time.add(1, Duration::from_micros(7));
        loop_time.add(9, Duration::from_micros(7));
        assert_eq!(loop_time.read(), [Duration::ZERO, Duration::from_micros(7)]);
    }
}
