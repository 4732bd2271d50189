// SPDX-License-Identifier: Apache-2.0
//! One HTTP/1.1 connection: heads go through the parser, bodies past it.

mod bodies;
mod requests;

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::bulk::Threshold;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, PeerInstant, Ready};
use speedtest_net::turn::Work;
use speedtest_net::wire::{unless_blocked, Wire};
use speedtest_proto::http1::{Heads, Request};
use speedtest_proto::ndt7::Subtest;

use super::flow::{Delivery, Flow};
use super::routes::{self, Service};
use super::Context;
use crate::clients::{self, Displaced};
use crate::ndt7::{PendingConnection, Waiting};

const READ_BYTES: usize = 4096;
/// Interval to poll for data below the threshold, for which the kernel does not wake the loop.
const LOOK: Duration = Duration::from_millis(100);

enum Body {
    None,
    /// Answer bytes still to send after the output.
    Sending(u64),
    /// Request bytes still to drop; the answer follows.
    Dropping(u64),
    /// Request bytes still to drop, after the answer.
    Refused(u64),
    /// Request bytes still to come, which are a result to keep.
    Keeping(u64, Vec<u8>),
}

pub struct Connection {
    wire: Wire,
    peer: SocketAddr,
    shared: Arc<Context>,
    service: Service,
    heads: Heads,
    output: Vec<u8>,
    body: Body,
    keep_alive: bool,
    allow_origin: Option<String>,
    flow: Option<Flow>,
    delivery: Delivery,
    client: IpAddr,
    /// Requested ndt7 test, which takes this connection over.
    leaving: Option<(Subtest, Request)>,
    deadline: PeerInstant,
    /// Dropped bytes of bodies, and their rate.
    dropped: u64,
    rate: Threshold,
    /// Threshold for which the kernel wakes the loop, in bytes.
    threshold: i32,
    armed: Option<Instant>,
    counted: clients::Connection,
}

impl Connection {
    pub fn new(
        wire: Wire,
        peer: SocketAddr,
        counted: clients::Connection,
        shared: Arc<Context>,
        service: Service,
    ) -> Connection {
        let now = Instant::now();
        Connection {
            wire,
            peer,
            shared,
            service,
            heads: Heads::default(),
            output: Vec::new(),
            body: Body::None,
            keep_alive: true,
            allow_origin: None,
            flow: None,
            delivery: Delivery::default(),
            client: peer.ip(),
            leaving: None,
            deadline: PeerInstant::outside(),
            dropped: 0,
            rate: Threshold::new(now),
            threshold: 1,
            armed: None,
            counted,
        }
    }

    /// Restart the time limit for the peer's next byte.
    fn progress(&mut self, cx: &Cx<'_>) {
        let limits = &self.shared.limits;
        let silent = self.flow.is_some().then(|| limits.idle());
        self.deadline =
            cx.peer_now() + silent.map_or(limits.step(), |idle| idle.min(limits.step()));
    }

    fn attend(&mut self, cx: &mut Cx<'_>) -> Next {
        match self.go_on(cx) {
            Ok(next) => next,
            Err(_left) => {
                self.finish_flow(cx);
                Next::Close
            }
        }
    }

    fn go_on(&mut self, cx: &mut Cx<'_>) -> io::Result<Next> {
        self.wire.flush()?;
        loop {
            if !self.write_output(cx)? || !self.move_body(cx)? {
                return Ok(Next::Stay);
            }
            if !self.keep_alive && self.output.is_empty() && matches!(self.body, Body::None) {
                if !self.wire.flush()? {
                    cx.wait_for(Interest::WRITE);
                    return Ok(Next::Stay);
                }
                self.wire.close_notify();
                return Ok(Next::Close);
            }
            if self.leaving.is_some() {
                return Ok(Next::Succeed);
            }
            if self.output.is_empty() && matches!(self.body, Body::None) && !self.read_head(cx)? {
                self.counted.idle(cx.address());
                cx.wait_for(self.wire.interest(Interest::READ));
                return Ok(Next::Stay);
            }
        }
    }

    /// Send output. Return false when the socket takes no more for now.
    fn write_output(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        while !self.output.is_empty() {
            match unless_blocked(self.wire.send(&self.output, &mut cx.turn))? {
                Some(count) => {
                    self.output.drain(..count);
                    self.progress(cx);
                }
                None => {
                    cx.wait_for(Interest::WRITE);
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Return whether the client's rate keeps the body back.
    fn is_held(&self, now: Instant) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.wait_until(now).is_some())
    }

    /// Wait for the client's rate.
    fn hold(&mut self, cx: &mut Cx<'_>) {
        cx.wait_for(self.wire.interest(Interest::NOTHING));
        self.arm(cx);
    }

    /// Move the body. Return false when it must wait for its socket or its rate.
    fn move_body(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        if self.is_held(cx.now) {
            self.hold(cx);
            return Ok(false);
        }
        match std::mem::replace(&mut self.body, Body::None) {
            Body::None => Ok(true),
            Body::Sending(left) => self.send_body(cx, left),
            Body::Dropping(left) => self.drop_body(cx, left),
            Body::Refused(left) => self.drop_refused(cx, left),
            Body::Keeping(left, kept) => self.keep_body(cx, left, kept),
        }
    }

    /// Read a head. Return false when none is complete, or this turn answers no more.
    fn read_head(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        loop {
            if cx.turn.may(Work::Requests, 1) == 0 {
                return Ok(false);
            }
            match self.heads.next_request() {
                Ok(Some(request)) => {
                    cx.turn.spend(Work::Requests, 1);
                    self.begin(cx, &request);
                    return Ok(true);
                }
                Ok(None) => {}
                Err(error) => {
                    self.refuse(error);
                    return Ok(true);
                }
            }
            let mut buffer = [0; READ_BYTES];
            let most = self.heads.wants().min(READ_BYTES);
            match unless_blocked(self.wire.receive(&mut buffer[..most], &mut cx.turn))? {
                Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
                // A head may come in pieces, but within the time limit of one step.
                Some(count) => self.heads.receive(&buffer[..count]),
                None => return Ok(false),
            }
        }
    }

    /// Count moved bytes; an error means that the client may not move more.
    fn moved(&mut self, cx: &Cx<'_>, bytes: u64) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let Some(flow) = &mut self.flow else { return Ok(()) };
        let may_go_on = flow.moved(bytes, cx.now);
        self.progress(cx);
        if may_go_on {
            Ok(())
        } else {
            Err(ErrorKind::QuotaExceeded.into())
        }
    }

    /// Set one timer: for the deadline, or for an earlier event.
    fn arm(&mut self, cx: &mut Cx<'_>) {
        let fd = self.fd();
        let look = self.delivery.settle(fd, self.wire.has_output(), cx.now);
        let over = cx.when(self.deadline);
        let mut at = look.map_or(over, |look| look.min(over));
        if self.threshold > 1 {
            at = at.min(cx.now + LOOK);
        }
        if let Some(flow) = &mut self.flow {
            at = flow.sample(fd, cx.now).map_or(at, |due| due.min(at));
        }
        if self.armed.is_none_or(|armed| armed > at) {
            self.armed = Some(at);
            cx.wake_at(at);
        }
    }

    fn finish_flow(&mut self, cx: &mut Cx<'_>) {
        if let Some(flow) = self.flow.take() {
            flow.finish(self.wire.as_raw_fd(), cx, &mut self.delivery);
            self.arm(cx);
        }
    }
}

impl Handler for Connection {
    fn fd(&self) -> RawFd {
        self.wire.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        // Answers are written whole; delaying them would only cost latency.
        let _ = self.wire.socket().set_nodelay(true);
        self.counted.entered(cx.address());
        self.deadline = cx.peer_now() + self.shared.limits.pending();
        self.arm(cx);
        // The first request may have come with the end of a TLS handshake.
        self.attend(cx)
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        // A page ends its downloads by closing: its transfer is then complete.
        let gone = ready.error() || (ready.hung_up() && matches!(self.body, Body::Sending(_)));
        if gone {
            self.finish_flow(cx);
            return Next::Close;
        }
        self.attend(cx)
    }

    fn succeed(self: Box<Self>) -> Option<Box<dyn Handler>> {
        let Connection { wire, peer, client, shared, mut heads, leaving, counted, .. } = *self;
        let (subtest, request) = leaving?;
        let key = shared.clients.key(client);
        let peer = SocketAddr::new(client, peer.port());
        let (id, early) = (routes::test_id(&request), heads.take_body(u64::MAX));
        let pending = PendingConnection {
            wire,
            peer,
            shared: Arc::clone(&shared.ndt7),
            counted,
            client: key,
            subtest,
            request,
            id,
            early,
        };
        Some(Box::new(Waiting::new(pending)))
    }

    fn note(&mut self, _cx: &mut Cx<'_>, note: Note) -> Next {
        if note.word() == Some(Displaced) && !self.counted.is_busy() {
            return Next::Close;
        }
        Next::Stay
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.armed.is_some_and(|at| at > cx.now) {
            return Next::Stay;
        }
        self.armed = None;
        let waits = self.is_held(cx.now);
        if waits {
            // This server itself delays the body.
            self.progress(cx);
        }
        if cx.peer_now() >= self.deadline {
            self.finish_flow(cx);
            return Next::Close;
        }
        self.arm(cx);
        if (self.flow.is_some() || self.threshold > 1) && !waits {
            return self.attend(cx);
        }
        Next::Stay
    }
}
