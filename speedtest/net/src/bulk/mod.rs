// SPDX-License-Identifier: Apache-2.0
//! The two ends of a bulk TCP stream, and what they report; [`Channel`] is both ends of a WebSocket.
//!
//! A stream tells its owner [`Event::Joined`] once it is in its loop. The owner drives it by an
//! [`Order`]: `Start`, then `Stop` or `StopAt`, then `Close`. It leaves its [`Report`] in the shared
//! [`Stream`] and tells `Reported` exactly once, early when its connection breaks.

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

/// Something of the owner's that ends with the stream, such as a counted connection.
pub type Guard = Box<dyn Send>;

/// The task of one stream.
#[derive(Clone)]
pub struct Spec {
    pub owner: Address,
    pub block_bytes: usize,
    /// Bits per second; none is unlimited.
    pub rate_bps: Option<u64>,
    /// Blocks sent at once when it is time to send.
    pub burst_blocks: u32,
    /// What all sending streams of a test may still send together; none is unlimited.
    pub budget: Option<Arc<Budget>>,
    pub zero_copy: bool,
    /// A sender ends its direction of the connection with the test: iperf3 as a receiver waits for
    /// whole blocks until then.
    pub close_at_end: bool,
    /// Bytes before this are not counted.
    pub omit: Duration,
    pub sample_every: Duration,
    /// All bytes that the program moves in this direction are also added here.
    pub moved: Arc<AtomicU64>,
    /// Whose turns those of this stream are.
    pub loop_time: Option<Arc<LoopTime>>,
}

impl Spec {
    fn charge(&self, cx: &Cx<'_>) {
        if let Some(loop_time) = &self.loop_time {
            cx.charge(loop_time);
        }
    }
}

/// Bytes that several streams may still send, taken block by block.
#[derive(Debug)]
pub struct Budget(AtomicI64);

impl Budget {
    pub fn new(bytes: u64) -> Budget {
        Budget(AtomicI64::new(i64::try_from(bytes).unwrap_or(i64::MAX)))
    }

    /// Takes up to `most` bytes; 0 when nothing is left.
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

/// The part of a stream that its owner reads from another loop.
#[derive(Debug, Default)]
pub struct Stream {
    bytes: AtomicU64,
    report: Mutex<Option<Report>>,
    address: OnceLock<Address>,
}

impl Stream {
    /// Bytes so far, the omitted ones included.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Where the stream lives, once it has come into its loop.
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

/// A stream after its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// After the omitted seconds.
    pub bytes: u64,
    pub duration: Duration,
    pub retransmits: u32,
    pub congestion: Option<String>,
    pub series: Series,
    /// Of the loop that the stream ran in.
    pub load: Load,
    /// Of a UDP stream only.
    pub datagrams: Option<Datagrams>,
}

/// What a UDP stream has counted: all of it, and the omitted part. A sender counts packets only.
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
