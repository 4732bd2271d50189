// SPDX-License-Identifier: Apache-2.0
//! One control connection, from its cookie to its last byte.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use speedtest_net::load::ProcessMeter;
use speedtest_net::reactor::{Address, Cx, Handler, Interest, Next, Note, Ready};
use speedtest_net::{socket, sys};
use speedtest_proto::iperf3::{Cookie, End, ErrorCode, Event, Params, Results, Server, Transport};

use super::auth::Auth;
use super::outcome::{self, Side};
use super::policy::{authenticate, beyond_limit, error_code, objection};
use super::running::Running;
use super::test::{Joining, Link, Test};
use crate::admission::Decision;
use crate::clients::{ClientKey, Connection};
use crate::config::Iperf3;
use crate::listener::Guest;
use crate::shared::{Counters, Shared, Ticket};

/// More than any step needs at once; results are the longest.
const READ_BYTES: usize = 4096;
/// A test may be this much late with its end.
const GRACE: Duration = Duration::from_secs(15);
/// How often a postponed test tries again.
const POSTPONE: Duration = Duration::from_millis(20);
/// How often a running test is held against its limit of bytes.
const LOOK: Duration = Duration::from_millis(20);

pub struct Control {
    socket: Option<TcpStream>,
    peer: SocketAddr,
    arrival: u64,
    connection: Option<Connection>,
    shared: Arc<Shared>,
    listen: Arc<Iperf3>,
    auth: Option<Arc<Auth>>,
    machine: Server,
    cookie: Option<Cookie>,
    /// Where this connection waits in the queue.
    queued: Option<Address>,
    // Order matters: a test ends before its ticket lets the next one in.
    running: Option<Running>,
    ticket: Option<Ticket>,
    /// A UDP test that waits until another of the same address has opened its streams.
    postponed: Option<Box<Params>>,
    deadline: Instant,
    /// Nothing more is to be done once the output is out.
    over: bool,
}

impl Control {
    pub fn new(
        guest: Guest,
        shared: Arc<Shared>,
        listen: Arc<Iperf3>,
        auth: Option<Arc<Auth>>,
    ) -> Control {
        Control {
            socket: Some(guest.socket),
            peer: guest.peer,
            arrival: guest.arrival,
            connection: Some(guest.connection),
            shared,
            listen,
            auth,
            machine: Server::new(),
            cookie: None,
            queued: None,
            running: None,
            ticket: None,
            postponed: None,
            deadline: Instant::now(),
            over: false,
        }
    }

    fn allow(&mut self, cx: &mut Cx<'_>, time: Duration) {
        self.deadline = cx.now + time;
        cx.wake_at(self.deadline);
    }

    fn allow_step(&mut self, cx: &mut Cx<'_>) {
        self.allow(cx, self.shared.config.limits.step());
    }

    /// Reads what the machine wants and acts on it; then writes what it has to say.
    fn read(&mut self, cx: &mut Cx<'_>) -> Next {
        let mut buffer = [0; READ_BYTES];
        while self.machine.wants() > 0 && !self.over {
            let most = self.machine.wants().min(READ_BYTES);
            match sys::receive(self.fd(), &mut buffer[..most]) {
                Ok(0) => return self.left("closed the control connection"),
                Ok(count) => match self.machine.receive(&buffer[..count]) {
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
                Err(error) => return self.left(&error.to_string()),
            }
        }
        self.flush(cx)
    }

    fn act(&mut self, cx: &mut Cx<'_>, event: Event) -> Option<Next> {
        match event {
            Event::Hello(cookie) => return self.hello(cx, cookie),
            Event::Params(params) => {
                match authenticate(&self.shared, self.auth.as_deref(), &params, self.peer) {
                    Ok(()) => self.begin(cx, *params),
                    Err(denied) => self.fail(&denied.to_string(), ErrorCode::Authentication),
                }
            }
            Event::TestEnd => self.end(cx),
            Event::Results(results) => self.compare(cx, results),
            Event::Done => self.over = true,
            Event::Terminated => {
                self.finish_early("the client ended the test");
                self.over = true;
            }
        }
        None
    }

    /// A known cookie: one more stream of its test. A new one: a test that asks to be admitted.
    fn hello(&mut self, cx: &mut Cx<'_>, cookie: Cookie) -> Option<Next> {
        if let Some(test) = self.shared.tests.find(&cookie) {
            let (socket, connection) = (self.socket.take()?, self.connection.take()?);
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
        self.cookie = Some(cookie);
        match self.shared.request(ClientKey::of(self.peer.ip()), cx.address()) {
            Decision::Admitted => self.admitted(cx),
            Decision::Queued(ahead) => {
                self.queued = Some(cx.address());
                self.allow(cx, Duration::from_secs(self.shared.config.limits.queue_wait_s));
                let fields = json!({"client": self.peer.to_string(), "ahead": ahead});
                self.shared.log.info("test queued", fields);
            }
            Decision::Refused => self.refuse("the server is full"),
        }
        None
    }

    fn admitted(&mut self, cx: &mut Cx<'_>) {
        self.queued = None;
        self.ticket = Some(self.shared.ticket(ClientKey::of(self.peer.ip()), cx.address()));
        self.machine.admit();
        self.allow_step(cx);
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
    }

    fn left(&mut self, how: &str) -> Next {
        if self.running.is_some() {
            self.finish_early(how);
        }
        Next::Close
    }

    /// A test that ended without an exchange of results.
    fn finish_early(&mut self, how: &str) {
        Counters::add(&self.shared.counters.tests_failed, 1);
        let bytes = self.running.as_ref().map_or(0, |running| running.test.bytes());
        let fields = json!({"client": self.peer.to_string(), "because": how, "bytes": bytes});
        self.shared.log.info("test ended early", fields);
    }

    fn begin(&mut self, cx: &mut Cx<'_>, params: Params) {
        let Some(cookie) = self.cookie else { return };
        if let Some((why, code)) = objection(&self.shared, &params) {
            return self.fail(&why, code);
        }
        let udp = params.transport == Transport::Udp;
        if udp && self.shared.tests.opening_datagrams(self.peer.ip()).is_some() {
            // Two tests of one address could not tell their datagrams apart while they begin.
            self.postponed = Some(Box::new(params));
            cx.wake_at(cx.now + POSTPONE);
            return;
        }
        let number = self.shared.tests.next_number();
        let config = &self.shared.config;
        let test = Test::new(number, params, cx.address(), self.peer.ip(), config, &self.listen);
        let test = Arc::new(test);
        if !self.shared.tests.insert(cookie, Arc::clone(&test)) {
            return self.fail("its cookie is that of another test", ErrorCode::Message);
        }
        self.running = Some(Running::new(Arc::clone(&self.shared), cookie, test));
        self.machine.create_streams();
        self.allow_step(cx);
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        running.started = true;
        running.meter = ProcessMeter::start();
        let params = &running.test.params;
        let most = Duration::from_secs(self.shared.config.limits.duration_s);
        let time = match params.end {
            End::Seconds(seconds) if seconds > 0 => {
                Duration::from_secs(u64::from(seconds) + u64::from(params.omit_s)) + GRACE
            }
            _ => most,
        };
        running.test.tell_streams(&self.shared.lanes, Note::Start(cx.now));
        self.machine.start();
        self.allow(cx, time);
        self.look(cx);
    }

    /// The client has sent or received all it wanted.
    fn end(&mut self, cx: &mut Cx<'_>) {
        if let Some(why) = self.too_much() {
            return self.fail(&why, ErrorCode::TotalRate);
        }
        let Some(running) = &mut self.running else { return };
        if !running.started {
            return self.fail("TEST_END before all streams were there", ErrorCode::Message);
        }
        running.load = Some(running.meter.read());
        let test = &running.test;
        for index in 0..test.streams.len() {
            // What a client still has in flight at the end of an amount is part of that amount.
            if test.params.server_sends(index as u32) || !outcome::counts_exactly(&test.params) {
                test.tell_stream(&self.shared.lanes, index, Note::Stop);
            }
        }
        running.asked = Some(Instant::now());
        self.machine.exchange_results();
        self.allow_step(cx);
    }

    fn compare(&mut self, cx: &mut Cx<'_>, client: Box<Results>) {
        let Some(running) = &mut self.running else { return };
        let test = &running.test;
        if outcome::counts_exactly(&test.params) {
            for (index, sent) in outcome::client_bytes(&test.params, &client) {
                test.tell_stream(&self.shared.lanes, index, Note::StopAt(sent));
            }
        }
        running.loaded_rtt = running.asked.map(|asked| asked.elapsed());
        running.client = Some(client);
        self.allow_step(cx);
        self.conclude();
    }

    /// Sends this side's results once all streams have reported and the client's are here.
    fn conclude(&mut self) {
        let Some(running) = &mut self.running else { return };
        let all = running.reported >= running.test.streams.len();
        let Some(client) = running.client.take_if(|_| all) else { return };
        let load = running.load.unwrap_or_else(|| running.meter.read());
        let side =
            Side { test: &running.test, load, client: &client, loaded_rtt: running.loaded_rtt };
        let record = outcome::record(side);
        let counters = &self.shared.counters;
        Counters::add(&counters.tests_finished, 1);
        Counters::add(&counters.bytes_received, record.received_bytes);
        Counters::add(&counters.bytes_sent, record.sent_bytes);
        self.shared.keep_result(record.kept_fields(self.peer));
        self.shared.log.info("test finished", record.log_fields(self.peer));
        self.machine.send_results(&record.results);
    }

    fn reported(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        running.reported += 1;
        if !running.started {
            return self.fail("a stream broke before the test began", ErrorCode::Message);
        }
        self.conclude();
        // A client that vanished without a word: all streams are gone, and the control stays silent.
        if self.running.as_ref().is_some_and(|running| running.load.is_none()) {
            self.allow_step(cx);
        }
    }

    fn joined(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        running.joined += 1;
        if running.joined == running.test.streams.len() {
            self.start(cx);
        }
    }

    /// Does a running test keep its limits?
    fn look(&mut self, cx: &mut Cx<'_>) {
        let runs = |running: &Running| running.started && running.load.is_none();
        if self.shared.config.limits.bytes == 0 || !self.running.as_ref().is_some_and(runs) {
            return;
        }
        match self.too_much() {
            Some(why) => self.fail(&why, ErrorCode::TotalRate),
            None => cx.wake_at(cx.now + LOOK),
        }
    }

    fn too_much(&self) -> Option<String> {
        beyond_limit(&self.shared.config.limits, self.running.as_ref()?.test.bytes())
    }

    fn flush(&mut self, cx: &mut Cx<'_>) -> Next {
        while !self.machine.output().is_empty() {
            match sys::send(self.fd(), self.machine.output(), false) {
                Ok(count) => self.machine.sent(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    cx.wait_for(Interest::BOTH);
                    return Next::Stay;
                }
                Err(error) => return self.left(&error.to_string()),
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
            // A peer that is gone already shows at the first read.
            let _ = stream.set_nodelay(true);
            let _ = socket::keep_alive(stream);
        }
        self.allow_step(cx);
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if self.machine.wants() > 0 {
            return self.read(cx);
        }
        if ready.hung_up() || ready.error() {
            return self.left("closed the control connection");
        }
        self.flush(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if cx.now < self.deadline {
            if let Some(params) = self.postponed.take() {
                self.begin(cx, *params);
            }
            self.look(cx);
            return self.flush(cx);
        }
        if self.queued.is_some() {
            if self.shared.admission().leave_queue(cx.address()) {
                self.queued = None;
                self.refuse("its turn did not come in time");
            }
            // Otherwise its turn has just come, and the note about it is on its way.
            return self.flush(cx);
        }
        if self.over || self.cookie.is_none() {
            return Next::Close;
        }
        let started = self.running.as_ref().is_some_and(|r| r.started && r.load.is_none());
        let code = if started { ErrorCode::MaxDuration } else { ErrorCode::Message };
        let why = self.running.as_ref().map_or("it said no parameters".into(), |running| {
            format!(
                "of {} streams {} had joined and {} ended, {} bytes moved",
                running.test.streams.len(),
                running.joined,
                running.reported,
                running.test.bytes()
            )
        });
        self.fail(&format!("the client kept us waiting: {why}"), code);
        // The last words need a moment at most; a peer that does not read them is dropped.
        self.allow_step(cx);
        self.flush(cx)
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        match note {
            Note::Admitted => self.admitted(cx),
            Note::Joined => self.joined(cx),
            Note::Reported => self.reported(cx),
            Note::Refused => {
                self.fail("the kernel refused an option of a stream", ErrorCode::InitTest);
            }
            Note::Drain => {
                self.queued = None;
                self.refuse("the server is stopping");
            }
            Note::Terminate => {
                self.machine.terminate();
                self.over = true;
            }
            _ => {}
        }
        self.flush(cx)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if let Some(address) = self.queued {
            self.shared.leave_queue(ClientKey::of(self.peer.ip()), address);
        }
    }
}
