// SPDX-License-Identifier: Apache-2.0
//! One HTTP/1.1 connection: heads through the parser, bodies past it.

mod bodies;

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::bulk::Threshold;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Ready};
use speedtest_net::wire::{unless_blocked, Wire};
use speedtest_proto::http1::{Answer, Heads, HttpError, Method, Request};
use speedtest_proto::ndt7::Subtest;

use super::flow::{Delivery, Flow};
use super::routes::{self, Route, Service, MAX_RESULT_BYTES};
use super::sessions::RETRY_AFTER_S;
use crate::clients::{self, ClientKey};
use crate::ndt7::{Visitor, Waiting};
use crate::shared::Shared;

const READ_BYTES: usize = 4096;
/// What the kernel keeps to itself, because it is less than the threshold, is looked for this often.
const LOOK: Duration = Duration::from_millis(100);
/// Of a refused body so much is dropped, so that its sender comes to read the answer.
const REFUSED_BYTES: u64 = 32 << 20;

enum Body {
    None,
    /// Answer bytes still to be sent after the output.
    Sending(u64),
    /// Request bytes still to come, which are dropped; the answer follows.
    Dropping(u64),
    /// The same, after the answer.
    Refused(u64),
    /// Request bytes still to come, which are a result.
    Keeping(u64, Vec<u8>),
}

pub struct Connection {
    wire: Wire,
    peer: SocketAddr,
    shared: Arc<Shared>,
    service: Service,
    heads: Heads,
    output: Vec<u8>,
    body: Body,
    keep_alive: bool,
    allow_origin: Option<String>,
    flow: Option<Flow>,
    delivery: Delivery,
    client: IpAddr,
    /// An ndt7 test that was asked for, and goes on without this connection.
    leaving: Option<(Subtest, Request)>,
    deadline: Instant,
    /// Bytes of bodies that were dropped, and how fast they come.
    dropped: u64,
    rate: Threshold,
    /// The kernel wakes the loop for so many bytes.
    threshold: i32,
    armed: Option<Instant>,
    _counted: clients::Connection,
}

impl Connection {
    pub fn new(
        wire: Wire,
        peer: SocketAddr,
        counted: clients::Connection,
        shared: Arc<Shared>,
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
            deadline: now,
            dropped: 0,
            rate: Threshold::new(now),
            threshold: 1,
            armed: None,
            _counted: counted,
        }
    }

    /// A peer gets this long for its next byte.
    fn progress(&mut self, cx: &Cx<'_>) {
        self.deadline = cx.now + self.shared.config.limits.step();
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
                self.wire.say_goodbye();
                return Ok(Next::Close);
            }
            if self.leaving.is_some() {
                return Ok(Next::Succeed);
            }
            if self.output.is_empty() && matches!(self.body, Body::None) && !self.read_head(cx)? {
                cx.wait_for(self.wire.interest(Interest::READ));
                return Ok(Next::Stay);
            }
        }
    }

    /// False when the socket takes no more for now.
    fn write_output(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        while !self.output.is_empty() {
            match unless_blocked(self.wire.send(&self.output))? {
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

    /// False when the body has to wait for its socket or for its rate.
    fn move_body(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        if self.flow.as_ref().is_some_and(|flow| flow.wait_until(cx.now).is_some()) {
            cx.wait_for(self.wire.interest(Interest::NOTHING));
            self.arm(cx);
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

    /// False when there is no whole head yet.
    fn read_head(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        loop {
            match self.heads.next_request() {
                Ok(Some(request)) => {
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
            match unless_blocked(self.wire.receive(&mut buffer[..most]))? {
                Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
                // A head may trickle, but not for longer than one step in all.
                Some(count) => self.heads.receive(&buffer[..count]),
                None => return Ok(false),
            }
        }
    }

    fn refuse(&mut self, error: HttpError) {
        self.keep_alive = false;
        self.answer(error.status(), "text/plain", 0);
    }

    fn begin(&mut self, cx: &mut Cx<'_>, request: &Request) {
        self.progress(cx);
        self.client = self.shared.client_of(&request.fields, self.peer.ip());
        // A server that stops lets a test of many bodies go on.
        let stays = !self.shared.draining()
            || self.shared.sessions.runs(ClientKey::of(self.client), cx.now);
        self.keep_alive = request.keep_alive && stays;
        self.allow_origin = routes::allow_origin(&self.shared, request);
        let scheme = if self.wire.is_tls() { "https" } else { "http" };
        match routes::route(&self.shared, self.service, request, self.client, scheme) {
            Route::Text { status, content_type, body } => {
                // A body that nobody asked for is not read; the connection ends after the answer.
                self.keep_alive &= request.body_bytes == 0;
                self.answer(status, content_type, body.len() as u64);
                if request.method != Method::Head {
                    self.output.extend_from_slice(body.as_bytes());
                }
            }
            Route::Garbage(bytes) => {
                self.keep_alive &= request.body_bytes == 0;
                if self.let_in(cx, request, Some(bytes)) {
                    self.answer("200 OK", "application/octet-stream", bytes);
                    if request.method == Method::Head {
                        self.flow = None;
                    } else {
                        self.body = Body::Sending(bytes);
                    }
                }
            }
            Route::Discard => {
                if self.let_in(cx, request, None) {
                    self.go_on_with_body(request);
                    self.body = Body::Dropping(request.body_bytes);
                }
            }
            Route::Ndt7(subtest) => self.leaving = Some((subtest, request.clone())),
            Route::Result if request.body_bytes > MAX_RESULT_BYTES => {
                self.keep_alive = false;
                self.answer("413 Content Too Large", "text/plain", 0);
            }
            Route::Result => {
                self.go_on_with_body(request);
                self.body = Body::Keeping(request.body_bytes, Vec::new());
            }
        }
    }

    fn go_on_with_body(&mut self, request: &Request) {
        if request.expects_continue && request.body_bytes > 0 {
            self.output.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }

    /// May this client's body move now, be it the answer's or its own? If not, it is told so.
    fn let_in(&mut self, cx: &mut Cx<'_>, request: &Request, sent: Option<u64>) -> bool {
        let (bytes, fd) = (sent.unwrap_or(request.body_bytes), self.fd());
        let at = (&*cx, fd);
        let flow = Flow::begin(&self.shared, self.client, request, sent.is_some(), Some(bytes), at);
        match flow {
            Ok(flow) => {
                self.flow = Some(flow);
                self.arm(cx);
                true
            }
            Err(refusal) => {
                let coming = if request.expects_continue { 0 } else { request.body_bytes };
                // A client that waits for 100 sends no body after this, or a new connection.
                self.keep_alive &= coming <= REFUSED_BYTES && !request.expects_continue;
                let answer =
                    Answer { retry_after_s: Some(RETRY_AFTER_S), ..Answer::new(refusal.status()) };
                self.write_head(answer);
                self.body = Body::Refused(coming.min(REFUSED_BYTES));
                false
            }
        }
    }

    fn answer(&mut self, status: &str, content_type: &str, body_bytes: u64) {
        self.write_head(Answer { content_type, body_bytes, ..Answer::new(status) });
    }

    fn write_head(&mut self, answer: Answer<'_>) {
        let allow_origin = self.allow_origin.as_deref();
        let whole = Answer { keep_alive: self.keep_alive, allow_origin, ..answer };
        self.output.extend_from_slice(whole.head().as_bytes());
    }

    /// Counts what has moved; an error when the client may not move more.
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

    /// One timer at a time: the deadline, or what comes before it.
    fn arm(&mut self, cx: &mut Cx<'_>) {
        let fd = self.fd();
        let look = self.delivery.settle(fd, self.wire.has_output(), cx.now);
        let mut at = look.map_or(self.deadline, |look| look.min(self.deadline));
        if self.threshold > 1 {
            at = at.min(cx.now + LOOK);
        }
        if let Some(flow) = &mut self.flow {
            for due in [flow.wait_until(cx.now), flow.sample(fd, cx.now)] {
                at = due.map_or(at, |due| due.min(at));
            }
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
        // Answers are written whole; waiting for more would only cost latency.
        let _ = self.wire.socket().set_nodelay(true);
        self.progress(cx);
        self.arm(cx);
        // The first request may have come together with the end of a TLS handshake.
        self.attend(cx)
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        // A page ends its downloads by leaving: that is when its transfer is complete.
        let gone = ready.error() || (ready.hung_up() && matches!(self.body, Body::Sending(_)));
        if gone {
            self.finish_flow(cx);
            return Next::Close;
        }
        self.attend(cx)
    }

    fn succeed(self: Box<Self>) -> Option<Box<dyn Handler>> {
        let Connection {
            wire, peer, client, shared, mut heads, leaving, _counted: counted, ..
        } = *self;
        let (subtest, request) = leaving?;
        let peer = SocketAddr::new(client, peer.port());
        let (id, early) = (routes::test_id(&request), heads.take_body(u64::MAX));
        let visitor = Visitor { wire, peer, shared, counted, subtest, request, id, early };
        Some(Box::new(Waiting::new(visitor)))
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.armed.is_some_and(|at| at > cx.now) {
            return Next::Stay;
        }
        self.armed = None;
        let waits = self.flow.as_ref().and_then(|flow| flow.wait_until(cx.now)).is_some();
        if waits {
            // It is this server that holds the body up.
            self.progress(cx);
        }
        if cx.now >= self.deadline {
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
