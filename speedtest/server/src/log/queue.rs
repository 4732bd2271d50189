// SPDX-License-Identifier: Apache-2.0
//! Lines that wait for the thread that writes them.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::limit::{Limit, PERIOD};
use super::Unwritten;

/// Most lines that may wait; 16 MiB of the longest ones.
const MOST: usize = 1024;

/// Lines that were not written, to report in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Suppressed(&'static str, u64),
    Dropped(u64),
}

#[derive(Debug, Default)]
pub struct Queue {
    state: Mutex<State>,
    /// Signals a line to write, or the end.
    more: Condvar,
    /// Signals that everything is written and the thread has ended.
    end: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    limit: Limit,
    unwritten: Unwritten,
    /// Dropped lines that are not reported yet.
    untold: u64,
    started: bool,
    stops: bool,
    ended: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn unwritten(&self) -> Unwritten {
        self.state().unwritten
    }

    /// Return whether one more line of this type may be written.
    pub fn admits(&self, kind: &'static str, now: Instant) -> bool {
        let mut state = self.state();
        let admitted = state.limit.admits(kind, now);
        state.unwritten.suppressed += u64::from(!admitted);
        admitted
    }

    /// Queue a line without blocking; count it as dropped if there is no room.
    pub fn put(&self, line: String) {
        let mut state = self.state();
        if state.lines.len() < MOST {
            state.lines.push_back(line);
            self.more.notify_one();
        } else {
            state.unwritten.dropped += 1;
            state.untold += 1;
        }
    }

    /// Start the thread that writes to stderr. `line_about` makes a line about missing ones.
    pub fn start(
        self: &Arc<Queue>,
        line_about: impl Fn(Missing) -> String + Send + 'static,
    ) -> io::Result<()> {
        // A handle of its own: other writers to stderr must not wait for this thread.
        let mut to = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        self.state().started = true;
        let queue = Arc::clone(self);
        let write = move || queue.run(&mut to, &line_about);
        std::thread::Builder::new().name("log".into()).spawn(write).map(drop)
    }

    /// Write until [`Queue::stop`]. With stderr closed there is nowhere to report an error.
    fn run(&self, to: &mut impl Write, line_about: &impl Fn(Missing) -> String) {
        loop {
            let Some(text) = self.next(line_about) else { return };
            let _ = to.write_all(text.as_bytes());
        }
    }

    /// Return everything that waits; None after the last.
    fn next(&self, line_about: &impl Fn(Missing) -> String) -> Option<String> {
        let mut state = self.state();
        loop {
            let text = state.take(line_about);
            if !text.is_empty() {
                return Some(text);
            }
            if state.stops {
                state.ended = true;
                self.end.notify_all();
                return None;
            }
            let waited = self.more.wait_timeout(state, PERIOD);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wait until everything is written, for at most `most`.
    pub fn stop(&self, most: Duration) {
        let mut state = self.state();
        state.stops = true;
        self.more.notify_all();
        if !state.started {
            let rest: String = state.lines.drain(..).collect();
            drop(state);
            let _ = io::stderr().write_all(rest.as_bytes());
            return;
        }
        drop(self.end.wait_timeout_while(state, most, |state| !state.ended));
    }
}

impl State {
    fn take(&mut self, line_about: &impl Fn(Missing) -> String) -> String {
        let mut text: String = self.lines.drain(..).collect();
        if self.untold > 0 {
            text += &line_about(Missing::Dropped(std::mem::take(&mut self.untold)));
        }
        for (kind, lines) in self.limit.take_suppressed(Instant::now(), self.stops) {
            text += &line_about(Missing::Suppressed(kind, lines));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_about(what: Missing) -> String {
        format!("{what:?}\n")
    }

    #[test]
    fn a_full_queue_counts_dropped_lines_and_reports_them_once() {
        let queue = Queue::default();
        (0..MOST + 3).for_each(|number| queue.put(format!("{number}\n")));
        assert_eq!(queue.unwritten(), Unwritten { suppressed: 0, dropped: 3 });
        queue.state().stops = true;
        let mut written = Vec::new();
        queue.run(&mut written, &line_about);
        let text = String::from_utf8(written).unwrap();
        assert_eq!(text.lines().count(), MOST + 1);
        assert_eq!(text.lines().last(), Some("Dropped(3)"));
    }

    #[test]
    fn the_end_reports_suppressed_lines() {
        let queue = Queue::default();
        let admitted = (0..150).filter(|_| queue.admits("refused", Instant::now())).count();
        assert!(queue.unwritten().suppressed as usize + admitted == 150 && admitted < 150);
        queue.state().stops = true;
        let mut written = Vec::new();
        queue.run(&mut written, &line_about);
        let text = String::from_utf8(written).unwrap();
        assert!(text.starts_with("Suppressed(\"refused\", "), "{text}");
    }
}
