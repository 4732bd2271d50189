// SPDX-License-Identifier: Apache-2.0
//! Client's side of one test: the control connection, its streams, the end.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::mpsc::Sender;
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::bulk::{Budget, Event, Order, Report, Spec, Stream};
use speedtest_net::load::ProcessMeter;
use speedtest_net::options::Options;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, Ready};
use speedtest_net::{socket, sys};
use speedtest_proto::iperf3::{
    stream_ids, Client, Cookie, End, Params, Reply, Results, StreamResult,
};

use super::report::Outcome;
use super::stream::Dialing;

const READ_BYTES: usize = 16 << 10;
/// Interval at which a test by amount is checked.
const LOOK: Duration = Duration::from_millis(5);
const SAMPLE_EVERY: Duration = Duration::from_millis(500);

pub struct Test {
    number: usize,
    /// Server as the user wrote it.
    place: String,
    address: SocketAddr,
    socket: TcpStream,
    cookie: Cookie,
    params: Params,
    machine: Client,
    budget: Option<Arc<Budget>>,
    streams: Vec<Arc<Stream>>,
    reports: Vec<Report>,
    reported: usize,
    meter: ProcessMeter,
    until: Option<Instant>,
    ending: bool,
    mine: Option<Results>,
    outcomes: Sender<Outcome>,
    told: bool,
}

impl Test {
    pub fn begin(
        number: usize,
        (place, address): (String, SocketAddr),
        params: Params,
        outcomes: Sender<Outcome>,
    ) -> io::Result<Test> {
        let mut random = [0; 36];
        sys::random(&mut random)?;
        let cookie = Cookie::from_random(&random);
        Ok(Test {
            number,
            place,
            address,
            socket: socket::connect(address, &Options::default())?,
            cookie,
            machine: Client::new(&cookie, params.clone()),
            budget: params.amount_bytes().map(|bytes| Arc::new(Budget::new(bytes))),
            streams: Vec::new(),
            reports: Vec::new(),
            reported: 0,
            meter: ProcessMeter::start(),
            until: None,
            ending: false,
            mine: None,
            outcomes,
            told: false,
            params,
        })
    }

    fn fail(&mut self, why: String) -> Next {
        self.tell(Outcome::failed(why));
        Next::Close
    }

    fn tell(&mut self, outcome: Outcome) {
        self.told = true;
        // The receiver is gone only when the whole run is cancelled.
        let _ = self.outcomes.send(outcome);
    }

    fn read(&mut self, cx: &mut Cx<'_>) -> Next {
        let mut buffer = [0; READ_BYTES];
        while self.machine.wants() > 0 {
            let most = self.machine.wants().min(READ_BYTES);
            match sys::receive(&self.socket, &mut buffer[..most]) {
                Ok(0) => return self.fail("the server closed the connection".into()),
                Ok(count) => match self.machine.receive(&buffer[..count]) {
                    Ok(None) => {}
                    Ok(Some(reply)) => {
                        if let Err(error) = self.act(cx, reply) {
                            return self.fail(error.to_string());
                        }
                    }
                    Err(error) => return self.fail(error.to_string()),
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return self.fail(error.to_string()),
            }
        }
        self.flush(cx)
    }

    fn act(&mut self, cx: &mut Cx<'_>, reply: Reply) -> io::Result<()> {
        match reply {
            Reply::CreateStreams => self.dial(cx)?,
            Reply::Running => self.start(cx),
            Reply::ExchangeResults => {
                let mine = self.results();
                self.machine.send_results(&mine);
                self.mine = Some(mine);
            }
            Reply::Results(theirs) => {
                if let Some(mine) = self.mine.take() {
                    self.tell(Outcome::finished(&self.params, mine, *theirs));
                }
            }
        }
        Ok(())
    }

    /// Connect the next stream: one after another, since their order tells their direction.
    fn dial(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        let index = self.streams.len();
        let shared = Arc::<Stream>::default();
        self.streams.push(Arc::clone(&shared));
        let options = Options {
            congestion: self.params.congestion.clone(),
            window_bytes: self.params.window_bytes,
            mss: self.params.mss,
            ..Options::default()
        };
        let spec = Spec {
            owner: cx.address(),
            block_bytes: self.params.block_bytes as usize,
            rate_bps: self.params.rate_bps,
            burst_blocks: 0,
            budget: self.budget.clone(),
            zero_copy: false,
            close_at_end: false,
            omit: Duration::from_secs(self.params.omit_s.into()),
            sample_every: SAMPLE_EVERY,
            moved: Arc::default(),
            loop_time: None,
        };
        let sends = !self.params.server_sends(index as u32);
        let spec = if sends { spec } else { Spec { rate_bps: None, ..spec } };
        let stream = Dialing::begin(self.address, &options, self.cookie, sends, spec, shared)?;
        let lane = (self.number + index) % cx.lanes.count();
        cx.lanes.adopt(lane, Box::new(stream));
        Ok(())
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.meter = ProcessMeter::start();
        self.tell_streams(cx, Order::Start(cx.now));
        match self.params.end {
            End::Seconds(seconds) => {
                let time = Duration::from_secs(u64::from(seconds) + u64::from(self.params.omit_s));
                self.until = Some(cx.now + time);
                cx.wake_at(cx.now + time);
            }
            End::Bytes(_) | End::Blocks(_) => cx.wake_at(cx.now + LOOK),
        }
    }

    fn tell_streams(&self, cx: &Cx<'_>, order: Order) {
        for address in self.streams.iter().filter_map(|stream| stream.address()) {
            cx.lanes.tell(address, order);
        }
    }

    /// Return whether the test has moved all its bytes.
    fn complete(&self, now: Instant) -> bool {
        let Some(amount) = self.params.amount_bytes() else {
            return self.until.is_some_and(|until| now >= until);
        };
        let moved = |sent: bool| -> u64 {
            let streams = self.streams.iter().enumerate();
            let these = streams.filter(|(at, _)| self.params.server_sends(*at as u32) != sent);
            these.map(|(_, stream)| stream.bytes()).sum()
        };
        moved(true) >= amount || moved(false) >= amount
    }

    fn reported(&mut self) {
        self.reported += 1;
        if self.reported == self.streams.len() && self.ending {
            self.machine.end();
        }
    }

    fn results(&mut self) -> Results {
        self.reports = self.streams.iter().filter_map(|stream| stream.take_report()).collect();
        let load = self.meter.read();
        let streams = stream_ids().zip(&self.reports).enumerate();
        Results {
            cpu_util_total: load.total_percent,
            cpu_util_user: load.user_percent,
            cpu_util_system: load.system_percent,
            sender_has_retransmits: if self.params.server_sends(0) { -1 } else { 1 },
            congestion_used: self.reports.iter().find_map(|report| report.congestion.clone()),
            server_output_json: None,
            server_output_text: None,
            streams: streams.map(|(index, (id, report))| self.stream(index, id, report)).collect(),
        }
    }

    fn stream(&self, index: usize, id: u32, report: &Report) -> StreamResult {
        let sent = !self.params.server_sends(index as u32);
        StreamResult {
            id,
            bytes: report.bytes,
            retransmits: if sent { i64::from(report.retransmits) } else { -1 },
            jitter: 0.0,
            errors: 0,
            omitted_errors: 0,
            packets: 0,
            omitted_packets: 0,
            start_time: 0.0,
            end_time: report.duration.as_secs_f64(),
        }
    }

    fn flush(&mut self, cx: &mut Cx<'_>) -> Next {
        while !self.machine.output().is_empty() {
            match sys::send(&self.socket, self.machine.output(), false) {
                Ok(count) => self.machine.sent(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    cx.wait_for(Interest::BOTH);
                    return Next::Stay;
                }
                Err(error) => return self.fail(error.to_string()),
            }
        }
        if self.told {
            self.tell_streams(cx, Order::Close);
            return Next::Close;
        }
        cx.wait_for(Interest::READ);
        Next::Stay
    }
}

impl Handler for Test {
    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wait_for(Interest::WRITE);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if ready.error() {
            let error = self.socket.take_error().ok().flatten();
            let why = error.map_or("the connection broke".into(), |e| e.to_string());
            return self.fail(format!("{}: {why}", self.place));
        }
        if ready.readable() {
            self.read(cx)
        } else {
            self.flush(cx)
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.ending {
            return Next::Stay;
        }
        if self.complete(cx.now) {
            self.ending = true;
            self.tell_streams(cx, Order::Stop);
        } else if self.until.is_none() {
            cx.wake_at(cx.now + LOOK);
        }
        Next::Stay
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        match note.word() {
            Some(Event::Joined) if self.streams.len() < self.params.total_streams() as usize => {
                if let Err(error) = self.dial(cx) {
                    return self.fail(error.to_string());
                }
            }
            Some(Event::Refused) => return self.fail("a stream could not connect".into()),
            Some(Event::Reported) => self.reported(),
            _ => {}
        }
        self.flush(cx)
    }
}
