// SPDX-License-Identifier: Apache-2.0
//! Start of a request: an answer, a body in either direction, or a test that takes the connection.

use speedtest_net::reactor::{Cx, Handler};
use speedtest_proto::http1::{Answer, HttpError, Method, Request};

use super::{Body, Connection, Flow};
use crate::clients::ClientKey;
use crate::http::routes::{self, Route, MAX_RESULT_BYTES};
use crate::http::sessions::Refusal;

/// Bytes of a refused body that are dropped, so that its sender gets to read the answer.
const REFUSED_BYTES: u64 = 32 << 20;

impl Connection {
    pub(super) fn refuse(&mut self, error: HttpError) {
        self.keep_alive = false;
        self.answer(error.status(), "text/plain", 0);
    }

    pub(super) fn begin(&mut self, cx: &mut Cx<'_>, request: &Request) {
        self.progress(cx);
        self.counted.busy();
        self.client = self.shared.proxies.client(&request.fields, self.peer.ip());
        // A server that stops lets a test of many bodies continue.
        let stays =
            !self.shared.admission.is_closed() || self.shared.sessions.runs(self.key(), cx.now);
        self.keep_alive = request.keep_alive && stays;
        self.allow_origin = routes::allow_origin(&self.shared.cors, request);
        let scheme = if self.wire.is_tls() { "https" } else { "http" };
        match routes::route(&self.shared, self.service, request, self.client, scheme) {
            Route::Text { status, content_type, body } => {
                // An unexpected body is not read; the connection ends after the answer.
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
            Route::Result if !self.shared.accounts.may_report(self.key(), cx.now) => {
                // The body is short: it is dropped.
                self.keep_alive &= !request.expects_continue;
                self.write_refusal(Refusal::TooFast);
                let coming = if request.expects_continue { 0 } else { request.body_bytes };
                self.body = Body::Refused(coming);
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

    /// Check whether a body of this client may move now, of a request or an answer. If not, answer
    /// with an error.
    fn let_in(&mut self, cx: &mut Cx<'_>, request: &Request, sent: Option<u64>) -> bool {
        let (bytes, fd) = (sent.unwrap_or(request.body_bytes), self.fd());
        let at = (&*cx, fd);
        let flow = Flow::begin(&self.shared, self.key(), request, sent.is_some(), Some(bytes), at);
        match flow {
            Ok(flow) => {
                self.flow = Some(flow);
                self.arm(cx);
                true
            }
            Err(refusal) => {
                let coming = if request.expects_continue { 0 } else { request.body_bytes };
                // A client that waits for 100 sends no body after this, or opens a new connection.
                self.keep_alive &= coming <= REFUSED_BYTES && !request.expects_continue;
                self.write_refusal(refusal);
                self.body = Body::Refused(coming.min(REFUSED_BYTES));
                false
            }
        }
    }

    fn write_refusal(&mut self, refusal: Refusal) {
        let retry_after_s = Some(refusal.retry_after_s());
        self.write_head(Answer { retry_after_s, ..Answer::new(refusal.status()) });
    }

    pub(super) fn key(&self) -> ClientKey {
        self.shared.clients.key(self.client)
    }

    pub(super) fn answer(&mut self, status: &str, content_type: &str, body_bytes: u64) {
        self.write_head(Answer { content_type, body_bytes, ..Answer::new(status) });
    }

    fn write_head(&mut self, answer: Answer<'_>) {
        let allow_origin = self.allow_origin.as_deref();
        let whole = Answer { keep_alive: self.keep_alive, allow_origin, ..answer };
        self.output.extend_from_slice(whole.head().as_bytes());
    }
}
