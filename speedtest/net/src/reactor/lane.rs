// SPDX-License-Identifier: Apache-2.0
//! One loop, and the order in which it calls handlers.
//!
//! A round begins with epoll's report. Each ready socket's handler has one turn. Between two turns,
//! due timers and messages are served. Handlers that spent their budget are called again after all
//! others. So a handler waits at most one turn of each other handler.
//!
//! A timer that comes late tells that the loop had no CPU, or too much to do. What the socket got
//! meanwhile comes first: a peer that sent in time is not to blame. See also [`super::clock`].

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use super::clock::Clock;
use super::lanes::Post;
use super::slots::{Entry, Slots};
use super::{Cx, Handler, Interest, Lanes, Next, Ready};
use crate::load::ThreadMeter;
use crate::loop_meter::{LoopMeter, LONG_TURN};
use crate::sys::{self, Epoll, Readiness};
use crate::turn::Turn;

const WAKE: u64 = u64::MAX;
/// While timers are set: of a gap in which the loop sleeps, so much at most is not noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// One loop; its thread runs `run`.
pub struct Lane {
    index: usize,
    lanes: Lanes,
    epoll: Epoll,
    slots: Slots,
    timers: BinaryHeap<Reverse<(Instant, u64)>>,
    meter: ThreadMeter,
    stopped: bool,
    /// Number of epoll returns.
    round: u64,
    clock: Clock,
    /// Handlers to call again, in the order of asking.
    unfinished: Vec<u64>,
}

impl Lane {
    pub fn new(index: usize, lanes: Lanes) -> io::Result<Lane> {
        let epoll = Epoll::new()?;
        let inbox = lanes.inbox(index).ok_or(io::ErrorKind::NotFound)?;
        epoll.add(inbox.wake().as_raw_fd(), libc::EPOLLIN as u32, WAKE)?;
        Ok(Lane {
            index,
            lanes,
            epoll,
            slots: Slots::default(),
            timers: BinaryHeap::new(),
            meter: ThreadMeter::of_this_thread(),
            stopped: false,
            round: 0,
            clock: Clock::new(),
            unfinished: Vec::new(),
        })
    }

    /// Serve until [`Lanes::stop`]; call it in the loop's own thread.
    pub fn run(mut self) -> io::Result<()> {
        self.meter = ThreadMeter::of_this_thread();
        let mut ready = Vec::new();
        while !self.stopped {
            let patience = self.patience();
            self.epoll.wait(&mut ready, patience)?;
            self.clock.advance(Instant::now(), patience.unwrap_or(Duration::MAX));
            self.serve(&ready);
        }
        Ok(())
    }

    /// Return how long epoll may wait: 0 while a handler is to be called again.
    fn patience(&self) -> Option<Duration> {
        if !self.unfinished.is_empty() {
            return Some(Duration::ZERO);
        }
        let next = self.timers.peek()?.0 .0;
        Some(next.saturating_duration_since(self.clock.now).min(LONGEST_SLEEP))
    }

    /// Serve one round.
    fn serve(&mut self, ready: &[Readiness]) {
        self.round += 1;
        let returned = self.clock.now;
        let unfinished = std::mem::take(&mut self.unfinished);
        self.between_turns();
        for event in ready {
            if event.token == WAKE {
                self.take_posts();
            } else {
                self.report(event, returned);
                self.between_turns();
            }
            if self.stopped {
                return;
            }
        }
        for token in unfinished {
            let round = self.round;
            // A handler that was ready has had its turn of this round.
            if self.slots.get(token).is_some_and(|entry| entry.called < round) {
                self.call(token, |handler, cx| handler.again(cx));
                self.between_turns();
            }
            if self.stopped {
                return;
            }
        }
    }

    /// Give the handler of a ready socket its turn of this round, if it still waits for these
    /// events.
    fn report(&mut self, event: &Readiness, returned: Instant) {
        let round = self.round;
        let Some(entry) = self.slots.get(event.token) else { return };
        let why = Ready(event.events).within(entry.interest);
        if why.is_nothing() || entry.called == round {
            return;
        }
        entry.called = round;
        self.loop_meter(|meter, now| meter.delayed(now - returned));
        self.call(event.token, |handler, cx| handler.ready(cx, why));
    }

    fn loop_meter(&self, record: impl FnOnce(&LoopMeter, Instant)) {
        if let Some(inbox) = self.lanes.inbox(self.index) {
            record(&inbox.meter, self.clock.now);
        }
    }

    /// Serve timers, messages and the stop order between two turns.
    fn between_turns(&mut self) {
        self.run_timers();
        if self.lanes.inbox(self.index).is_some_and(|inbox| inbox.has_posts()) {
            self.take_posts();
        }
    }

    fn take_posts(&mut self) {
        let posts = self.lanes.inbox(self.index).map(|inbox| inbox.take()).unwrap_or_default();
        for post in posts {
            match post {
                Post::Note(token, note) => self.call(token, |handler, cx| handler.note(cx, note)),
                Post::Adopt(handler) => self.insert(handler),
                Post::Stop => self.stopped = true,
            }
            self.run_timers();
        }
    }

    /// Run due timers; one that is set meanwhile waits for the next call.
    fn run_timers(&mut self) {
        let now = self.clock.now;
        while let Some(Reverse((at, token))) = self.timers.peek().copied() {
            if at > now {
                return;
            }
            self.timers.pop();
            if now - at > LONG_TURN {
                self.report_now(token);
            }
            self.call(token, |handler, cx| handler.timer(cx));
        }
    }

    /// Report a socket that epoll has not reported yet, if it is ready.
    fn report_now(&mut self, token: u64) {
        let Some(entry) = self.slots.get(token) else { return };
        if let Ok(events) = sys::ready_now(entry.handler.fd(), entry.interest.0) {
            self.report(&Readiness { events, token }, self.clock.now);
        }
    }

    fn insert(&mut self, handler: Box<dyn Handler>) {
        let fd = handler.fd();
        let token = self.slots.insert(handler);
        if self.epoll.add(fd, Interest::NOTHING.0, token).is_err() {
            return self.slots.free(token);
        }
        self.call(token, |handler, cx| handler.enter(cx));
    }

    /// Call the handler at `token`, if it still exists, and apply its decision.
    fn call(&mut self, token: u64, what: impl FnOnce(&mut dyn Handler, &mut Cx<'_>) -> Next) {
        let Some(mut entry) = self.slots.take(token) else { return };
        let Some(inbox) = self.lanes.inbox(self.index) else { return };
        let began = self.clock.now;
        let name = entry.handler.name();
        let mut interest = entry.interest;
        let loop_time = RefCell::new(entry.loop_time.take());
        let mut cx = Cx {
            now: began,
            clock: self.clock,
            turn: Turn::default(),
            lanes: &self.lanes,
            meter: &self.meter,
            loop_meter: &inbox.meter,
            lane: self.index,
            token,
            epoll: &self.epoll,
            interest: &mut interest,
            loop_time: &loop_time,
            timers: &mut self.timers,
        };
        let mut next = what(entry.handler.as_mut(), &mut cx);
        let kept = loop {
            entry.handler = match next {
                Next::Become(handler) => handler,
                Next::Succeed => match entry.handler.succeed() {
                    Some(handler) => handler,
                    None => break None,
                },
                Next::Close => {
                    drop(entry);
                    break None;
                }
                Next::Stay => break Some((entry, cx.turn.ran_out())),
                Next::Again => break Some((entry, true)),
            };
            next = entry.handler.enter(&mut cx);
        };
        let loop_time = loop_time.into_inner();
        match kept {
            Some((entry, again)) => {
                let entry = Entry { loop_time: loop_time.clone(), ..entry };
                self.keep(token, entry, interest, again);
            }
            None => self.slots.free(token),
        }
        self.clock.advance(Instant::now(), Duration::ZERO);
        self.loop_meter(|meter, now| meter.turn(now - began, name));
        if let Some(loop_time) = loop_time {
            loop_time.add(self.index, self.clock.now - began);
        }
    }

    fn keep(&mut self, token: u64, mut entry: Entry, interest: Interest, again: bool) {
        if interest != entry.interest {
            if self.epoll.modify(entry.handler.fd(), interest.0, token).is_err() {
                drop(entry);
                return self.slots.free(token);
            }
            entry.interest = interest;
        }
        if again && entry.asked < self.round {
            entry.asked = self.round;
            self.unfinished.push(token);
        }
        self.slots.put(token, entry);
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
