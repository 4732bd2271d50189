// SPDX-License-Identifier: Apache-2.0
//! One HTTP/2 connection. The h2 library keeps frames, streams and windows. This handler polls it
//! on every event until nothing moves or the turn is over, and moves the bodies of its exchanges.

use std::future::Future;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{self, Poll, Wake, Waker};
use std::time::Instant;

use bytes::Bytes;
use h2::server::{self, SendResponse};
use h2::Reason;
use speedtest_net::duplex::{duplex, Duplex, Link};
use speedtest_net::reactor::{Cx, Handler, Next, Note, PeerInstant, Ready};
use speedtest_net::turn::Work;
use speedtest_net::wire::{unless_blocked, Wire};
use speedtest_proto::http1::MAX_HEAD_BYTES;

use super::exchange::{Exchange, Step};
use super::flow::Delivery;
use super::Context;
use crate::clients::{self, Displaced};
use crate::counters::Counters;

/// Receive window of a stream. Bodies are dropped or counted as they arrive, so a large window
/// costs no memory. These windows let one stream carry 10 Gbit/s over 50 ms, and a connection four
/// of them.
const STREAM_WINDOW: u32 = 64 << 20;
const CONNECTION_WINDOW: u32 = 256 << 20;
const MOST_STREAMS: u32 = 128;
/// Bytes of one stream that wait in the library for the socket; they are part of the hot buffer.
const SEND_BUFFER: usize = 256 << 10;

/// Flag that is set when the library has more to do.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

enum Machine {
    Opening(server::Handshake<Duplex, Bytes>),
    Open(server::Connection<Duplex, Bytes>),
}

pub struct Connection {
    link: Link,
    machine: Box<Machine>,
    exchanges: Vec<Exchange>,
    delivery: Delivery,
    peer: SocketAddr,
    shared: Arc<Context>,
    woken: Arc<Woken>,
    waker: Waker,
    deadline: PeerInstant,
    armed: Option<Instant>,
    /// The server stops: no new requests.
    leaving: bool,
    /// The peer floods and has been notified.
    calmed: bool,
    /// Everything is sent; the peer may still be reading.
    lingering: bool,
    counted: clients::Connection,
}

/// The connection ends; the peer has been informed.
struct Over;

impl Connection {
    pub fn new(
        wire: Wire,
        peer: SocketAddr,
        counted: clients::Connection,
        shared: Arc<Context>,
    ) -> Connection {
        let (link, stream) = duplex(wire);
        let opening = server::Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_concurrent_streams(MOST_STREAMS)
            .max_header_list_size(MAX_HEAD_BYTES as u32)
            .max_send_buffer_size(SEND_BUFFER)
            .handshake(stream);
        let woken = Arc::<Woken>::default();
        Connection {
            link,
            machine: Box::new(Machine::Opening(opening)),
            exchanges: Vec::new(),
            delivery: Delivery::default(),
            peer,
            shared,
            waker: Waker::from(Arc::clone(&woken)),
            woken,
            deadline: PeerInstant::outside(),
            armed: None,
            leaving: false,
            calmed: false,
            lingering: false,
            counted,
        }
    }

    /// Restart the time limit for the peer's next request or byte of a body; other frames do not
    /// count.
    fn progress(&mut self, cx: &Cx<'_>) {
        let limits = &self.shared.limits;
        let silent = (!self.exchanges.is_empty()).then(|| limits.idle());
        self.deadline =
            cx.peer_now() + silent.map_or(limits.step(), |idle| idle.min(limits.step()));
    }

    /// Do all work that is possible now. The library reads and writes everything that moves, so the
    /// budget of its connection also ends this loop.
    fn turn(&mut self, cx: &mut Cx<'_>) -> Result<(), Over> {
        if self.reading_waits(cx) {
            self.link.pause_reading();
        } else {
            self.link.may_read();
        }
        loop {
            self.woken.0.store(false, Ordering::Relaxed);
            let mut progressed = self.accept(cx);
            progressed |= self.move_bodies(cx);
            if self.lingering {
                return self.linger(cx);
            }
            if progressed {
                self.progress(cx);
            }
            // The library's input is consumed, so it may read on.
            let read_on = !self.reading_waits(cx) && self.link.may_read();
            if !progressed && !read_on && !self.woken.0.load(Ordering::Relaxed) {
                break;
            }
        }
        self.link.flush().map_err(|_| Over)?;
        if self.exchanges.is_empty() {
            self.counted.idle(cx.address());
        }
        let reading = !self.reading_waits(cx);
        cx.wait_for(self.link.interest(reading));
        self.arm(cx);
        Ok(())
    }

    /// Let the library read and write, and take new requests. Return true if there were some.
    fn accept(&mut self, cx: &mut Cx<'_>) -> bool {
        let mut context = task::Context::from_waker(&self.waker);
        if let Machine::Opening(opening) = self.machine.as_mut() {
            match Pin::new(opening).poll(&mut context) {
                Poll::Pending => return false,
                Poll::Ready(Err(_)) => {
                    self.lingering = true;
                    return false;
                }
                Poll::Ready(Ok(open)) => *self.machine = Machine::Open(open),
            }
        }
        let Machine::Open(open) = self.machine.as_mut() else { return false };
        if self.link.is_flooded() && !self.calmed {
            self.calmed = true;
            Counters::add(&self.shared.counters.http2_floods, 1);
            open.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        }
        if self.shared.admission.is_closed() && !self.leaving {
            self.leaving = true;
            open.graceful_shutdown();
        }
        let mut new = Vec::new();
        let ended = loop {
            // The library keeps the other streams: at most as many as one connection may have.
            if self.link.with_turn(|turn| turn.may(Work::Requests, 1)) == 0 {
                break false;
            }
            match open.poll_accept(&mut context) {
                Poll::Ready(Some(Ok(request))) => {
                    self.link.with_turn(|turn| turn.spend(Work::Requests, 1));
                    new.push(request);
                }
                Poll::Ready(_) => break true,
                Poll::Pending => break false,
            }
        };
        let some = !new.is_empty();
        for (request, respond) in new {
            self.begin(cx, request, respond);
        }
        // The library has already queued the reason why it ends the connection.
        self.lingering |= ended;
        some
    }

    fn begin(
        &mut self,
        cx: &Cx<'_>,
        request: http::Request<h2::RecvStream>,
        respond: SendResponse<Bytes>,
    ) {
        self.counted.busy();
        let at = (cx, self.link.fd());
        let began = Exchange::begin(&self.shared, self.peer.ip(), request, respond, at);
        self.exchanges.extend(began);
    }

    /// Move the bodies of all exchanges. Return false if nothing moved and none ended.
    fn move_bodies(&mut self, cx: &mut Cx<'_>) -> bool {
        let mut context = task::Context::from_waker(&self.waker);
        let mut moved = false;
        let mut index = 0;
        while index < self.exchanges.len() {
            match self.exchanges[index].step(cx, &mut context) {
                Step::Moved => moved = true,
                Step::Waits => {}
                Step::Over => {
                    moved = true;
                    let ended = self.exchanges.swap_remove(index);
                    ended.finish(self.link.fd(), cx, &mut self.delivery);
                    continue;
                }
            }
            index += 1;
        }
        moved
    }

    /// Return whether an upload has reached its rate. Nothing is read until it may continue, so no
    /// data accumulates.
    fn reading_waits(&self, cx: &Cx<'_>) -> bool {
        self.exchanges.iter().any(|one| one.receives() && one.wait_until(cx.now).is_some())
    }

    /// Set one timer: for the deadline, or for an earlier event.
    fn arm(&mut self, cx: &mut Cx<'_>) {
        let fd = self.link.fd();
        let has_output = self.link.has_output();
        // Only a peer's close shows that a slow reader has its bytes.
        let look = self.delivery.settle(fd, has_output || self.leaving, cx.now);
        let over = cx.when(self.deadline);
        let mut at = look.map_or(over, |look| look.min(over));
        for exchange in &mut self.exchanges {
            at = exchange.sample(fd, cx.now).map_or(at, |due| due.min(at));
        }
        if self.armed.is_none_or(|armed| armed > at) {
            self.armed = Some(at);
            cx.wake_at(at);
        }
    }

    /// Wait for the peer to close first. If it sent to a closed socket, its kernel would discard
    /// what it has not read yet.
    fn linger(&mut self, cx: &mut Cx<'_>) -> Result<(), Over> {
        self.link.flush().map_err(|_| Over)?;
        if self.exchanges.is_empty() {
            self.counted.idle(cx.address());
        }
        while let Some(count) = unless_blocked(self.link.discard()).map_err(|_| Over)? {
            if count == 0 {
                return Err(Over);
            }
        }
        cx.wait_for(self.link.interest(true));
        self.arm(cx);
        Ok(())
    }

    fn attend(&mut self, cx: &mut Cx<'_>) -> Next {
        self.link.begin(std::mem::take(&mut cx.turn), cx.now);
        let done = if self.lingering { self.linger(cx) } else { self.turn(cx) };
        cx.turn = self.link.end();
        match done {
            Ok(()) => Next::Stay,
            Err(Over) => self.close(cx),
        }
    }

    fn close(&mut self, cx: &mut Cx<'_>) -> Next {
        for exchange in self.exchanges.drain(..) {
            exchange.finish(self.link.fd(), cx, &mut self.delivery);
        }
        self.link.close_notify();
        Next::Close
    }
}

impl Handler for Connection {
    fn fd(&self) -> RawFd {
        self.link.fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        // Frames leave in large pieces already; delaying them would only cost latency.
        let _ = self.link.with_wire(|wire| wire.socket().set_nodelay(true));
        self.counted.entered(cx.address());
        self.deadline = cx.peer_now() + self.shared.limits.pending();
        self.attend(cx)
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        if note.word() == Some(Displaced) && !self.counted.is_busy() {
            return self.close(cx);
        }
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if ready.error() {
            return self.close(cx);
        }
        self.attend(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.armed.is_some_and(|at| at > cx.now) {
            return Next::Stay;
        }
        self.armed = None;
        if self.exchanges.iter().any(|one| one.wait_until(cx.now).is_some()) {
            // This server itself delays them.
            self.progress(cx);
        }
        if cx.peer_now() >= self.deadline {
            return self.close(cx);
        }
        self.attend(cx)
    }
}
