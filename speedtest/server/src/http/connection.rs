// SPDX-License-Identifier: Apache-2.0
//! One HTTP/1.1 connection: heads through the parser, bodies past it.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::bulk::HOT;
use speedtest_net::load::ThreadTime;
use speedtest_net::look::look;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Ready};
use speedtest_net::wire::{unless_blocked, Wire};
use speedtest_proto::http1::{Answer, Heads, HttpError, Method, Request};
use speedtest_proto::ndt7::Subtest;
use speedtest_proto::series::Series;

use super::routes::{self, Route, Service, MAX_RESULT_BYTES};
use super::transfers::Transfer;
use crate::clients;
use crate::ndt7::{Visitor, Waiting};
use crate::shared::{Counters, Shared};

const READ_BYTES: usize = 4096;
/// One turn moves at most this much, so that the other sockets of the loop get theirs.
const MOST_AT_ONCE: u64 = 4 << 20;
/// Uploads longer than this are taken in steps of at least `THRESHOLD`.
const LONG_BYTES: u64 = 4 << 20;
const THRESHOLD: u64 = 256 << 10;
const SAMPLE_EVERY: Duration = Duration::from_millis(200);

enum Body {
    None,
    /// Answer bytes still to be sent after the output.
    Sending(u64),
    /// Request bytes still to come, which are dropped.
    Dropping(u64),
    /// Request bytes still to come, which are a result.
    Keeping(u64, Vec<u8>),
}

/// TCP_INFO of the transfer that runs.
struct Watch {
    id: String,
    sent: bool,
    started: Instant,
    bytes: u64,
    series: Series,
    load_from: ThreadTime,
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
    allow_origin: bool,
    watch: Option<Watch>,
    /// An ndt7 test that was asked for, and goes on without this connection.
    leaving: Option<(Subtest, Request)>,
    deadline: Instant,
    threshold: u64,
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
        Connection {
            wire,
            peer,
            shared,
            service,
            heads: Heads::default(),
            output: Vec::new(),
            body: Body::None,
            keep_alive: true,
            allow_origin: false,
            watch: None,
            leaving: None,
            deadline: Instant::now(),
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
                self.finish_watch(cx);
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

    /// False when the body has to wait for its socket.
    fn move_body(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        match std::mem::replace(&mut self.body, Body::None) {
            Body::None => Ok(true),
            Body::Sending(left) => self.send_body(cx, left),
            Body::Dropping(left) => self.drop_body(cx, left),
            Body::Keeping(left, kept) => self.keep_body(cx, left, kept),
        }
    }

    fn send_body(&mut self, cx: &mut Cx<'_>, mut left: u64) -> io::Result<bool> {
        let turn_ends_at = left.saturating_sub(MOST_AT_ONCE);
        while left > turn_ends_at {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(128 << 10);
            let Some(count) = unless_blocked(self.wire.send(&HOT[..most]))? else {
                break;
            };
            left -= count as u64;
            self.moved(cx, count as u64, true);
        }
        if left == 0 {
            self.finish_watch(cx);
            return Ok(true);
        }
        self.body = Body::Sending(left);
        cx.wait_for(Interest::WRITE);
        Ok(false)
    }

    fn drop_body(&mut self, cx: &mut Cx<'_>, mut left: u64) -> io::Result<bool> {
        let early = self.heads.take_body(left).len() as u64;
        left -= early;
        self.moved(cx, early, false);
        if left > 0 {
            if let Some(count) = unless_blocked(self.wire.discard(left))? {
                if count == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                left -= count;
                self.moved(cx, count, false);
            }
        }
        self.set_threshold(if left > LONG_BYTES { THRESHOLD } else { 1 })?;
        if left == 0 {
            self.finish_watch(cx);
            self.answer("200 OK", "text/plain", 0);
            return Ok(true);
        }
        self.body = Body::Dropping(left);
        cx.wait_for(self.wire.interest(Interest::READ));
        Ok(false)
    }

    fn keep_body(&mut self, cx: &mut Cx<'_>, mut left: u64, mut kept: Vec<u8>) -> io::Result<bool> {
        let early = self.heads.take_body(left);
        left -= early.len() as u64;
        kept.extend(early);
        let mut buffer = [0; READ_BYTES];
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(READ_BYTES);
            match unless_blocked(self.wire.receive(&mut buffer[..most]))? {
                Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Some(count) => {
                    left -= count as u64;
                    kept.extend_from_slice(&buffer[..count]);
                    self.progress(cx);
                }
                None => {
                    self.body = Body::Keeping(left, kept);
                    cx.wait_for(self.wire.interest(Interest::READ));
                    return Ok(false);
                }
            }
        }
        let id = self.shared.keep_page_result(self.peer, &kept);
        let text = format!("id {id}");
        self.answer("200 OK", "text/plain", text.len() as u64);
        self.output.extend_from_slice(text.as_bytes());
        Ok(true)
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
        self.keep_alive = request.keep_alive && !self.shared.draining();
        self.allow_origin = request.query("cors").is_some() || request.method == Method::Options;
        let route = routes::route(&self.shared, self.service, request, self.peer.ip());
        if request.expects_continue && request.body_bytes > 0 {
            self.output.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        match route {
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
                self.answer("200 OK", "application/octet-stream", bytes);
                if request.method != Method::Head {
                    self.body = Body::Sending(bytes);
                    self.watch(cx, request, true);
                }
            }
            Route::Discard => {
                self.body = Body::Dropping(request.body_bytes);
                if request.body_bytes > 0 {
                    self.watch(cx, request, false);
                }
            }
            Route::Ndt7(subtest) => self.leaving = Some((subtest, request.clone())),
            Route::Result if request.body_bytes > MAX_RESULT_BYTES => {
                self.keep_alive = false;
                self.answer("413 Content Too Large", "text/plain", 0);
            }
            Route::Result => self.body = Body::Keeping(request.body_bytes, Vec::new()),
        }
    }

    fn answer(&mut self, status: &str, content_type: &str, body_bytes: u64) {
        let answer = Answer {
            status,
            content_type,
            body_bytes,
            keep_alive: self.keep_alive,
            allow_origin: self.allow_origin.then_some("*"),
        };
        self.output.extend_from_slice(answer.head().as_bytes());
    }

    fn set_threshold(&mut self, bytes: u64) -> io::Result<()> {
        if self.threshold != bytes {
            self.wire.set_threshold(bytes as i32)?;
            self.threshold = bytes;
        }
        Ok(())
    }

    fn watch(&mut self, cx: &mut Cx<'_>, request: &Request, sent: bool) {
        let Some(id) = routes::test_id(request) else { return };
        let mut series = Series::default();
        if let Some(sample) = look(self.fd(), Duration::ZERO, 0) {
            series.push(sample);
        }
        let load_from = cx.meter.read();
        self.watch = Some(Watch { id, sent, started: cx.now, bytes: 0, series, load_from });
        self.arm(cx);
    }

    fn moved(&mut self, cx: &Cx<'_>, bytes: u64, sent: bool) {
        if bytes == 0 {
            return;
        }
        self.progress(cx);
        if let Some(watch) = &mut self.watch {
            watch.bytes += bytes;
        }
        let counters = &self.shared.counters;
        let counter = if sent { &counters.bytes_sent } else { &counters.bytes_received };
        Counters::add(counter, bytes);
    }

    /// One timer at a time: the next sample while a transfer is watched, else the deadline.
    fn arm(&mut self, cx: &mut Cx<'_>) {
        let sample_at = cx.now + SAMPLE_EVERY;
        let at = if self.watch.is_some() { self.deadline.min(sample_at) } else { self.deadline };
        if self.armed.is_none_or(|armed| armed > at) {
            self.armed = Some(at);
            cx.wake_at(at);
        }
    }

    fn finish_watch(&mut self, cx: &Cx<'_>) {
        let Some(mut watch) = self.watch.take() else { return };
        let time = cx.now - watch.started;
        if let Some(sample) = look(self.fd(), time, watch.bytes) {
            watch.series.push(sample);
        }
        let transfer = Transfer {
            sent: watch.sent,
            bytes: watch.bytes,
            seconds: time.as_secs_f64(),
            summary: watch.series.summary(),
            load: cx.meter.read().since(&watch.load_from),
        };
        self.shared.transfers.add(&watch.id, transfer);
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
            self.finish_watch(cx);
            return Next::Close;
        }
        self.attend(cx)
    }

    fn succeed(self: Box<Self>) -> Option<Box<dyn Handler>> {
        let Connection { wire, peer, shared, mut heads, leaving, _counted: counted, .. } = *self;
        let (subtest, request) = leaving?;
        let (id, early) = (routes::test_id(&request), heads.take_body(u64::MAX));
        let visitor = Visitor { wire, peer, shared, counted, subtest, request, id, early };
        Some(Box::new(Waiting::new(visitor)))
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.armed.is_some_and(|at| at > cx.now) {
            return Next::Stay;
        }
        self.armed = None;
        if cx.now >= self.deadline {
            self.finish_watch(cx);
            return Next::Close;
        }
        let fd = self.fd();
        if let Some(watch) = &mut self.watch {
            if let Some(sample) = look(fd, cx.now - watch.started, watch.bytes) {
                watch.series.push(sample);
            }
        }
        self.arm(cx);
        Next::Stay
    }
}
