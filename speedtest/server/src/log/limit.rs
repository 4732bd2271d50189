// SPDX-License-Identifier: Apache-2.0
//! Limit of log lines by type.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Most lines of one type in each period.
pub const MOST: u32 = 100;
pub const PERIOD: Duration = Duration::from_secs(1);

/// Counts lines by type. Types are words of this program, so there are few.
#[derive(Debug, Default)]
pub struct Limit {
    kinds: HashMap<&'static str, Count>,
}

#[derive(Debug)]
struct Count {
    since: Instant,
    written: u32,
    suppressed: u64,
}

impl Limit {
    /// Return whether one more line of this type may be written.
    pub fn admits(&mut self, kind: &'static str, now: Instant) -> bool {
        let fresh = || Count { since: now, written: 0, suppressed: 0 };
        let count = self.kinds.entry(kind).or_insert_with(fresh);
        if now.saturating_duration_since(count.since) >= PERIOD {
            (count.since, count.written) = (now, 0);
        }
        let admitted = count.written < MOST;
        if admitted {
            count.written += 1;
        } else {
            count.suppressed += 1;
        }
        admitted
    }

    /// Return types whose period is over, or all with `all`, and the number of their suppressed
    /// lines.
    pub fn take_suppressed(&mut self, now: Instant, all: bool) -> Vec<(&'static str, u64)> {
        let over = |count: &Count| all || now.saturating_duration_since(count.since) >= PERIOD;
        let missing = self.kinds.iter_mut().filter(|(_, count)| count.suppressed > 0);
        missing
            .filter(|(_, count)| over(count))
            .map(|(kind, count)| (*kind, std::mem::take(&mut count.suppressed)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_its_own_limit_and_its_rest_is_reported_once() {
        let (mut limit, now) = (Limit::default(), Instant::now());
        let admitted = (0..MOST + 7).filter(|_| limit.admits("refused", now)).count();
        assert_eq!(admitted, MOST as usize);
        assert!(limit.admits("finished", now));
        assert!(limit.take_suppressed(now, false).is_empty(), "its second is not over");
        assert_eq!(limit.take_suppressed(now + PERIOD, false), [("refused", 7)]);
        assert!(limit.take_suppressed(now + PERIOD, false).is_empty());
        assert!(limit.admits("refused", now + PERIOD));
    }
}
