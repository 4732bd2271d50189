// SPDX-License-Identifier: Apache-2.0
//! Running subtest: its data in both directions, its time, its limits.

mod observing;

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::bulk::{Channel, Pacer, Pushed};
use speedtest_net::load::ThreadTime;
use speedtest_net::loop_time::LoopTime;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, PeerInstant, Ready};
use speedtest_net::sys;
use speedtest_proto::ndt7::measurement::Measurement;
use speedtest_proto::ndt7::{Subtest, MOST_TIME, TEST_TIME};
use speedtest_proto::series::Series;
use speedtest_proto::websocket::endpoint::Notice;
use speedtest_proto::websocket::{close_code, Role};

use super::outcome::How;
use super::waiting::{Accepted, PendingConnection};
use super::Context;
use crate::accounts::Account;
use crate::admission::{Call, Ticket};
use crate::clients::{self, ClientKey};
use crate::counters::Counters;
use crate::other_load::SinceBegin;

/// Least time over which rates are averaged.
const ADAPT_EVERY: Duration = Duration::from_millis(100);
/// Time that a client gets to answer a Close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

pub struct Test {
    channel: Channel,
    subtest: Subtest,
    peer: SocketAddr,
    shared: Arc<Context>,
    client: ClientKey,
    account: Arc<Account>,
    accepted: Accepted,
    id: Option<String>,
    early: Vec<u8>,
    uuid: String,
    pacer: Option<Pacer>,
    started: Instant,
    until: Instant,
    most_bytes: Option<u64>,
    load_from: Option<ThreadTime>,
    /// Loop time that this connection is charged to, and the load next to it since the test began.
    loop_time: Arc<LoopTime>,
    beside: Option<SinceBegin>,
    series: Series,
    next_sample: Instant,
    next_measurement: Instant,
    next_adapt: Instant,
    last_progress: Instant,
    /// The client must have moved something until then, or taken the end.
    deadline: PeerInstant,
    /// Last measurement of the client.
    client_said: Option<Measurement>,
    /// No new message is begun.
    stopping: bool,
    /// The test has ended; the connection then only closes.
    ended: bool,
    armed: Option<Instant>,
    // Order matters: the connection ends before its ticket lets the next one in.
    _counted: clients::Connection,
    _ticket: Ticket,
}

impl Test {
    pub fn new(pending: PendingConnection, accepted: Accepted, ticket: Ticket) -> Test {
        let PendingConnection { wire, peer, shared, counted, client, subtest, id, early, .. } =
            pending;
        let now = Instant::now();
        let head = accepted.head.clone();
        let limits = &shared.limits;
        let time = if subtest == Subtest::Download { TEST_TIME } else { MOST_TIME };
        let limit = Some(limits.bytes).filter(|bytes| *bytes > 0);
        let exit = accepted.query.early_exit_bytes.filter(|_| subtest == Subtest::Download);
        Test {
            channel: Channel::new(wire, Role::Server, random() as u32, head, now),
            subtest,
            peer,
            accepted,
            id,
            early,
            uuid: format!("{:016x}", random()),
            pacer: Some(limits.rate_bps).filter(|r| *r > 0).map(|rate| Pacer::new(now, rate)),
            started: now,
            until: now + time.min(Duration::from_secs(limits.duration_s)),
            most_bytes: exit.into_iter().chain(limit).min(),
            load_from: None,
            loop_time: shared.other_load.loop_time(),
            beside: None,
            series: Series::default(),
            next_sample: now,
            next_measurement: now,
            next_adapt: now,
            last_progress: now,
            deadline: PeerInstant::outside(),
            client_said: None,
            stopping: false,
            ended: false,
            armed: None,
            _counted: counted,
            account: shared.accounts.of(client, now),
            client,
            _ticket: ticket,
            shared,
        }
    }

    fn sends(&self) -> bool {
        self.subtest == Subtest::Download
    }

    fn bytes(&self) -> u64 {
        if self.sends() {
            self.channel.sent_bytes()
        } else {
            self.channel.received_bytes()
        }
    }

    /// Do all work that is possible now: data in both directions, then timers.
    fn go_on(&mut self, cx: &mut Cx<'_>) -> Next {
        let moved = self.read(cx).and_then(|()| match self.write(cx) {
            // Received bytes of an upload are still read, then its end is found.
            Err(_gone) if !self.sends() && !self.ended => {
                cx.wait_for(self.channel.wire.interest(Interest::READ));
                Ok(())
            }
            written => written,
        });
        if let Err(error) = moved {
            let how = self.left(&error);
            self.finish(cx, how);
            return Next::Close;
        }
        if !self.ended && !self.stopping && cx.peer_now() >= self.deadline {
            self.finish(cx, How::Broken("nothing was transferred".into()));
            self.channel.endpoint.close(close_code::GOING_AWAY);
        }
        if !self.ended && self.is_due(cx) && self.stop(cx).is_err() {
            return Next::Close;
        }
        if self.channel.is_over() {
            self.channel.wire.close_notify();
            return Next::Close;
        }
        self.schedule(cx);
        // epoll does not report data that TLS has decrypted.
        if self.channel.has_unread() && !self.waits_for_rate(Instant::now()) {
            return Next::Again;
        }
        Next::Stay
    }

    /// Judge a connection that ended without a Close. M-Lab's clients end an upload in this way,
    /// and its server takes it as complete: all that they sent has arrived.
    fn left(&self, error: &io::Error) -> How {
        let gone = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
        if !self.sends() && self.bytes() > 0 && gone.contains(&error.kind()) {
            How::Left
        } else {
            How::Broken(error.to_string())
        }
    }

    /// Stop at the end of time or amount; a partly sent message belongs to the test.
    fn stop(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        if !self.stopping {
            self.stopping = true;
            self.deadline = cx.peer_now() + CLOSE_TIMEOUT;
        }
        if self.channel.is_flushed() || !self.sends() {
            self.finish(cx, How::Complete);
        } else if cx.peer_now() >= self.deadline {
            self.finish(cx, How::Broken("the client did not read its last message".into()));
        } else {
            return Ok(());
        }
        self.channel.endpoint.close(close_code::NORMAL);
        self.write(cx)
    }

    fn is_due(&self, cx: &Cx<'_>) -> bool {
        let spent = || self.account.is_over(cx.now);
        cx.now >= self.until || self.most_bytes.is_some_and(|most| self.bytes() >= most) || spent()
    }

    fn read(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        if self.waits_for_rate(cx.now) && !self.sends() {
            return Ok(());
        }
        let before = self.channel.received_bytes();
        let most = self.pacer.as_ref().filter(|_| !self.sends()).map_or(u64::MAX, |_| self.turn());
        let notices = self.channel.pull(most, &mut cx.turn)?;
        self.moved(cx, self.channel.received_bytes() - before);
        self.heed(cx, notices);
        Ok(())
    }

    fn heed(&mut self, cx: &mut Cx<'_>, notices: Vec<Notice>) {
        for notice in notices {
            match notice {
                Notice::Text(text) => {
                    self.client_said = Measurement::of_text(&text).or(self.client_said.take());
                }
                Notice::Closed(_) => self.finish(cx, How::Complete),
                Notice::Broken(violation) => self.finish(cx, How::Broken(violation.to_string())),
            }
        }
        if self.sends() && self.channel.received_bytes() > 0 && !self.ended {
            self.finish(cx, How::Broken("the client sent data in a download".into()));
            self.channel.endpoint.close(close_code::UNSUPPORTED);
        }
    }

    fn write(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        let runs = !self.ended && !self.stopping && !self.is_due(cx);
        let data = match (self.sends() && runs, self.pacer.is_some()) {
            (false, _) => 0,
            (true, true) if self.waits_for_rate(cx.now) => 0,
            (true, true) => self.turn(),
            (true, false) => u64::MAX,
        };
        let before = self.channel.sent_bytes();
        let pushed = self.channel.push(data, &mut cx.turn)?;
        if !self.ended {
            self.moved(cx, self.channel.sent_bytes() - before);
        }
        let waiting = self.waits_for_rate(cx.now);
        let sending = data > 0 && !waiting && pushed != Pushed::Idle;
        let interest = self.channel.interest(sending);
        let deaf = !self.sends() && waiting && !self.ended;
        cx.wait_for(if deaf { Interest::NOTHING } else { interest });
        Ok(())
    }

    /// Return the bytes of a turn: 10 ms' worth for a paced test.
    fn turn(&self) -> u64 {
        (self.shared.limits.rate_bps / 800).max(4096)
    }

    fn waits_for_rate(&self, now: Instant) -> bool {
        !self.ended && self.pacer.as_ref().is_some_and(|pacer| pacer.due() > now)
    }

    fn moved(&mut self, cx: &Cx<'_>, bytes: u64) {
        if bytes == 0 {
            return;
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.moved(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        let now = Instant::now();
        self.last_progress = now;
        if !self.ended && !self.stopping {
            self.deadline = cx.peer_now() + self.shared.limits.idle();
        }
        self.shared.accounts.moved(&self.account, bytes, now);
        self.series.moved(bytes);
        let counters = &self.shared.counters;
        let of = if self.sends() { &counters.bytes_sent } else { &counters.bytes_received };
        Counters::add(of, bytes);
    }

    /// Take samples and measurements that are due, and set the next wake-up.
    fn schedule(&mut self, cx: &mut Cx<'_>) {
        let mut next = cx.when(self.deadline);
        if !self.ended && !self.stopping {
            next = next.min(self.until).min(self.observe(cx));
            if let Some(pacer) = self.pacer.as_ref().filter(|pacer| pacer.due() > cx.now) {
                next = next.min(pacer.due());
            }
        }
        if self.armed.is_none_or(|armed| armed > next || armed <= cx.now) {
            self.armed = Some(next);
            cx.wake_at(next);
        }
    }
}

/// Return a uniform random value; always the same if the kernel has no random bytes.
fn random() -> u64 {
    let mut bytes = [0; 8];
    // It only spreads measurements and names connections: nothing depends on its quality.
    let _ = sys::random(&mut bytes);
    u64::from_le_bytes(bytes)
}

impl Handler for Test {
    fn fd(&self) -> RawFd {
        self.channel.wire.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        let shift = cx.now.saturating_duration_since(self.started);
        self.started += shift;
        self.until += shift;
        self.last_progress = cx.now;
        // A test that moves nothing gives its place to another.
        self.deadline = cx.peer_now() + self.shared.limits.idle();
        cx.charge(&self.loop_time);
        self.beside = Some(self.shared.other_load.begin(Arc::clone(&self.loop_time)));
        self.load_from = Some(cx.meter.read());
        self.next_adapt = cx.now + ADAPT_EVERY / 10;
        self.channel.came_early(std::mem::take(&mut self.early));
        self.go_on(cx)
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        // An upload reads what came before the error, then finds the error.
        if ready.error() && (self.sends() || self.waits_for_rate(cx.now)) {
            let how = self.left(&ErrorKind::ConnectionReset.into());
            self.finish(cx, how);
            return Next::Close;
        }
        self.go_on(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.ended && cx.peer_now() >= self.deadline {
            return Next::Close;
        }
        self.go_on(cx)
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        match note.word() {
            Some(Call::Terminate) => {
                self.finish(cx, How::Broken("the server stops".into()));
                self.channel.endpoint.close(close_code::GOING_AWAY);
                self.go_on(cx)
            }
            _ => Next::Stay,
        }
    }
}
