// SPDX-License-Identifier: Apache-2.0
//! The receiving end: data is dropped inside the kernel, never copied.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::pacer::Pacer;
use super::probe::{Phase, Probe};
use super::threshold::Threshold;
use super::{Guard, Spec, Stream};
use crate::reactor::{Cx, Handler, Interest, Next, Note, Ready};
use crate::sys;

/// One call drops at most this much, so that the other sockets of the loop get their turn.
const MOST_AT_ONCE: usize = 4 << 20;
/// A sender that is known to have sent more is waited for this long after its last byte.
const TAIL: Duration = Duration::from_secs(1);

/// Receives and counts.
pub struct Sink {
    probe: Probe,
    pacer: Option<Pacer>,
    /// What the sender says it has sent in all.
    expected: Option<u64>,
    last_byte: Instant,
    threshold: Threshold,
    /// The timer that is set for the next turn of a paced stream.
    armed: Option<Instant>,
}

enum Got {
    Some,
    Nothing,
    Gone,
}

impl Sink {
    pub fn new(socket: TcpStream, spec: Spec, shared: Arc<Stream>, guard: Guard) -> Sink {
        let now = Instant::now();
        Sink {
            probe: Probe::new(socket, spec, shared, guard),
            pacer: None,
            expected: None,
            last_byte: now,
            threshold: Threshold::new(now),
            armed: None,
        }
    }

    /// A paced stream takes what ten milliseconds bring, any other as much as a turn allows.
    fn turn_bytes(&self) -> usize {
        let Some(rate_bps) = self.probe.spec.rate_bps else { return MOST_AT_ONCE };
        usize::try_from(rate_bps / 800).unwrap_or(MOST_AT_ONCE).clamp(4096, MOST_AT_ONCE)
    }

    fn discard(&mut self, now: Instant) -> Got {
        match sys::discard(self.fd(), self.turn_bytes()) {
            Ok(0) => Got::Gone,
            Ok(bytes) => {
                self.probe.moved(bytes);
                self.last_byte = now;
                if let Some(pacer) = &mut self.pacer {
                    pacer.moved(bytes);
                }
                Got::Some
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Got::Nothing,
            Err(_) => Got::Gone,
        }
    }

    /// Takes what is in the socket's queue now.
    fn drain(&mut self, cx: &mut Cx<'_>) {
        while let Got::Some = self.discard(cx.now) {}
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.probe.report(cx);
        cx.wait_for(Interest::NOTHING);
    }

    fn has_all(&self) -> bool {
        self.expected.is_some_and(|expected| self.probe.bytes >= expected)
    }

    /// Lets the kernel wake this loop only for as much as comes in two milliseconds.
    fn adapt_threshold(&mut self, now: Instant) {
        let (buffer, _) = sys::buffer_limits(self.fd()).unwrap_or_default();
        if let Some(bytes) = self.threshold.adapt(now, self.probe.bytes, buffer) {
            // Without it the loop only wakes more often.
            let _ = sys::set_option(self.fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes);
        }
    }

    fn wait_for_data(&mut self, cx: &mut Cx<'_>) {
        match self.pacer.as_ref().map(Pacer::due).filter(|due| *due > cx.now) {
            Some(due) => {
                cx.wait_for(Interest::NOTHING);
                if self.armed.is_none_or(|at| at <= cx.now) {
                    self.armed = Some(due);
                    cx.wake_at(due);
                }
            }
            None => cx.wait_for(Interest::READ),
        }
    }
}

impl Handler for Sink {
    fn fd(&self) -> RawFd {
        self.probe.socket.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        self.probe.enter(cx);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        if self.probe.phase != Phase::Running {
            self.probe.report(cx);
            return Next::Close;
        }
        if let Got::Gone = self.discard(cx.now) {
            self.probe.report(cx);
            return Next::Close;
        }
        if self.has_all() {
            self.finish(cx);
        } else {
            self.wait_for_data(cx);
        }
        Next::Stay
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.probe.phase != Phase::Running {
            return Next::Stay;
        }
        self.wait_for_data(cx);
        if !self.probe.tick(cx) {
            return Next::Stay;
        }
        if self.pacer.is_none() {
            // Below the threshold nothing wakes the loop, and the counters would stand still.
            self.discard(cx.now);
            self.adapt_threshold(cx.now);
        }
        let overdue = self.expected.is_some() && cx.now > self.last_byte + TAIL;
        if overdue || self.has_all() {
            self.finish(cx);
        }
        Next::Stay
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        match note {
            Note::Start(began) if self.probe.phase == Phase::Waiting => {
                self.probe.start(cx, began);
                self.threshold.restart(cx.now, 0);
                self.last_byte = cx.now;
                self.pacer = self.probe.spec.rate_bps.map(|rate| Pacer::new(began, rate));
                cx.wait_for(Interest::READ);
            }
            Note::Stop => {
                if self.pacer.is_none() {
                    self.drain(cx);
                }
                self.finish(cx);
            }
            Note::StopAt(bytes) if self.probe.phase == Phase::Running => {
                self.expected = Some(bytes);
                self.drain(cx);
                if self.has_all() {
                    self.finish(cx);
                }
            }
            Note::Close => return Next::Close,
            _ => {}
        }
        Next::Stay
    }
}
