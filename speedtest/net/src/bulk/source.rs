// SPDX-License-Identifier: Apache-2.0
//! Sender of a TCP stream: sends the same warm pages again and again.

use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Instant;

use super::hot::HOT;
use super::pacer::Pacer;
use super::probe::{Phase, Probe};
use super::{Guard, Order, Spec, Stream};
use crate::reactor::{Cx, Handler, Interest, Next, Note, Ready};
use crate::sys;
use crate::turn::{Turn, Work};

/// Least bytes for zero copy: below it, a copy costs less than the bookkeeping.
const ZERO_COPY_LEAST: usize = 16 << 10;

/// Sends and counts.
pub struct Source {
    probe: Probe,
    pacer: Option<Pacer>,
    /// Unsent bytes of the current block.
    left: usize,
    /// Timer that is set for the next block.
    armed: Option<Instant>,
}

enum Sent {
    All,
    /// The socket takes no more for now.
    Full,
    /// Nothing may be sent before this moment.
    NotBefore(Instant),
    /// The test's budget is spent.
    Spent,
    Gone,
}

impl Source {
    pub fn new(socket: TcpStream, spec: Spec, shared: Arc<Stream>, guard: Guard) -> Source {
        Source { probe: Probe::new(socket, spec, shared, guard), pacer: None, left: 0, armed: None }
    }

    /// Send until the turn's budget is spent or sending is blocked.
    fn send_blocks(&mut self, now: Instant, turn: &mut Turn) -> Sent {
        let mut burst = 0;
        // A socket that takes more wakes the loop again.
        while turn.left(Work::Copied) > 0 && turn.left(Work::Sends) > 0 {
            if self.left == 0 {
                let due = self.pacer.as_ref().map_or(now, Pacer::due);
                if burst == 0 && due > now {
                    return Sent::NotBefore(due);
                }
                if burst == 0 {
                    burst = self.probe.spec.burst_blocks.max(1);
                }
                burst -= 1;
                self.left = self.next_block();
                if self.left == 0 {
                    return Sent::Spent;
                }
            }
            let sent = match self.send(self.left, turn) {
                Ok(sent) => sent,
                Err(stop) => return stop,
            };
            turn.spend(Work::Copied, sent as u64);
            turn.spend(Work::Sends, 1);
            self.left -= sent;
            self.probe.moved(sent);
            if let Some(pacer) = &mut self.pacer {
                pacer.moved(sent);
            }
            if self.left > 0 {
                return Sent::Full;
            }
        }
        Sent::All
    }

    /// Return the length of the next block. A block belongs to one stream: receivers that count
    /// blocks count whole ones.
    fn next_block(&self) -> usize {
        let block = self.probe.spec.block_bytes;
        self.probe.spec.budget.as_ref().map_or(block, |budget| budget.take(block))
    }

    fn send(&self, most: usize, turn: &mut Turn) -> Result<usize, Sent> {
        let zero_copy = self.probe.spec.zero_copy && most >= ZERO_COPY_LEAST;
        let sent = match sys::send(&self.probe.socket, &HOT[..most], zero_copy) {
            // ENOBUFS: too many zero-copy notices are pending; continue with a plain copy.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                self.reap(turn);
                sys::send(&self.probe.socket, &HOT[..most], false)
            }
            other => other,
        };
        sent.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => Sent::Full,
            _ => Sent::Gone,
        })
    }

    /// Take zero-copy notices; epoll reports the remaining ones as a socket error again.
    fn reap(&self, turn: &mut Turn) {
        while turn.left(Work::Notices) > 0 && sys::reap_zero_copy(&self.probe.socket) {
            turn.spend(Work::Notices, 1);
        }
    }

    fn go_on(&mut self, cx: &mut Cx<'_>) -> Next {
        match self.send_blocks(cx.now, &mut cx.turn) {
            Sent::All | Sent::Full => cx.wait_for(Interest::WRITE),
            Sent::Spent => cx.wait_for(Interest::NOTHING),
            Sent::NotBefore(due) => {
                cx.wait_for(Interest::NOTHING);
                if self.armed.is_none_or(|at| at <= cx.now) {
                    self.armed = Some(due);
                    cx.wake_at(due);
                }
            }
            Sent::Gone => {
                self.probe.report(cx);
                return Next::Close;
            }
        }
        Next::Stay
    }
}

impl Handler for Source {
    fn fd(&self) -> RawFd {
        self.probe.socket.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        self.probe.enter(cx);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if ready.error() && self.probe.spec.zero_copy && !ready.hung_up() {
            self.reap(&mut cx.turn);
            if !ready.writable() {
                return Next::Stay;
            }
        } else if ready.hung_up() || ready.error() || self.probe.phase != Phase::Running {
            self.probe.report(cx);
            return Next::Close;
        }
        if self.probe.phase == Phase::Running {
            return self.go_on(cx);
        }
        Next::Stay
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.probe.phase != Phase::Running {
            return Next::Stay;
        }
        self.probe.tick(cx);
        self.go_on(cx)
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        let Some(order) = note.word() else { return Next::Stay };
        match order {
            Order::Start(began) if self.probe.phase == Phase::Waiting => {
                self.probe.start(cx, began);
                self.pacer = self.probe.spec.rate_bps.map(|rate| Pacer::new(began, rate));
                return self.go_on(cx);
            }
            Order::Stop | Order::StopAt(_) => {
                self.probe.report(cx);
                if self.probe.spec.close_at_end {
                    // A peer that has gone needs no shutdown.
                    let _ = self.probe.socket.shutdown(Shutdown::Write);
                }
                cx.wait_for(Interest::NOTHING);
            }
            Order::Close => return Next::Close,
            _ => {}
        }
        Next::Stay
    }
}
