// SPDX-License-Identifier: Apache-2.0
//! One request and its answer on an HTTP/2 connection.

use std::net::IpAddr;
use std::os::fd::RawFd;
use std::sync::{Arc, LazyLock};
use std::task::{self, Poll};
use std::time::Instant;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderName, Response, StatusCode};
use speedtest_net::bulk::HOT;
use speedtest_net::reactor::Cx;
use speedtest_proto::http1::{Answer, Method, Request};

use super::flow::{Delivery, Flow};
use super::routes::{self, Route, Service, MAX_RESULT_BYTES};
use super::sessions::Refusal;
use super::Context;

/// Bytes handed to the library at once.
const PIECE_BYTES: usize = 256 << 10;
/// Share of one exchange in a turn, in bytes.
const MOST_AT_ONCE: u64 = 1 << 20;

static PIECES: LazyLock<Bytes> = LazyLock::new(|| Bytes::from_static(&HOT));

/// Outcome of one step of an exchange.
pub enum Step {
    Moved,
    Waits,
    Over,
}

enum Work {
    Sending(SendStream<Bytes>, u64),
    Dropping(RecvStream),
    Keeping(RecvStream, Vec<u8>),
}

pub struct Exchange {
    shared: Arc<Context>,
    client: IpAddr,
    work: Work,
    flow: Option<Flow>,
    respond: SendResponse<Bytes>,
    allow_origin: Option<String>,
}

impl Exchange {
    /// Begin an exchange. Answer at once where possible; the exchange is then complete.
    pub fn begin(
        shared: &Arc<Context>,
        peer: IpAddr,
        request: http::Request<RecvStream>,
        mut respond: SendResponse<Bytes>,
        at: (&Cx<'_>, RawFd),
    ) -> Option<Exchange> {
        let (head, body) = request.into_parts();
        let Some(request) = understood(&head) else {
            answer(&mut respond, Answer::new("501 Not Implemented"), "");
            return None;
        };
        let client = shared.proxies.client(&request.fields, peer);
        let key = shared.clients.key(client);
        let allow_origin = routes::allow_origin(&shared.cors, &request);
        let said = |status| Answer { allow_origin: allow_origin.as_deref(), ..Answer::new(status) };
        let sent = match routes::route(shared, Service::Tests, &request, client, "https") {
            Route::Text { status, content_type, body } => {
                let head = Answer { content_type, body_bytes: body.len() as u64, ..said(status) };
                answer(&mut respond, head, if request.method == Method::Head { "" } else { &body });
                return None;
            }
            Route::Result if !shared.accounts.may_report(key, at.0.now) => {
                let refusal = Refusal::TooFast;
                let retry_after_s = Some(refusal.retry_after_s());
                answer(&mut respond, Answer { retry_after_s, ..said(refusal.status()) }, "");
                return None;
            }
            Route::Result => {
                let work = Work::Keeping(body, Vec::new());
                let shared = Arc::clone(shared);
                return Some(Exchange { shared, client, work, flow: None, respond, allow_origin });
            }
            Route::Ndt7(_) => {
                // WebSockets are opened over HTTP/1.1 only.
                answer(&mut respond, said("426 Upgrade Required"), "");
                return None;
            }
            Route::Garbage(bytes) => Some(bytes),
            Route::Discard => None,
        };
        let length = sent.or(if body.is_end_stream() { Some(0) } else { declared(&head) });
        let flow = match Flow::begin(shared, key, &request, sent.is_some(), length, at) {
            Ok(flow) => flow,
            Err(refusal) => {
                let retry_after_s = Some(refusal.retry_after_s());
                answer(&mut respond, Answer { retry_after_s, ..said(refusal.status()) }, "");
                return None;
            }
        };
        let work = match sent {
            None => Work::Dropping(body),
            Some(body_bytes) => {
                let content_type = "application/octet-stream";
                let head = Answer { content_type, body_bytes, ..said("200 OK") };
                let only_head = request.method == Method::Head;
                let stream = respond.send_response(response(head), only_head).ok()?;
                if only_head {
                    return None;
                }
                Work::Sending(stream, body_bytes)
            }
        };
        let (shared, flow) = (Arc::clone(shared), Some(flow));
        Some(Exchange { shared, client, work, flow, respond, allow_origin })
    }

    /// Move all bytes that can move now.
    pub fn step(&mut self, cx: &Cx<'_>, context: &mut task::Context<'_>) -> Step {
        if self.wait_until(cx.now).is_some() {
            return Step::Waits;
        }
        match &mut self.work {
            Work::Sending(..) => self.send(cx, context),
            _ => self.receive(cx, context),
        }
    }

    fn send(&mut self, cx: &Cx<'_>, context: &mut task::Context<'_>) -> Step {
        let Work::Sending(stream, left) = &mut self.work else { return Step::Over };
        let most = self.flow.as_ref().map_or(u64::MAX, Flow::most_at_once).min(MOST_AT_ONCE);
        let mut moved = 0;
        while moved < most {
            let wanted = usize::try_from(*left).unwrap_or(usize::MAX).min(PIECE_BYTES);
            stream.reserve_capacity(wanted);
            let mut free = stream.capacity();
            if free == 0 {
                free = match stream.poll_capacity(context) {
                    Poll::Ready(Some(Ok(free))) => free,
                    Poll::Ready(_) => return Step::Over,
                    Poll::Pending => break,
                };
            }
            let now = free.min(wanted);
            *left -= now as u64;
            if stream.send_data(PIECES.slice(..now), *left == 0).is_err() {
                return Step::Over;
            }
            moved += now as u64;
            let may_go_on = self.flow.as_mut().is_none_or(|flow| flow.moved(now as u64, cx.now));
            if !may_go_on && *left > 0 {
                stream.send_reset(Reason::ENHANCE_YOUR_CALM);
                return Step::Over;
            }
            if *left == 0 {
                return Step::Over;
            }
        }
        if moved > 0 {
            Step::Moved
        } else {
            Step::Waits
        }
    }

    fn receive(&mut self, cx: &Cx<'_>, context: &mut task::Context<'_>) -> Step {
        let mut moved = 0;
        loop {
            let (Work::Dropping(body) | Work::Keeping(body, _)) = &mut self.work else {
                return Step::Over;
            };
            let piece = match body.poll_data(context) {
                Poll::Pending => break,
                Poll::Ready(None) => {
                    self.received();
                    return Step::Over;
                }
                Poll::Ready(Some(Err(_))) => return Step::Over,
                Poll::Ready(Some(Ok(piece))) => piece,
            };
            // A stream that is gone needs no window.
            let _ = body.flow_control().release_capacity(piece.len());
            moved += piece.len() as u64;
            if let Work::Keeping(_, kept) = &mut self.work {
                if kept.len() + piece.len() > MAX_RESULT_BYTES as usize {
                    self.reply("413 Content Too Large", "");
                    return Step::Over;
                }
                kept.extend_from_slice(&piece);
            }
            let may_go_on =
                self.flow.as_mut().is_none_or(|flow| flow.moved(piece.len() as u64, cx.now));
            if !may_go_on {
                self.respond.send_reset(Reason::ENHANCE_YOUR_CALM);
                return Step::Over;
            }
        }
        if moved > 0 {
            Step::Moved
        } else {
            Step::Waits
        }
    }

    /// Handle a complete body.
    fn received(&mut self) {
        match &self.work {
            Work::Keeping(_, kept) => {
                let id = self.shared.keeper.keep_page_result(self.client, kept);
                self.reply("200 OK", &format!("id {id}"));
            }
            _ => self.reply("200 OK", ""),
        }
    }

    fn reply(&mut self, status: &'static str, body: &str) {
        let allow_origin = self.allow_origin.as_deref();
        let body_bytes = body.len() as u64;
        answer(&mut self.respond, Answer { allow_origin, body_bytes, ..Answer::new(status) }, body);
    }

    pub fn receives(&self) -> bool {
        !matches!(self.work, Work::Sending(..))
    }

    /// Return when more may move; None: now.
    pub fn wait_until(&self, now: Instant) -> Option<Instant> {
        self.flow.as_ref().and_then(|flow| flow.wait_until(now))
    }

    pub fn sample(&mut self, fd: RawFd, now: Instant) -> Option<Instant> {
        self.flow.as_mut().and_then(|flow| flow.sample(fd, now))
    }

    pub fn finish(self, fd: RawFd, cx: &Cx<'_>, delivery: &mut Delivery) {
        if let Some(flow) = self.flow {
            flow.finish(fd, cx, delivery);
        }
    }
}

/// Convert the request to HTTP/1.1's; None: its method is not served.
fn understood(head: &http::request::Parts) -> Option<Request> {
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let mut request = Request::new(Method::of(head.method.as_str())?, target);
    for (name, value) in &head.headers {
        if let Ok(value) = value.to_str() {
            request.fields.take(name.as_str(), value);
        }
    }
    if let Some(authority) = head.uri.authority() {
        request.fields.host = Some(authority.as_str().to_owned());
    }
    Some(request)
}

/// Return the announced length of the body, if there is one.
fn declared(head: &http::request::Parts) -> Option<u64> {
    head.headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn response(answer: Answer<'_>) -> Response<()> {
    let status = answer.status.split(' ').next().and_then(|code| code.parse().ok());
    let mut response = Response::new(());
    *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.fields() {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// Answer with a short text, unless the stream is gone already.
fn answer(respond: &mut SendResponse<Bytes>, head: Answer<'_>, text: &str) {
    if let Ok(mut stream) = respond.send_response(response(head), text.is_empty()) {
        if !text.is_empty() {
            let _ = stream.send_data(Bytes::copy_from_slice(text.as_bytes()), true);
        }
    }
}
