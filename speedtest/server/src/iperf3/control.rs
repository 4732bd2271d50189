// SPDX-License-Identifier: Apache-2.0
//! One control connection, from its cookie to its last byte; [`stages`] has the stages of its test.

mod stages;

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use speedtest_net::bulk::Event;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, PeerInstant, Ready};
use speedtest_net::turn::Work;
use speedtest_net::{socket, sys};
use speedtest_proto::iperf3::{self, Cookie, ErrorCode, Params, ProtocolError, Server};

use super::auth::Auth;
use super::policy::{authenticate, error_code, objection};
use super::running::Running;
use super::test::{Joining, Link};
use super::Context;
use crate::accept::AcceptedConnection;
use crate::accounts::Account;
use crate::admission::{Call, Decision, Place, Ticket};
use crate::clients::{ClientKey, Connection, Displaced};
use crate::config::Iperf3;
use crate::counters::Counters;

/// Bytes to read at once: more than any step needs; results are the longest.
const READ_BYTES: usize = 4096;

pub struct Control {
    socket: Option<TcpStream>,
    peer: SocketAddr,
    arrival: u64,
    client: ClientKey,
    account: Arc<Account>,
    connection: Option<Connection>,
    shared: Arc<Context>,
    listen: Arc<Iperf3>,
    auth: Option<Arc<Auth>>,
    machine: Server,
    cookie: Option<Cookie>,
    /// Place of this connection in the queue.
    queued: Option<Place>,
    // Order matters: a test ends before its ticket lets the next one in.
    running: Option<Running>,
    ticket: Option<Ticket>,
    /// Parameters of a test that waits for its ticket, or with it until another UDP test of the
    /// same address has opened its streams.
    params: Option<Box<Params>>,
    deadline: PeerInstant,
    /// Time of the latest timer for the deadline.
    armed: Option<Instant>,
    next_look: Instant,
    /// The connection ends once the output is sent.
    over: bool,
}

impl Control {
    pub fn new(
        accepted: AcceptedConnection,
        shared: Arc<Context>,
        listen: Arc<Iperf3>,
        auth: Option<Arc<Auth>>,
    ) -> Control {
        let client = accepted.connection.client();
        let account = shared.accounts.of(client, Instant::now());
        Control {
            client,
            account,
            socket: Some(accepted.socket),
            peer: accepted.peer,
            arrival: accepted.arrival,
            connection: Some(accepted.connection),
            shared,
            listen,
            auth,
            machine: Server::new(),
            cookie: None,
            queued: None,
            running: None,
            ticket: None,
            params: None,
            next_look: Instant::now(),
            deadline: PeerInstant::outside(),
            armed: None,
            over: false,
        }
    }

    fn allow(&mut self, cx: &mut Cx<'_>, time: Duration) {
        self.deadline = cx.peer_now() + time;
        self.arm(cx);
    }

    /// Set a timer for the deadline, unless an earlier one is set.
    fn arm(&mut self, cx: &mut Cx<'_>) {
        let at = cx.when(self.deadline);
        if self.armed.is_none_or(|armed| armed > at || armed <= cx.now) {
            self.armed = Some(at);
            cx.wake_at(at);
        }
    }

    fn allow_step(&mut self, cx: &mut Cx<'_>) {
        self.allow(cx, self.shared.limits.step());
    }

    /// Read what the state machine wants, act on it, then write its output.
    fn read(&mut self, cx: &mut Cx<'_>) -> Next {
        let mut buffer = [0; READ_BYTES];
        while self.machine.wants() > 0 && !self.over {
            let most = cx.turn.may(Work::Parsed, self.machine.wants().min(READ_BYTES) as u64);
            if most == 0 || cx.turn.may(Work::Requests, 1) == 0 {
                break;
            }
            let read = &mut buffer[..most as usize];
            match self.socket().and_then(|socket| sys::receive(socket, read)) {
                Ok(0) => return self.left(cx, "closed the control connection"),
                Ok(count) => match self.count_and_take(cx, &buffer[..count]) {
                    Ok(None) => {}
                    Ok(Some(event)) => {
                        if let Some(next) = self.act(cx, event) {
                            return next;
                        }
                    }
                    Err(error) => {
                        self.fail(&error.to_string(), error_code(&error));
                    }
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return self.left(cx, &error.to_string()),
            }
        }
        self.flush(cx)
    }

    /// Pass received bytes to the state machine, and count them in this turn.
    fn count_and_take(
        &mut self,
        cx: &mut Cx<'_>,
        bytes: &[u8],
    ) -> Result<Option<iperf3::Event>, ProtocolError> {
        cx.turn.spend(Work::Parsed, bytes.len() as u64);
        let event = self.machine.receive(bytes)?;
        cx.turn.spend(Work::Requests, u64::from(event.is_some()));
        Ok(event)
    }

    fn act(&mut self, cx: &mut Cx<'_>, event: iperf3::Event) -> Option<Next> {
        match event {
            iperf3::Event::Cookie(cookie) => return self.join_or_ask(cx, cookie),
            iperf3::Event::Params(params) => {
                match authenticate(&self.shared, self.auth.as_deref(), &params, self.peer) {
                    Ok(()) => self.request(cx, params),
                    Err(denied) => self.fail(&denied.to_string(), ErrorCode::Authentication),
                }
            }
            iperf3::Event::TestEnd => self.end(cx),
            iperf3::Event::Results(results) => self.compare(cx, results),
            iperf3::Event::Done => self.over = true,
            iperf3::Event::Terminated => return Some(self.left(cx, "the client ended the test")),
        }
        None
    }

    /// Handle a cookie. A known one adds a stream to its test; a new one begins a client's request.
    fn join_or_ask(&mut self, cx: &mut Cx<'_>, cookie: Cookie) -> Option<Next> {
        if let Some(test) = self.shared.tests.find(&cookie) {
            let (socket, mut connection) = (self.socket.take()?, self.connection.take()?);
            connection.busy();
            cx.give_away(&socket);
            test.join(
                cx.lanes,
                Joining {
                    link: Link::Tcp(socket),
                    guard: Box::new(connection),
                    arrival: self.arrival,
                },
            );
            return Some(Next::Close);
        }
        if self.shared.admission.is_closed() {
            self.refuse("the server is stopping");
            return None;
        }
        self.cookie = Some(cookie);
        self.machine.admit();
        None
    }

    /// Request a place for the test: its parameters are known and its client may test.
    fn request(&mut self, cx: &mut Cx<'_>, params: Box<Params>) {
        if let Some((why, code)) = objection(&self.shared, &self.account, &params, cx.now) {
            return self.fail(&why, code);
        }
        if let Some(connection) = &mut self.connection {
            connection.busy();
        }
        self.params = Some(params);
        match self.shared.admission.request(self.client, cx.address()) {
            Decision::Admitted(ticket) => self.admitted(cx, ticket),
            Decision::Queued(place, ahead) => {
                self.queued = Some(place);
                self.allow(cx, Duration::from_secs(self.shared.limits.queue_wait_s));
                let fields = json!({"client": self.peer.to_string(), "ahead": ahead});
                self.shared.log.info("test queued", fields);
            }
            Decision::Refused => self.refuse("the server is full"),
        }
    }

    fn admitted(&mut self, cx: &mut Cx<'_>, ticket: Ticket) {
        self.ticket = Some(ticket);
        self.allow_step(cx);
        self.begin(cx);
    }

    fn called(&mut self, cx: &mut Cx<'_>, call: Option<Call>) {
        match call {
            Some(Call::Admitted) => {
                if let Some(ticket) = self.queued.take().and_then(Place::claim) {
                    self.admitted(cx, ticket);
                }
            }
            Some(Call::Displaced) => {
                self.queued = None;
                self.refuse("its place in the queue went to a client that has fewer");
            }
            Some(Call::Draining) => {
                self.queued = None;
                self.refuse("the server is stopping");
            }
            Some(Call::Terminate) => {
                self.machine.terminate();
                self.over = true;
            }
            None => {}
        }
    }

    fn refuse(&mut self, why: &str) {
        Counters::add(&self.shared.counters.tests_refused, 1);
        self.shared
            .log
            .info("test refused", json!({"client": self.peer.to_string(), "because": why}));
        self.machine.refuse();
        self.over = true;
    }

    fn fail(&mut self, why: &str, code: ErrorCode) {
        Counters::add(&self.shared.counters.tests_failed, 1);
        self.shared
            .log
            .warn("test failed", json!({"client": self.peer.to_string(), "because": why}));
        self.machine.fail(code);
        self.over = true;
        // The end is certain, however slowly the client reads the reason.
        self.running = None;
        self.ticket = None;
    }

    /// End the connection; its streams' counters may still have to be collected.
    fn left(&mut self, cx: &mut Cx<'_>, how: &str) -> Next {
        if let Some(socket) = self.socket.take() {
            cx.give_away(&socket);
        }
        self.abort(cx, how)
    }

    /// Return the socket; it is an error once a stream has it.
    fn socket(&self) -> io::Result<&TcpStream> {
        self.socket.as_ref().ok_or_else(|| ErrorKind::NotConnected.into())
    }

    fn flush(&mut self, cx: &mut Cx<'_>) -> Next {
        while !self.machine.output().is_empty() {
            let output = self.machine.output();
            match self.socket().and_then(|socket| sys::send(socket, output, false)) {
                Ok(count) => self.machine.sent(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    cx.wait_for(Interest::BOTH);
                    return Next::Stay;
                }
                Err(error) => return self.left(cx, &error.to_string()),
            }
        }
        if self.over {
            return Next::Close;
        }
        cx.wait_for(if self.machine.wants() > 0 { Interest::READ } else { Interest::HANG_UP });
        Next::Stay
    }
}

impl Handler for Control {
    fn fd(&self) -> RawFd {
        self.socket.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        if let Some(stream) = &self.socket {
            // A peer that has gone already shows at the first read.
            let _ = stream.set_nodelay(true);
            let _ = socket::keep_alive(stream);
        }
        if let Some(connection) = &mut self.connection {
            connection.entered(cx.address());
        }
        // For cookie and parameters together.
        self.allow(cx, self.shared.limits.pending());
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if self.socket.is_none() {
            return self.keep_aborted(false);
        }
        if self.machine.wants() > 0 {
            return self.read(cx);
        }
        if ready.hung_up() || ready.error() {
            return self.left(cx, "closed the control connection");
        }
        self.flush(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        let late = cx.peer_now() >= self.deadline;
        if !late {
            self.arm(cx);
        }
        if self.socket.is_none() {
            return self.keep_aborted(late);
        }
        if !late {
            if self.ticket.is_some() {
                self.begin(cx);
            }
            self.look(cx);
            return self.flush(cx);
        }
        if let Some(place) = &self.queued {
            if !place.is_admitted() {
                self.queued = None;
                self.refuse("its turn did not come in time");
            }
            // Otherwise it has just been admitted, and the message is on its way.
            return self.flush(cx);
        }
        if self.over || self.cookie.is_none() {
            return Next::Close;
        }
        let started = self.running.as_ref().is_some_and(|r| r.started && r.load.is_none());
        let code = if started { ErrorCode::MaxDuration } else { ErrorCode::Message };
        let why = self.running.as_ref().map_or("it sent no parameters".into(), |running| {
            format!(
                "of {} streams {} had joined and {} ended, {} bytes moved",
                running.test.streams.len(),
                running.joined,
                running.reported,
                running.test.bytes()
            )
        });
        self.fail(&format!("the client did not answer in time: {why}"), code);
        // The last output needs a moment at most; a peer that does not read it is dropped.
        self.allow_step(cx);
        self.flush(cx)
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        if note.word() == Some(Displaced) {
            let busy = self.connection.as_ref().is_some_and(Connection::is_busy);
            return if busy { Next::Stay } else { Next::Close };
        }
        match note.word() {
            Some(Event::Joined) => self.joined(cx),
            Some(Event::Reported) => self.reported(cx),
            Some(Event::Refused) => {
                self.fail("the kernel refused an option of a stream", ErrorCode::InitTest);
            }
            None => self.called(cx, note.word()),
        }
        if self.socket.is_none() {
            return self.keep_aborted(false);
        }
        self.flush(cx)
    }
}
