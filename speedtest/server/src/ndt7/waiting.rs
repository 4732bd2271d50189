// SPDX-License-Identifier: Apache-2.0
//! A client that has asked for a subtest, until it is let in or turned away.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use speedtest_net::options::{self, Options};
use speedtest_net::reactor::{Address, Cx, Handler, Interest, Next, Note, Ready};
use speedtest_net::wire::{unless_blocked, Wire};
use speedtest_proto::http1::{Answer, Method, Request};
use speedtest_proto::ndt7::request::Asked;
use speedtest_proto::ndt7::{Subtest, PROTOCOL};

use super::test::Test;
use crate::admission::Decision;
use crate::clients::{self, ClientKey};
use crate::shared::{Counters, Shared, Ticket};

/// Everything that an HTTP connection hands over.
pub struct Visitor {
    pub wire: Wire,
    pub peer: SocketAddr,
    pub shared: Arc<Shared>,
    pub counted: clients::Connection,
    pub subtest: Subtest,
    pub request: Request,
    /// Under which the page or client asks for the verdict afterwards.
    pub id: Option<String>,
    /// What came after the head of the request.
    pub early: Vec<u8>,
}

/// What a test needs to know of its request.
pub struct Accepted {
    pub asked: Asked,
    pub congestion: Option<String>,
    /// The answer that opens the WebSocket.
    pub head: Vec<u8>,
}

/// A place in the queue; dropping it leaves the queue.
struct Place {
    shared: Arc<Shared>,
    client: ClientKey,
    address: Address,
    /// Not yet called or sent away.
    waits: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.waits {
            self.shared.leave_queue(self.client, self.address);
        }
    }
}

pub struct Waiting {
    visitor: Visitor,
    accepted: Option<Accepted>,
    ticket: Option<Ticket>,
    queued: Option<Place>,
    output: Vec<u8>,
    deadline: Instant,
}

/// Status and text of an answer that turns a client away.
type No = (&'static str, String);

impl Waiting {
    pub fn new(visitor: Visitor) -> Waiting {
        Waiting {
            visitor,
            accepted: None,
            ticket: None,
            queued: None,
            output: Vec::new(),
            deadline: Instant::now(),
        }
    }

    /// Is this a request that can be served at all?
    fn examine(&self) -> Result<Accepted, No> {
        let bad = |why: String| ("400 Bad Request", why);
        let (shared, request) = (&self.visitor.shared, &self.visitor.request);
        if request.method != Method::Get {
            return Err(bad("a WebSocket is opened with GET".into()));
        }
        let key = request.offer.accept(PROTOCOL).map_err(|error| bad(error.to_string()))?;
        let mut asked = Asked::of_query(&request.query).map_err(|error| bad(error.to_string()))?;
        let token = asked.access_token.take();
        shared.gate.pass(token.as_deref()).map_err(|why| ("401 Unauthorized", why))?;
        let wanted = asked.metadata.get("congestion").cloned();
        if let Some(name) = wanted.as_ref().filter(|name| !shared.kernel.has_congestion(name)) {
            let known = shared.kernel.congestion.join(", ");
            return Err(bad(format!("congestion={name} is not allowed; allowed are {known}")));
        }
        let congestion = wanted.or_else(|| shared.config.ndt7.congestion.clone());
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {key}\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n"
        );
        Ok(Accepted { asked, congestion, head: head.into_bytes() })
    }

    fn client(&self) -> ClientKey {
        ClientKey::of(self.visitor.peer.ip())
    }

    fn refuse(&mut self, cx: &mut Cx<'_>, (status, why): No) -> Next {
        Counters::add(&self.visitor.shared.counters.tests_refused, 1);
        let client = self.visitor.peer.to_string();
        let fields = json!({"protocol": "ndt7", "client": client, "because": why});
        self.visitor.shared.log.info("test refused", fields);
        let body = format!("{why}\n");
        let answer = Answer {
            content_type: "text/plain; charset=utf-8",
            body_bytes: body.len() as u64,
            keep_alive: false,
            ..Answer::new(status)
        };
        self.output = (answer.head() + &body).into_bytes();
        self.allow(cx, self.visitor.shared.config.limits.step());
        self.flush(cx)
    }

    /// The place in the queue is gone already.
    fn called(&mut self) {
        if let Some(mut place) = self.queued.take() {
            place.waits = false;
        }
    }

    fn allow(&mut self, cx: &mut Cx<'_>, time: Duration) {
        self.deadline = cx.now + time;
        cx.wake_at(self.deadline);
    }

    /// Sends the refusal and leaves.
    fn flush(&mut self, cx: &mut Cx<'_>) -> Next {
        while !self.output.is_empty() {
            match unless_blocked(self.visitor.wire.send(&self.output)) {
                Ok(Some(count)) => drop(self.output.drain(..count)),
                Ok(None) => {
                    cx.wait_for(Interest::WRITE);
                    return Next::Stay;
                }
                Err(_gone) => return Next::Close,
            }
        }
        match self.visitor.wire.flush() {
            Ok(false) => {
                cx.wait_for(Interest::WRITE);
                Next::Stay
            }
            _ => {
                self.visitor.wire.say_goodbye();
                Next::Close
            }
        }
    }

    fn admitted(&mut self, cx: &mut Cx<'_>) -> Next {
        self.called();
        self.ticket = Some(self.visitor.shared.ticket(self.client(), cx.address()));
        let wanted = self.accepted.as_ref().and_then(|accepted| accepted.congestion.clone());
        let options = Options { congestion: wanted, ..Options::default() };
        match options::apply(self.visitor.wire.socket(), &options) {
            Ok(()) => Next::Succeed,
            Err(refused) => self.refuse(cx, ("500 Internal Server Error", refused.to_string())),
        }
    }
}

impl Handler for Waiting {
    fn fd(&self) -> RawFd {
        self.visitor.wire.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        match self.examine() {
            Ok(accepted) => self.accepted = Some(accepted),
            Err(no) => return self.refuse(cx, no),
        }
        match self.visitor.shared.request(self.client(), cx.address()) {
            Decision::Admitted => self.admitted(cx),
            Decision::Queued(ahead) => {
                self.queued = Some(Place {
                    shared: Arc::clone(&self.visitor.shared),
                    client: self.client(),
                    address: cx.address(),
                    waits: true,
                });
                let limits = &self.visitor.shared.config.limits;
                self.allow(cx, Duration::from_secs(limits.queue_wait_s));
                let fields = json!({"client": self.visitor.peer.to_string(), "ahead": ahead});
                self.visitor.shared.log.info("test queued", fields);
                cx.wait_for(self.visitor.wire.interest(Interest::HANG_UP));
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
        if cx.now < self.deadline {
            return Next::Stay;
        }
        if self.queued.is_none() {
            return Next::Close;
        }
        if self.visitor.shared.admission().leave_queue(cx.address()) {
            self.called();
            let why = "its turn did not come in time".into();
            return self.refuse(cx, ("503 Service Unavailable", why));
        }
        // Its turn has just come, and the note about it is on its way.
        Next::Stay
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        match note {
            Note::Admitted => self.admitted(cx),
            Note::Drain => {
                self.called();
                self.refuse(cx, ("503 Service Unavailable", "the server is stopping".into()))
            }
            Note::Close | Note::Terminate => Next::Close,
            _ => Next::Stay,
        }
    }

    fn succeed(self: Box<Self>) -> Option<Box<dyn Handler>> {
        let Waiting { visitor, accepted, ticket, .. } = *self;
        Some(Box::new(Test::new(visitor, accepted?, ticket?)))
    }
}
