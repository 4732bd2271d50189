// SPDX-License-Identifier: Apache-2.0
//! Receiver of a TCP stream: drops data inside the kernel, never copies it.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::pacer::Pacer;
use super::probe::{Phase, Probe};
use super::threshold::Threshold;
use super::{Guard, Order, Spec, Stream};
use crate::reactor::{Cx, Handler, Interest, Next, Note, Ready};
use crate::sys;
use crate::turn::Turn;
use crate::wire;

/// Time to wait after the last byte of a sender that is known to have sent more.
const TAIL: Duration = Duration::from_secs(1);

/// Receives and counts.
pub struct Sink {
    probe: Probe,
    pacer: Option<Pacer>,
    /// Bytes that the sender reports to have sent in all.
    expected: Option<u64>,
    /// Bytes in the receive queue at the end of the test that are not counted yet.
    queued: Option<u64>,
    last_byte: Instant,
    threshold: Threshold,
    /// Timer that is set for the next turn of a paced stream.
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
            queued: None,
            last_byte: now,
            threshold: Threshold::new(now),
            armed: None,
        }
    }

    /// Return the bytes to take at once: 10 ms' worth for a paced stream, else a turn's budget.
    fn most_at_once(&self) -> u64 {
        self.probe.spec.rate_bps.map_or(u64::MAX, |rate_bps| (rate_bps / 800).max(4096))
    }

    fn discard(&mut self, most: u64, turn: &mut Turn) -> Got {
        match wire::discard(&self.probe.socket, most, turn) {
            Ok(0) => Got::Gone,
            Ok(bytes) => {
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                self.probe.moved(bytes);
                self.last_byte = Instant::now();
                if let Some(pacer) = &mut self.pacer {
                    pacer.moved(bytes);
                }
                Got::Some
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Got::Nothing,
            Err(_) => Got::Gone,
        }
    }

    /// End the test: bytes in the receive queue now belong to it, later ones do not.
    fn stop(&mut self, cx: &mut Cx<'_>) {
        let counts = self.probe.phase == Phase::Running && self.pacer.is_none();
        self.queued = Some(if counts { sys::unread(self.fd()) } else { 0 });
        self.drain(cx);
    }

    /// Drain the bytes queued at the end, over several turns if necessary, then report.
    fn drain(&mut self, cx: &mut Cx<'_>) {
        while let Some(left) = self.queued.filter(|left| *left > 0) {
            let before = self.probe.bytes;
            let got = self.discard(left, &mut cx.turn);
            if cx.turn.ran_out() {
                return;
            }
            self.queued = match got {
                Got::Some => Some(left - (self.probe.bytes - before)),
                _ => Some(0),
            };
        }
        self.finish(cx);
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.probe.report(cx);
        cx.wait_for(Interest::NOTHING);
    }

    fn has_all(&self) -> bool {
        self.expected.is_some_and(|expected| self.probe.bytes >= expected)
    }

    /// Set SO_RCVLOWAT to what arrives in 2 ms.
    fn adapt_threshold(&mut self, now: Instant) {
        let (buffer, _) = sys::buffer_limits(self.fd()).unwrap_or_default();
        if let Some(bytes) = self.threshold.adapt(now, self.probe.bytes, buffer) {
            // Without the threshold the loop only wakes more often.
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
        if self.queued.is_some() {
            self.drain(cx);
            return Next::Stay;
        }
        if let Got::Gone = self.discard(self.most_at_once(), &mut cx.turn) {
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

    fn again(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.probe.phase != Phase::Running {
            return Next::Stay;
        }
        if self.queued.is_some() {
            self.drain(cx);
            return Next::Stay;
        }
        // The sender has announced its total: take what is here without waiting.
        while !self.has_all() {
            if !matches!(self.discard(u64::MAX, &mut cx.turn), Got::Some) {
                break;
            }
        }
        if self.has_all() {
            self.finish(cx);
        }
        Next::Stay
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.probe.phase != Phase::Running || self.queued.is_some() {
            return Next::Stay;
        }
        self.wait_for_data(cx);
        if !self.probe.tick(cx) {
            return Next::Stay;
        }
        if self.pacer.is_none() {
            // Below the threshold nothing wakes the loop, and the counters would not advance.
            self.discard(u64::MAX, &mut cx.turn);
            self.adapt_threshold(cx.now);
        }
        let overdue = self.expected.is_some() && cx.now > self.last_byte + TAIL;
        if overdue || self.has_all() {
            self.finish(cx);
        }
        Next::Stay
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        let Some(order) = note.word() else { return Next::Stay };
        match order {
            Order::Start(began) if self.probe.phase == Phase::Waiting => {
                self.probe.start(cx, began);
                self.threshold.restart(cx.now, 0);
                self.last_byte = cx.now;
                self.pacer = self.probe.spec.rate_bps.map(|rate| Pacer::new(began, rate));
                cx.wait_for(Interest::READ);
            }
            Order::Stop => self.stop(cx),
            Order::StopAt(bytes) if self.probe.phase == Phase::Running => {
                self.expected = Some(bytes);
                return self.again(cx);
            }
            Order::Close => return Next::Close,
            _ => {}
        }
        Next::Stay
    }
}
