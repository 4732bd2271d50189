// SPDX-License-Identifier: Apache-2.0
//! Omit the first seconds of a test from a stream's counters.

use std::time::{Duration, Instant};

/// Limit after the end of the omitted time, beyond which a sample is too late to count from.
const LATE: Duration = Duration::from_millis(50);

/// Counters of a stream at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mark<T> {
    pub at: Instant,
    pub counted: T,
}

/// Tracks a stream over its omitted time.
///
/// On a host that stalls, a loop may run again long after the omitted time has ended, in the worst
/// case together with the end of the test. Counting from there would give a rate over microseconds.
/// So the stream counts from the sample before: over a longer time than requested, never a shorter
/// one.
#[derive(Debug)]
pub(super) struct Omission<T> {
    began: Mark<T>,
    until: Instant,
    looked: Mark<T>,
    counted_from: Option<Mark<T>>,
}

impl<T: Copy> Omission<T> {
    /// Begin at `began` with these counters; omit the first `omit`.
    pub fn new(began: Instant, omit: Duration, counted: T) -> Omission<T> {
        let began = Mark { at: began, counted };
        let counted_from = omit.is_zero().then_some(began);
        Omission { began, until: began.at + omit, looked: began, counted_from }
    }

    pub fn is_over(&self) -> bool {
        self.counted_from.is_some()
    }

    /// Return when to sample next; `then` is the next regular sample.
    pub fn next_look(&self, then: Instant) -> Instant {
        if self.is_over() {
            then
        } else {
            then.min(self.until)
        }
    }

    /// Record a sample of the counters.
    pub fn look(&mut self, now: Instant, counted: T) {
        if self.is_over() {
            return;
        }
        let here = Mark { at: now, counted };
        if now < self.until {
            self.looked = here;
        } else {
            let late = now - self.until > LATE;
            self.counted_from = Some(if late { self.looked } else { here });
        }
    }

    /// Return the mark to count from if the stream ends now. A test that ends within the omitted
    /// time counts whole.
    pub fn counted_from(&self, now: Instant) -> Mark<T> {
        let missed = if now < self.until { self.began } else { self.looked };
        self.counted_from.unwrap_or(missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_stream_counts_from_the_end_of_the_omitted_time() {
        let start = Instant::now();
        let mut omission = Omission::new(start, SECOND, 0);
        omission.look(start + SECOND / 2, 5);
        assert_eq!(omission.next_look(start + SECOND * 2), start + SECOND);
        omission.look(start + SECOND, 10);
        omission.look(start + SECOND * 2, 20);
        assert!(omission.is_over());
        assert_eq!(omission.next_look(start + SECOND * 3), start + SECOND * 3);
        let from = Mark { at: start + SECOND, counted: 10 };
        assert_eq!(omission.counted_from(start + SECOND * 3), from);
    }

    #[test]
    fn a_loop_that_was_held_up_until_the_end_counts_from_the_look_before() {
        let start = Instant::now();
        let before = Mark { at: start + SECOND / 2, counted: 5 };
        let mut omission = Omission::new(start, SECOND, 0);
        omission.look(before.at, before.counted);
        assert_eq!(omission.counted_from(start + SECOND * 2), before);
        omission.look(start + SECOND * 2, 20);
        assert_eq!(omission.counted_from(start + SECOND * 2), before);
    }

    #[test]
    fn nothing_omitted_and_an_early_end_count_from_the_start() {
        let start = Instant::now();
        let began = Mark { at: start, counted: 0 };
        let mut whole = Omission::new(start, Duration::ZERO, 0);
        whole.look(start + SECOND, 10);
        assert_eq!(whole.counted_from(start + SECOND), began);
        let mut short = Omission::new(start, SECOND * 9, 0);
        short.look(start + SECOND, 10);
        assert_eq!(short.counted_from(start + SECOND * 2), began);
    }
}
