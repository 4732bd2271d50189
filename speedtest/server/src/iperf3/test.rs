// SPDX-License-Identifier: Apache-2.0
//! Running tests by cookie.

use std::collections::hash_map::{Entry, HashMap};
use std::net::{IpAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use speedtest_net::bulk::{
    Budget, DatagramStream, Event, Guard, Order, Sink, Source, Spec, Stream,
};
use speedtest_net::loop_time::LoopTime;
use speedtest_net::options::{self, Options, Refused};
use speedtest_net::reactor::{Address, Handler, Lanes};
use speedtest_proto::iperf3::{Cookie, Params, Transport};

use super::Context;
use crate::config::Iperf3;

/// Longest pause of a slow client, in seconds.
const MOST_PAUSE_S: f64 = 60.0;

/// Test from CREATE_STREAMS to its end.
pub struct Test {
    pub number: usize,
    pub params: Params,
    pub control: Address,
    pub client: IpAddr,
    pub streams: Vec<Arc<Stream>>,
    /// Server's limit of the whole test, in bit/s.
    pub limit_bps: Option<u64>,
    /// Loop time that its streams are charged to.
    pub loop_time: Arc<LoopTime>,
    /// Counters of its bytes, received and sent.
    moved: [Arc<AtomicU64>; 2],
    options: Options,
    spec: Spec,
    /// Connections that wait for the others; None once the test is complete.
    joining: Mutex<Option<Vec<Joining>>>,
}

/// Carrier of a stream.
pub enum Link {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

/// Connection that knows the cookie of a test.
pub struct Joining {
    pub link: Link,
    /// Lives as long as the stream.
    pub guard: Guard,
    pub arrival: u64,
}

impl Test {
    pub fn new(
        number: usize,
        params: Params,
        control: Address,
        client: IpAddr,
        context: &Context,
        listen: &Iperf3,
    ) -> Test {
        let limit_bps = Some(context.limits.rate_bps).filter(|rate| *rate > 0);
        let share = limit_bps.map(|limit| (limit / u64::from(params.streams)).max(1));
        let rate_bps = match (params.rate_bps, share) {
            (Some(asked), Some(share)) => Some(asked.min(share)),
            (asked, share) => asked.or(share),
        };
        let tcp = params.transport == Transport::Tcp;
        let options = Options {
            congestion: params
                .congestion
                .clone()
                .or_else(|| listen.congestion.clone())
                .filter(|_| tcp),
            window_bytes: params.window_bytes,
            // The client announced its MSS when it connected; nothing is left to set here.
            mss: None,
            no_delay: params.no_delay && tcp,
            tos: params.tos,
            fq_rate_bps: params.fq_rate_bps,
            zero_copy: listen.zero_copy && tcp,
        };
        let spec = Spec {
            owner: control,
            block_bytes: params.block_bytes as usize,
            rate_bps,
            burst_blocks: params.burst_blocks,
            budget: params.amount_bytes().map(|bytes| Arc::new(Budget::new(bytes))),
            zero_copy: listen.zero_copy,
            close_at_end: true,
            omit: Duration::from_secs(params.omit_s.into()),
            sample_every: context.sample_every,
            moved: Arc::default(),
            loop_time: None,
        };
        let loop_time = context.other_load.loop_time();
        let counters = &context.counters;
        let moved = [Arc::clone(&counters.bytes_received), Arc::clone(&counters.bytes_sent)];
        let streams = (0..params.total_streams()).map(|_| Arc::default()).collect();
        let joining = Mutex::new(Some(Vec::new()));
        let client = client.to_canonical();
        Test {
            number,
            params,
            control,
            client,
            streams,
            limit_bps,
            loop_time,
            moved,
            options,
            spec,
            joining,
        }
    }

    /// Add a connection with this test's cookie. Once all are here they become streams in their
    /// order of arrival; later ones are closed.
    pub fn join(&self, lanes: &Lanes, newcomer: Joining) {
        let mut joining = self.joining.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(here) = joining.as_mut() else { return };
        here.push(newcomer);
        if here.len() < self.streams.len() {
            return;
        }
        let mut all = joining.take().unwrap_or_default();
        drop(joining);
        all.sort_by_key(|joined| joined.arrival);
        for (index, joined) in all.into_iter().enumerate() {
            let lane = (self.number + index) % lanes.count();
            match self.stream(index, joined) {
                Ok(stream) => lanes.adopt(lane, stream),
                Err(_refused) => lanes.tell(self.control, Event::Refused),
            }
        }
    }

    fn stream(&self, index: usize, joined: Joining) -> Result<Box<dyn Handler>, Refused> {
        let sends = self.params.server_sends(index as u32);
        let mut spec = self.spec.clone();
        spec.moved = Arc::clone(&self.moved[usize::from(sends)]);
        spec.loop_time = Some(Arc::clone(&self.loop_time));
        if !sends {
            // The client paces itself to its own rate; here only the server's limit counts.
            spec.rate_bps = self.limit_bps.and(spec.rate_bps);
        }
        let shared = Arc::clone(&self.streams[index]);
        Ok(match joined.link {
            Link::Tcp(socket) => {
                options::apply(&socket, &self.options)?;
                if sends {
                    Box::new(Source::new(socket, spec, shared, joined.guard))
                } else {
                    Box::new(Sink::new(socket, spec, shared, joined.guard))
                }
            }
            Link::Udp(socket) => {
                options::apply(&socket, &self.options)?;
                let wide = self.params.udp_counters_64bit;
                Box::new(DatagramStream::new(socket, spec, shared, sends, wide, joined.guard))
            }
        })
    }

    /// Return whether this test still waits for its streams to connect.
    fn opening(&self) -> bool {
        self.joining.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub fn tell_stream(&self, lanes: &Lanes, index: usize, order: Order) {
        if let Some(address) = self.streams.get(index).and_then(|stream| stream.address()) {
            lanes.tell(address, order);
        }
    }

    pub fn tell_streams(&self, lanes: &Lanes, order: Order) {
        for index in 0..self.streams.len() {
            self.tell_stream(lanes, index, order);
        }
    }

    /// Return how long the client itself may pause between two blocks at its requested rate.
    pub fn pause(&self) -> Duration {
        let burst = u64::from(self.params.block_bytes) * u64::from(self.params.burst_blocks.max(1));
        let seconds =
            self.params.rate_bps.map_or(0.0, |rate| burst as f64 * 8.0 / rate.max(1) as f64);
        Duration::from_secs_f64(seconds.min(MOST_PAUSE_S))
    }

    /// Return the bytes of all streams so far.
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(|stream| stream.bytes()).sum()
    }
}

/// All tests of this process.
#[derive(Default)]
pub struct Registry {
    tests: Mutex<HashMap<Cookie, Arc<Test>>>,
    next: AtomicUsize,
}

impl Registry {
    fn tests(&self) -> MutexGuard<'_, HashMap<Cookie, Arc<Test>>> {
        self.tests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn next_number(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Add a test. Return false if another one has the same cookie.
    pub fn insert(&self, cookie: Cookie, test: Arc<Test>) -> bool {
        match self.tests().entry(cookie) {
            Entry::Occupied(_) => false,
            Entry::Vacant(slot) => {
                slot.insert(test);
                true
            }
        }
    }

    pub fn find(&self, cookie: &Cookie) -> Option<Arc<Test>> {
        self.tests().get(cookie).cloned()
    }

    pub fn remove(&self, cookie: &Cookie) {
        self.tests().remove(cookie);
    }

    /// Return the UDP test of this client that is opening its streams. Datagrams carry no cookie,
    /// so each address has at most one; another must wait.
    pub fn opening_datagrams(&self, client: IpAddr) -> Option<Arc<Test>> {
        let client = client.to_canonical();
        let udp = |test: &&Arc<Test>| {
            test.params.transport == Transport::Udp && test.client == client && test.opening()
        };
        self.tests().values().find(udp).cloned()
    }
}
