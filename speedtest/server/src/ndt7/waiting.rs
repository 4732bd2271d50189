// SPDX-License-Identifier: Apache-2.0
//! Request for a subtest until it is admitted or refused.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use speedtest_net::options::{self, Options};
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, PeerInstant, Ready};
use speedtest_net::wire::{unless_blocked, Wire};
use speedtest_proto::http1::{Answer, Method, Request};
use speedtest_proto::ndt7::request::TestQuery;
use speedtest_proto::ndt7::{Subtest, PROTOCOL};

use super::test::Test;
use super::Context;
use crate::admission::{Call, Decision, Place, Ticket};
use crate::clients::{self, ClientKey};
use crate::counters::Counters;

/// HTTP connection that waits for its subtest, with its state for the test.
pub struct PendingConnection {
    pub wire: Wire,
    pub peer: SocketAddr,
    pub shared: Arc<Context>,
    pub counted: clients::Connection,
    /// Client; for a proxy's connection, the proxy's client.
    pub client: ClientKey,
    pub subtest: Subtest,
    pub request: Request,
    /// ID with which the page or client fetches the verdict afterwards.
    pub id: Option<String>,
    /// Bytes after the head of the request.
    pub early: Vec<u8>,
}

/// Seconds after which a client may retry: another test has then ended.
const RETRY_AFTER_S: u64 = 6;

/// Request that was admitted.
pub struct Accepted {
    pub query: TestQuery,
    pub congestion: Option<String>,
    /// Answer that opens the WebSocket.
    pub head: Vec<u8>,
}

pub struct Waiting {
    pending: PendingConnection,
    accepted: Option<Accepted>,
    ticket: Option<Ticket>,
    queued: Option<Place>,
    output: Vec<u8>,
    deadline: PeerInstant,
}

/// Status and text of an answer that refuses a client.
type No = (&'static str, String);

impl Waiting {
    pub fn new(pending: PendingConnection) -> Waiting {
        Waiting {
            pending,
            accepted: None,
            ticket: None,
            queued: None,
            output: Vec::new(),
            deadline: PeerInstant::outside(),
        }
    }

    /// Check that this request can be served at all.
    fn examine(&self) -> Result<Accepted, No> {
        let bad = |why: String| ("400 Bad Request", why);
        let (shared, request) = (&self.pending.shared, &self.pending.request);
        if request.method != Method::Get {
            return Err(bad("a WebSocket is opened with GET".into()));
        }
        let key = request.offer.accept(PROTOCOL).map_err(|error| bad(error.to_string()))?;
        let mut query =
            TestQuery::of_query(&request.query).map_err(|error| bad(error.to_string()))?;
        let token = query.access_token.take();
        shared.gate.pass(token.as_deref()).map_err(|why| ("401 Unauthorized", why))?;
        let wanted = query.metadata.get("congestion").cloned();
        if let Some(name) = wanted.as_ref().filter(|name| !shared.kernel.has_congestion(name)) {
            let known = shared.kernel.congestion.join(", ");
            return Err(bad(format!("congestion={name} is not allowed; allowed are {known}")));
        }
        let congestion = wanted.or_else(|| shared.congestion.clone());
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {key}\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n"
        );
        Ok(Accepted { query, congestion, head: head.into_bytes() })
    }

    fn refuse(&mut self, cx: &mut Cx<'_>, (status, why): No) -> Next {
        Counters::add(&self.pending.shared.counters.tests_refused, 1);
        let client = self.pending.peer.to_string();
        let fields = json!({"protocol": "ndt7", "client": client, "because": why});
        self.pending.shared.log.info("test refused", fields);
        let body = format!("{why}\n");
        let answer = Answer {
            content_type: "text/plain; charset=utf-8",
            body_bytes: body.len() as u64,
            keep_alive: false,
            retry_after_s: matches!(&status[..3], "429" | "503").then_some(RETRY_AFTER_S),
            ..Answer::new(status)
        };
        self.output = (answer.head() + &body).into_bytes();
        self.allow(cx, self.pending.shared.limits.step());
        self.flush(cx)
    }

    fn allow(&mut self, cx: &mut Cx<'_>, time: Duration) {
        self.deadline = cx.peer_now() + time;
        cx.wake_at(cx.when(self.deadline));
    }

    /// Send the refusal and leave.
    fn flush(&mut self, cx: &mut Cx<'_>) -> Next {
        while !self.output.is_empty() {
            match unless_blocked(self.pending.wire.send(&self.output, &mut cx.turn)) {
                Ok(Some(count)) => drop(self.output.drain(..count)),
                Ok(None) => {
                    cx.wait_for(Interest::WRITE);
                    return Next::Stay;
                }
                Err(_gone) => return Next::Close,
            }
        }
        match self.pending.wire.flush() {
            Ok(false) => {
                cx.wait_for(Interest::WRITE);
                Next::Stay
            }
            _ => {
                self.pending.wire.close_notify();
                Next::Close
            }
        }
    }

    fn admitted(&mut self, cx: &mut Cx<'_>, ticket: Ticket) -> Next {
        self.ticket = Some(ticket);
        let wanted = self.accepted.as_ref().and_then(|accepted| accepted.congestion.clone());
        let options = Options { congestion: wanted, ..Options::default() };
        match options::apply(self.pending.wire.socket(), &options) {
            Ok(()) => Next::Succeed,
            Err(refused) => self.refuse(cx, ("500 Internal Server Error", refused.to_string())),
        }
    }
}

impl Handler for Waiting {
    fn fd(&self) -> RawFd {
        self.pending.wire.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        match self.examine() {
            Ok(accepted) => self.accepted = Some(accepted),
            Err(no) => return self.refuse(cx, no),
        }
        let account = self.pending.shared.accounts.of(self.pending.client, cx.now);
        if let Some(left) = account.spent_for(cx.now) {
            let why = format!("limits.client_bytes are used up; again in {} s", left.as_secs() + 1);
            return self.refuse(cx, ("429 Too Many Requests", why));
        }
        match self.pending.shared.admission.request(self.pending.client, cx.address()) {
            Decision::Admitted(ticket) => self.admitted(cx, ticket),
            Decision::Queued(place, ahead) => {
                self.queued = Some(place);
                let limits = &self.pending.shared.limits;
                self.allow(cx, Duration::from_secs(limits.queue_wait_s));
                let fields = json!({"client": self.pending.peer.to_string(), "ahead": ahead});
                self.pending.shared.log.info("test queued", fields);
                cx.wait_for(self.pending.wire.interest(Interest::HANG_UP));
                Next::Stay
            }
            Decision::Refused => {
                self.refuse(cx, ("503 Service Unavailable", "the server is full".into()))
            }
        }
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if ready.hung_up() || ready.error() {
            return Next::Close;
        }
        if self.output.is_empty() {
            return Next::Stay;
        }
        self.flush(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if cx.peer_now() < self.deadline {
            cx.wake_at(cx.when(self.deadline));
            return Next::Stay;
        }
        let Some(place) = &self.queued else { return Next::Close };
        if !place.is_admitted() {
            self.queued = None;
            let why = "its turn did not come in time".into();
            return self.refuse(cx, ("503 Service Unavailable", why));
        }
        // It has just been admitted, and the message is on its way.
        Next::Stay
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        match note.word() {
            Some(Call::Admitted) => match self.queued.take().and_then(Place::claim) {
                Some(ticket) => self.admitted(cx, ticket),
                None => Next::Stay,
            },
            Some(Call::Displaced) => {
                self.queued = None;
                let why = "its place in the queue went to a client that has fewer".into();
                self.refuse(cx, ("503 Service Unavailable", why))
            }
            Some(Call::Draining) => {
                self.queued = None;
                self.refuse(cx, ("503 Service Unavailable", "the server is stopping".into()))
            }
            Some(Call::Terminate) => Next::Close,
            None => Next::Stay,
        }
    }

    fn succeed(self: Box<Self>) -> Option<Box<dyn Handler>> {
        let Waiting { pending, accepted, ticket, .. } = *self;
        Some(Box::new(Test::new(pending, accepted?, ticket?)))
    }
}
