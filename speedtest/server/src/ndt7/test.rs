// SPDX-License-Identifier: Apache-2.0
//! A subtest that runs: data, measurements, its end.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::bulk::{Channel, Pacer, Pushed};
use speedtest_net::load::ThreadTime;
use speedtest_net::look::{look, look_at_bbr, look_for_ndt7};
use speedtest_net::options::congestion_of;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, Ready};
use speedtest_net::sys;
use speedtest_proto::ndt7::measurement::{AppInfo, ConnectionInfo, Measurement};
use speedtest_proto::ndt7::pace::measurement_gap;
use speedtest_proto::ndt7::{Subtest, MOST_TIME, TEST_TIME};
use speedtest_proto::series::Series;
use speedtest_proto::websocket::endpoint::Notice;
use speedtest_proto::websocket::{close_code, Role};

use super::outcome::{self, Ended, How};
use super::waiting::{Accepted, Visitor};
use crate::clients;
use crate::shared::{Counters, Shared, Ticket};

/// While the kernel keeps small amounts to itself they are looked for this often.
const LOOK: Duration = Duration::from_millis(20);
/// Rates are seen over this long at least.
const ADAPT_EVERY: Duration = Duration::from_millis(100);
/// A client gets this long to answer a Close.
const FAREWELL: Duration = Duration::from_secs(3);

pub struct Test {
    channel: Channel,
    subtest: Subtest,
    peer: SocketAddr,
    shared: Arc<Shared>,
    accepted: Accepted,
    id: Option<String>,
    early: Vec<u8>,
    uuid: String,
    pacer: Option<Pacer>,
    started: Instant,
    until: Instant,
    most_bytes: Option<u64>,
    load_from: Option<ThreadTime>,
    series: Series,
    next_sample: Instant,
    next_measurement: Instant,
    next_adapt: Instant,
    last_progress: (Instant, u64),
    /// The client's last words about the test.
    client_said: Option<Measurement>,
    /// Since when no new message is begun.
    stopping: Option<Instant>,
    /// Set once the test has ended; the connection then only closes.
    ended: Option<Instant>,
    armed: Option<Instant>,
    // Order matters: the connection ends before its ticket lets the next one in.
    _counted: clients::Connection,
    _ticket: Ticket,
}

impl Test {
    pub fn new(visitor: Visitor, accepted: Accepted, ticket: Ticket) -> Test {
        let Visitor { wire, peer, shared, counted, subtest, id, early, .. } = visitor;
        let now = Instant::now();
        let head = accepted.head.clone();
        let limits = &shared.config.limits;
        let time = if subtest == Subtest::Download { TEST_TIME } else { MOST_TIME };
        let limit = Some(limits.bytes).filter(|bytes| *bytes > 0);
        let exit = accepted.asked.early_exit_bytes.filter(|_| subtest == Subtest::Download);
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
            series: Series::default(),
            next_sample: now,
            next_measurement: now,
            next_adapt: now,
            last_progress: (now, 0),
            client_said: None,
            stopping: None,
            ended: None,
            armed: None,
            _counted: counted,
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

    /// Everything that can be done now: data both ways, then what time asks for.
    fn go_on(&mut self, cx: &mut Cx<'_>) -> Next {
        let moved = self.read(cx).and_then(|()| self.write(cx));
        if let Err(error) = moved {
            self.finish(cx, How::Broken(error.to_string()));
            return Next::Close;
        }
        if self.ended.is_none() && self.is_due(cx) && self.stop(cx).is_err() {
            return Next::Close;
        }
        if self.channel.is_over() {
            self.channel.wire.say_goodbye();
            return Next::Close;
        }
        self.rest(cx);
        Next::Stay
    }

    /// Its time or amount is up: the message that is on its way belongs to the test.
    fn stop(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        let since = *self.stopping.get_or_insert(cx.now);
        if self.channel.is_flushed() || !self.sends() {
            self.finish(cx, How::Complete);
        } else if cx.now >= since + FAREWELL {
            self.finish(cx, How::Broken("the client did not read its last message".into()));
        } else {
            return Ok(());
        }
        self.channel.endpoint.close(close_code::NORMAL);
        self.write(cx)
    }

    fn is_due(&self, cx: &Cx<'_>) -> bool {
        cx.now >= self.until || self.most_bytes.is_some_and(|most| self.bytes() >= most)
    }

    fn read(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        if self.waits_for_rate(cx.now) && !self.sends() {
            return Ok(());
        }
        let before = self.channel.received_bytes();
        let most = self.pacer.as_ref().filter(|_| !self.sends()).map_or(u64::MAX, |_| self.turn());
        let notices = self.channel.pull(most)?;
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
        if self.sends() && self.channel.received_bytes() > 0 && self.ended.is_none() {
            self.finish(cx, How::Broken("the client sent data in a download".into()));
            self.channel.endpoint.close(close_code::UNSUPPORTED);
        }
    }

    fn write(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        let runs = self.ended.is_none() && self.stopping.is_none() && !self.is_due(cx);
        let data = match (self.sends() && runs, self.pacer.is_some()) {
            (false, _) => 0,
            (true, true) if self.waits_for_rate(cx.now) => 0,
            (true, true) => self.turn(),
            (true, false) => u64::MAX,
        };
        let before = self.channel.sent_bytes();
        let pushed = self.channel.push(data)?;
        if self.ended.is_none() {
            self.moved(cx, self.channel.sent_bytes() - before);
        }
        let waiting = self.waits_for_rate(cx.now);
        let sending = data > 0 && !waiting && pushed != Pushed::Idle;
        let interest = self.channel.interest(sending);
        let deaf = !self.sends() && waiting && self.ended.is_none();
        cx.wait_for(if deaf { Interest::NOTHING } else { interest });
        Ok(())
    }

    /// A paced test moves what ten milliseconds bring.
    fn turn(&self) -> u64 {
        (self.shared.config.limits.rate_bps / 800).max(4096)
    }

    fn waits_for_rate(&self, now: Instant) -> bool {
        self.ended.is_none() && self.pacer.as_ref().is_some_and(|pacer| pacer.due() > now)
    }

    fn moved(&mut self, cx: &Cx<'_>, bytes: u64) {
        if bytes == 0 {
            return;
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.moved(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        self.last_progress = (cx.now, self.bytes());
        let counters = &self.shared.counters;
        let of = if self.sends() { &counters.bytes_sent } else { &counters.bytes_received };
        Counters::add(of, bytes);
    }

    /// Samples and measurements whose time has come, and the next wake-up.
    fn rest(&mut self, cx: &mut Cx<'_>) {
        let mut next = self.until;
        if let Some(since) = self.ended.or(self.stopping) {
            next = since + FAREWELL;
        } else {
            next = next.min(self.observe(cx));
            if let Some(pacer) = self.pacer.as_ref().filter(|pacer| pacer.due() > cx.now) {
                next = next.min(pacer.due());
            }
        }
        if self.channel.has_unread() {
            // Just after the others have had their turn.
            next = cx.now + Duration::from_micros(1);
        }
        if self.armed.is_none_or(|armed| armed > next || armed <= cx.now) {
            self.armed = Some(next);
            cx.wake_at(next);
        }
    }

    /// Looks at TCP_INFO, for the result and for the client. Says when to look again.
    fn observe(&mut self, cx: &mut Cx<'_>) -> Instant {
        if cx.now >= self.next_sample {
            self.sample(cx.now);
            let every = Duration::from_millis(self.shared.config.server.sample_ms);
            self.next_sample = cx.now + every;
        }
        if cx.now >= self.next_measurement {
            // A client that does not read gets no second text while the first one waits.
            if self.channel.is_flushed() || self.sends() {
                self.say_measurement(cx.now);
            }
            self.next_measurement = cx.now + measurement_gap(random() as f64 / u64::MAX as f64);
        }
        if !self.sends() && self.pacer.is_none() && cx.now >= self.next_adapt {
            // Without it the loop only wakes more often.
            let _ = self.channel.adapt_threshold(cx.now);
            self.next_adapt = cx.now + ADAPT_EVERY;
        }
        let mut next = self.next_sample.min(self.next_measurement);
        if !self.sends() && self.pacer.is_none() {
            next = next.min(self.next_adapt);
            if self.channel.waits_for_much() {
                next = next.min(cx.now + LOOK);
            }
        }
        next
    }

    fn sample(&mut self, now: Instant) {
        let bytes = self.bytes();
        if let Some(sample) = look(self.channel.wire.as_raw_fd(), now - self.started, bytes) {
            self.series.push(sample);
        }
    }

    fn say_measurement(&mut self, now: Instant) {
        let (fd, time) = (self.channel.wire.as_raw_fd(), now - self.started);
        let server = self.channel.wire.socket().local_addr();
        let measurement = Measurement {
            app_info: Some(AppInfo {
                elapsed_time: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
                num_bytes: self.bytes(),
            }),
            bbr_info: look_at_bbr(fd, time),
            connection_info: Some(ConnectionInfo {
                client: self.peer.to_string(),
                server: server.map(|address| address.to_string()).unwrap_or_default(),
                uuid: self.uuid.clone(),
            }),
            origin: Some("server".into()),
            test: Some(self.subtest.name().into()),
            tcp_info: look_for_ndt7(fd, time),
        };
        self.channel.endpoint.say(&measurement.to_text());
    }

    /// The test is over, in this way; does nothing the second time.
    fn finish(&mut self, cx: &mut Cx<'_>, how: How) {
        if self.ended.is_some() {
            return;
        }
        self.sample(cx.now);
        self.say_measurement(cx.now);
        self.ended = Some(cx.now);
        let last = if self.sends() { cx.now } else { self.last_progress.0 };
        let load = self.load_from.map(|from| cx.meter.read().since(&from)).unwrap_or_default();
        let ended = Ended {
            subtest: self.subtest,
            peer: self.peer,
            uuid: &self.uuid,
            bytes: self.bytes(),
            time: last - self.started,
            congestion: congestion_of(self.channel.wire.socket()),
            tls: self.channel.wire.is_tls(),
            limit_bps: Some(self.shared.config.limits.rate_bps).filter(|rate| *rate > 0),
            load,
            series: &self.series,
            metadata: &self.accepted.asked.metadata,
            client_said: self.client_said.as_ref(),
        };
        outcome::tell(&self.shared, &ended, &how, self.id.as_deref());
    }
}

/// Uniform over all values; where the kernel has no random bytes, always the same.
fn random() -> u64 {
    let mut bytes = [0; 8];
    // Only spreads measurements and names connections: nothing depends on its quality.
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
        self.last_progress.0 = cx.now;
        self.load_from = Some(cx.meter.read());
        self.next_adapt = cx.now + ADAPT_EVERY / 10;
        let mut notices = Vec::new();
        self.channel.take(&std::mem::take(&mut self.early), &mut notices);
        self.heed(cx, notices);
        self.go_on(cx)
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if ready.error() {
            self.finish(cx, How::Broken("the connection broke".into()));
            return Next::Close;
        }
        self.go_on(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.ended.is_some_and(|ended| cx.now >= ended + FAREWELL) {
            return Next::Close;
        }
        self.go_on(cx)
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        match note {
            Note::Terminate => {
                self.finish(cx, How::Broken("the server stops".into()));
                self.channel.endpoint.close(close_code::GOING_AWAY);
                self.go_on(cx)
            }
            Note::Close => Next::Close,
            _ => Next::Stay,
        }
    }
}
