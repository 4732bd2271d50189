// SPDX-License-Identifier: Apache-2.0
//! Sender and receiver of a bulk TCP stream, and their reports; [`Channel`] is a WebSocket's.
//!
//! A stream sends its owner [`Event::Joined`] once it is in its loop. The owner sends an [`Order`]:
//! `Start`, then `Stop` or `StopAt`, then `Close`. The stream leaves its [`Report`] in the shared
//! [`Stream`]. It sends `Reported` exactly once, early when its connection breaks.

mod channel;
mod datagram;
mod hot;
mod omission;
mod pacer;
mod probe;
mod sink;
mod source;
mod threshold;
mod words;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use speedtest_proto::iperf3::udp::Arrivals;
use speedtest_proto::series::Series;
use speedtest_proto::verdict::Load;

pub use channel::{Channel, Pushed};
pub use datagram::DatagramStream;
pub use hot::{send_hot, HOT};
pub use pacer::Pacer;
pub use sink::Sink;
pub use source::Source;
pub use threshold::Threshold;
pub use words::{Event, Order};

use crate::loop_time::LoopTime;
use crate::reactor::{Address, Cx};

/// Owner's object that is dropped with the stream, such as a counted connection.
pub type Guard = Box<dyn Send>;

/// Task of one stream.
#[derive(Clone)]
pub struct Spec {
    pub owner: Address,
    pub block_bytes: usize,
    /// Rate in bit/s; None is unlimited.
    pub rate_bps: Option<u64>,
    /// Blocks sent at once when the pacer allows sending.
    pub burst_blocks: u32,
    /// Bytes that all sending streams of a test may still send together; None is unlimited.
    pub budget: Option<Arc<Budget>>,
    pub zero_copy: bool,
    /// Whether a sender shuts down its direction when the test ends. An iperf3 receiver waits for
    /// whole blocks until then.
    pub close_at_end: bool,
    /// Time at the start during which bytes are not counted.
    pub omit: Duration,
    pub sample_every: Duration,
    /// Process-wide byte counter of this direction, updated in addition.
    pub moved: Arc<AtomicU64>,
    /// Loop time that this stream's turns are charged to.
    pub loop_time: Option<Arc<LoopTime>>,
}

impl Spec {
    fn charge(&self, cx: &Cx<'_>) {
        if let Some(loop_time) = &self.loop_time {
            cx.charge(loop_time);
        }
    }
}

/// Bytes that several streams may still send; each takes a block at a time.
#[derive(Debug)]
pub struct Budget(AtomicI64);

impl Budget {
    pub fn new(bytes: u64) -> Budget {
        Budget(AtomicI64::new(i64::try_from(bytes).unwrap_or(i64::MAX)))
    }

    /// Take up to `most` bytes; return 0 when none are left.
    pub fn take(&self, most: usize) -> usize {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let left = self.0.fetch_sub(most, Ordering::Relaxed);
        let got = left.clamp(0, most);
        if got < most {
            self.0.fetch_add(most - got, Ordering::Relaxed);
        }
        usize::try_from(got).unwrap_or(0)
    }

    pub fn give_back(&self, bytes: usize) {
        self.0.fetch_add(i64::try_from(bytes).unwrap_or(0), Ordering::Relaxed);
    }
}

/// Part of a stream that its owner reads from another loop.
#[derive(Debug, Default)]
pub struct Stream {
    bytes: AtomicU64,
    report: Mutex<Option<Report>>,
    address: OnceLock<Address>,
}

impl Stream {
    /// Return the bytes moved so far, omitted ones included.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Return the stream's address once it is in its loop.
    pub fn address(&self) -> Option<Address> {
        self.address.get().copied()
    }

    pub fn take_report(&self) -> Option<Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put_report(&self, report: Report) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }
}

/// Result of a stream that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Bytes after the omitted seconds.
    pub bytes: u64,
    pub duration: Duration,
    pub retransmits: u32,
    pub congestion: Option<String>,
    pub series: Series,
    /// Load of the stream's loop.
    pub load: Load,
    /// Datagram counts; UDP streams only.
    pub datagrams: Option<Datagrams>,
}

/// Datagram counts of a UDP stream: all, and the omitted part. A sender counts packets only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Datagrams {
    pub all: Arrivals,
    pub omitted: Arrivals,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_gives_exactly_what_it_has() {
        let budget = Budget::new(250);
        assert_eq!([budget.take(100), budget.take(100), budget.take(100)], [100, 100, 50]);
        assert_eq!(budget.take(100), 0);
        budget.give_back(30);
        assert_eq!([budget.take(100), budget.take(1)], [30, 0]);
    }
}
