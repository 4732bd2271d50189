// SPDX-License-Identifier: Apache-2.0
//! Sender and receiver of a stream of datagrams.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_proto::iperf3::udp::{Arrivals, Header, HEADER_BYTES};
use speedtest_proto::series::Series;

use super::hot::HOT;
use super::omission::Omission;
use super::pacer::Pacer;
use super::{Datagrams, Event, Guard, Order, Report, Spec, Stream};
use crate::load::ThreadTime;
use crate::reactor::{Cx, Handler, Interest, Next, Note, Ready};
use crate::sys;
use crate::turn::{Turn, Work};

/// Least space of a datagram in the receive buffer, in bytes: the kernel counts its own bookkeeping
/// too.
const LEAST_OF_BUFFER: u64 = 256;

/// Stream of datagrams that either sends or receives.
pub struct DatagramStream {
    socket: UdpSocket,
    spec: Spec,
    shared: Arc<Stream>,
    sends: bool,
    wide: bool,
    started: Option<(Instant, ThreadTime)>,
    reported: bool,
    /// Bytes of the receive buffer that may still hold datagrams from before the end of the test.
    queued: Option<u64>,
    arrivals: Arrivals,
    bytes: u64,
    /// Omitted part of the byte and arrival counters.
    omission: Omission<(u64, Arrivals)>,
    next_look: Instant,
    pacer: Option<Pacer>,
    armed: Option<Instant>,
    packet: Vec<u8>,
    _guard: Guard,
}

impl DatagramStream {
    /// Make a stream. `wide`: datagrams carry a 64-bit counter.
    pub fn new(
        socket: UdpSocket,
        spec: Spec,
        shared: Arc<Stream>,
        sends: bool,
        wide: bool,
        guard: Guard,
    ) -> DatagramStream {
        let packet = if sends { HOT[..spec.block_bytes].to_vec() } else { Vec::new() };
        let now = Instant::now();
        DatagramStream {
            socket,
            spec,
            shared,
            sends,
            wide,
            started: None,
            reported: false,
            queued: None,
            arrivals: Arrivals::default(),
            bytes: 0,
            omission: Omission::new(now, Duration::ZERO, Default::default()),
            next_look: now,
            pacer: None,
            armed: None,
            packet,
            _guard: guard,
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>, began: Instant) {
        self.started = Some((began, cx.meter.read()));
        self.pacer = self.spec.rate_bps.map(|rate| Pacer::new(began, rate));
        self.omission = Omission::new(began, self.spec.omit, (self.bytes, self.arrivals));
        self.next_look = cx.now;
        self.look(cx);
        cx.wait_for(if self.sends { Interest::WRITE } else { Interest::READ });
    }

    /// Sample the counters over the omitted time.
    fn look(&mut self, cx: &mut Cx<'_>) {
        if self.omission.is_over() || cx.now < self.next_look {
            return;
        }
        self.omission.look(Instant::now(), (self.bytes, self.arrivals));
        if !self.omission.is_over() {
            self.next_look = self.omission.next_look(cx.now + self.spec.sample_every);
            cx.wake_at(self.next_look);
        }
    }

    /// Return microseconds since the stream was made; callers use only differences.
    fn clock_us(&self) -> u64 {
        let since = self.started.map_or(Duration::ZERO, |(start, _)| start.elapsed());
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    }

    fn moved(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.spec.moved.fetch_add(bytes as u64, std::sync::atomic::Ordering::Relaxed);
        self.shared.bytes.store(self.bytes, std::sync::atomic::Ordering::Relaxed);
    }

    /// Count received datagrams. Return false when none are left or the end is reached.
    fn receive(&mut self, turn: &mut Turn) -> bool {
        let mut header = [0; HEADER_BYTES];
        while self.queued != Some(0) {
            // Returning without a wake-up is safe: the socket stays readable.
            if turn.left(Work::Datagrams) == 0 {
                return true;
            }
            turn.spend(Work::Datagrams, 1);
            match sys::receive_start(&self.socket, &mut header) {
                Ok(bytes) => {
                    self.moved(bytes);
                    if let Some(queued) = &mut self.queued {
                        *queued = queued.saturating_sub((bytes as u64).max(LEAST_OF_BUFFER));
                    }
                    if bytes >= HEADER_BYTES {
                        let arrived_us = self.clock_us();
                        self.arrivals.count(Header::decode(&header, self.wide), arrived_us);
                    }
                }
                Err(_) => return false,
            }
        }
        false
    }

    /// End the test. Datagrams already in the receive buffer belong to it. A sender that continues
    /// does not delay the report.
    fn stop(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.sends || !self.running() {
            self.report(cx);
            return Next::Stay;
        }
        let (buffer, _) = sys::buffer_limits(self.socket.as_raw_fd()).unwrap_or_default();
        self.queued = Some(buffer.into());
        self.again(cx)
    }

    fn send(&mut self, cx: &mut Cx<'_>) {
        while cx.turn.left(Work::Datagrams) > 0 {
            cx.turn.spend(Work::Datagrams, 1);
            if let Some(due) = self.pacer.as_ref().map(Pacer::due).filter(|due| *due > cx.now) {
                cx.wait_for(Interest::NOTHING);
                if self.armed.is_none_or(|at| at <= cx.now) {
                    self.armed = Some(due);
                    cx.wake_at(due);
                }
                return;
            }
            let left = self.spec.budget.as_ref().map_or(usize::MAX, |b| b.take(self.packet.len()));
            if left == 0 {
                cx.wait_for(Interest::NOTHING);
                return;
            }
            let header = Header { sent_us: self.clock_us(), number: self.arrivals.packets + 1 };
            self.packet[..HEADER_BYTES].copy_from_slice(&header.encode(self.wide));
            match sys::send(&self.socket, &self.packet, false) {
                Ok(bytes) => {
                    self.arrivals.packets += 1;
                    self.moved(bytes);
                    if let Some(pacer) = &mut self.pacer {
                        pacer.moved(bytes);
                    }
                }
                Err(error) => {
                    if let Some(budget) = &self.spec.budget {
                        budget.give_back(self.packet.len());
                    }
                    // A closed port shows here; the control connection reports it.
                    if error.kind() != ErrorKind::WouldBlock {
                        cx.wait_for(Interest::NOTHING);
                        return;
                    }
                    break;
                }
            }
        }
        cx.wait_for(Interest::WRITE);
    }

    fn report(&mut self, cx: &mut Cx<'_>) {
        if std::mem::replace(&mut self.reported, true) {
            return;
        }
        let load = self.started.map(|(_, from)| cx.meter.read().since(&from)).unwrap_or_default();
        // Use the current time: counted bytes may have moved after this turn began.
        let now = Instant::now();
        let from = self.omission.counted_from(now);
        let (bytes, before) = from.counted;
        self.shared.put_report(Report {
            bytes: self.bytes - bytes,
            duration: now - from.at,
            retransmits: 0,
            congestion: None,
            series: Series::default(),
            load,
            datagrams: Some(Datagrams { all: self.arrivals, omitted: before }),
        });
        cx.lanes.tell(self.spec.owner, Event::Reported);
        cx.wait_for(Interest::NOTHING);
    }

    fn running(&self) -> bool {
        self.started.is_some() && !self.reported
    }
}

impl Handler for DatagramStream {
    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        // A stream enters one loop once; a second address would be a bug of the caller.
        let _ = self.shared.address.set(cx.address());
        self.spec.charge(cx);
        cx.lanes.tell(self.spec.owner, Event::Joined);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if ready.error() {
            // Reading the error clears it: an unreachable port must not end a test of datagrams.
            let _ = self.socket.take_error();
        }
        if self.running() {
            if self.sends {
                self.send(cx);
            } else if self.queued.is_some() {
                return self.again(cx);
            } else {
                self.receive(&mut cx.turn);
            }
        }
        Next::Stay
    }

    /// Drain the receive buffer after the end of the test.
    fn again(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.queued.is_none() || !self.running() {
            return Next::Stay;
        }
        if self.receive(&mut cx.turn) {
            return Next::Again;
        }
        self.report(cx);
        Next::Stay
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if !self.running() {
            return Next::Stay;
        }
        self.look(cx);
        if self.sends {
            self.send(cx);
        }
        Next::Stay
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        let Some(order) = note.word() else { return Next::Stay };
        match order {
            Order::Start(began) if self.started.is_none() => self.start(cx, began),
            Order::Stop | Order::StopAt(_) => return self.stop(cx),
            Order::Close => return Next::Close,
            _ => {}
        }
        Next::Stay
    }
}
