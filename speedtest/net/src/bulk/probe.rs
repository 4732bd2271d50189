// SPDX-License-Identifier: Apache-2.0
//! State, sampling, omission and report that sender and receiver share.

use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_proto::series::Series;

use super::omission::Omission;
use super::{Event, Guard, Report, Spec, Stream};
use crate::load::ThreadTime;
use crate::look::look;
use crate::options::congestion_of;
use crate::reactor::Cx;

/// Time of a stream's first sample: early, because the receive threshold follows its rate.
const FIRST_TICK: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    Running,
    Reported,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    bytes: u64,
    retransmits: u32,
}

/// Watches one TCP socket from `Start` to the report.
pub(super) struct Probe {
    pub socket: TcpStream,
    pub spec: Spec,
    pub phase: Phase,
    pub bytes: u64,
    shared: Arc<Stream>,
    started: Instant,
    next_tick: Instant,
    omission: Omission<Counted>,
    load_from: Option<ThreadTime>,
    series: Series,
    _guard: Guard,
}

impl Probe {
    pub fn new(socket: TcpStream, spec: Spec, shared: Arc<Stream>, guard: Guard) -> Probe {
        let now = Instant::now();
        Probe {
            socket,
            spec,
            phase: Phase::Waiting,
            bytes: 0,
            shared,
            started: now,
            next_tick: now,
            omission: Omission::new(now, Duration::ZERO, Counted::default()),
            load_from: None,
            series: Series::default(),
            _guard: guard,
        }
    }

    pub fn enter(&self, cx: &Cx<'_>) {
        // A stream enters one loop once; a second address would be a bug of the caller.
        let _ = self.shared.address.set(cx.address());
        self.spec.charge(cx);
        cx.lanes.tell(self.spec.owner, Event::Joined);
    }

    /// Start counting; the test began at `began`.
    pub fn start(&mut self, cx: &mut Cx<'_>, began: Instant) {
        self.phase = Phase::Running;
        self.started = began;
        self.load_from = Some(cx.meter.read());
        self.sample(Instant::now());
        self.omission = Omission::new(began, self.spec.omit, self.counted());
        self.next_tick = cx.now + FIRST_TICK.min(self.spec.sample_every);
        cx.wake_at(self.next_tick);
    }

    pub fn moved(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.series.moved(bytes as u64);
        self.spec.moved.fetch_add(bytes as u64, Ordering::Relaxed);
        self.shared.bytes.store(self.bytes, Ordering::Relaxed);
    }

    /// Sample if it is time; return whether it was.
    pub fn tick(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.phase != Phase::Running || cx.now < self.next_tick {
            return false;
        }
        let now = Instant::now();
        self.sample(now);
        self.omission.look(now, self.counted());
        self.next_tick = self.omission.next_look(cx.now + self.spec.sample_every);
        cx.wake_at(self.next_tick);
        true
    }

    fn counted(&self) -> Counted {
        Counted { bytes: self.bytes, retransmits: self.series.last().retransmits }
    }

    fn sample(&mut self, now: Instant) {
        if let Some(sample) = look(self.socket.as_raw_fd(), now - self.started, self.bytes) {
            self.series.push(sample);
        }
    }

    /// Store the report and notify the owner, once.
    pub fn report(&mut self, cx: &mut Cx<'_>) {
        if self.phase == Phase::Reported {
            return;
        }
        self.phase = Phase::Reported;
        // Use the current time: counted bytes may have moved after this turn began.
        let now = Instant::now();
        self.sample(now);
        let load = self.load_from.map(|from| cx.meter.read().since(&from)).unwrap_or_default();
        let from = self.omission.counted_from(now);
        let retransmits = self.series.last().retransmits;
        self.shared.put_report(Report {
            bytes: self.bytes - from.counted.bytes,
            duration: now - from.at,
            retransmits: retransmits.saturating_sub(from.counted.retransmits),
            congestion: congestion_of(&self.socket),
            series: std::mem::take(&mut self.series),
            load,
            datagrams: None,
        });
        cx.lanes.tell(self.spec.owner, Event::Reported);
    }
}
