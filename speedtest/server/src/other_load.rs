// SPDX-License-Identifier: Apache-2.0
//! Other load of the server during a test: counters at its end minus those at its start.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::loop_meter::{LoopMeter, LoopReading};
use speedtest_net::loop_time::LoopTime;
use speedtest_net::reactor::Lanes;
use speedtest_proto::verdict::{OtherLoad, RefusedLoad};

use crate::admission::Admission;
use crate::clients::Clients;
use crate::counters::Counters;

/// References to the counters.
pub struct OtherLoadMeter {
    pub lanes: Lanes,
    pub clients: Arc<Clients>,
    pub counters: Arc<Counters>,
    pub admission: Arc<Admission>,
    /// Capacity of the host's link, if the operator gives it.
    pub link_bps: Option<u64>,
}

/// All counters at one moment.
struct Reading {
    at: Instant,
    loops: Vec<LoopReading>,
    /// Loop time of the test itself.
    own: Vec<Duration>,
    /// Tests and clients that are present, and that came since the server started.
    tests: [u64; 2],
    clients: [u64; 2],
    bytes: u64,
    refused: RefusedLoad,
}

/// Load next to one test since its start.
pub struct SinceBegin {
    meter: Arc<OtherLoadMeter>,
    loop_time: Arc<LoopTime>,
    began: Reading,
}

impl OtherLoadMeter {
    /// Return the loop time that a test's handlers are to be charged to.
    pub fn loop_time(&self) -> Arc<LoopTime> {
        Arc::new(LoopTime::new(self.lanes.count()))
    }

    /// Begin a test that has its ticket and whose handlers are charged to `loop_time`.
    pub fn begin(self: &Arc<OtherLoadMeter>, loop_time: Arc<LoopTime>) -> SinceBegin {
        let began = self.read(&loop_time);
        SinceBegin { meter: Arc::clone(self), loop_time, began }
    }

    fn read(&self, loop_time: &LoopTime) -> Reading {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        Reading {
            at: Instant::now(),
            loops: self.lanes.meters().map(LoopMeter::read).collect(),
            own: loop_time.read(),
            tests: [self.admission.counts().0 as u64, self.admission.started()],
            clients: self.clients.present_and_arrived(),
            bytes: get(&counters.bytes_received) + get(&counters.bytes_sent),
            refused: RefusedLoad {
                connections: get(&counters.connections_refused),
                tests: get(&counters.tests_refused),
                bodies: get(&counters.bodies_refused),
                bytes: get(&counters.bytes_refused),
            },
        }
    }
}

impl SinceBegin {
    pub fn loop_time(&self) -> &Arc<LoopTime> {
        &self.loop_time
    }

    /// Return the others' load up to now; this test has moved `own_bytes`.
    pub fn read(&self, own_bytes: u64) -> OtherLoad {
        difference(&self.began, &self.meter.read(&self.loop_time), own_bytes)
    }
}

/// Count those present at the start, without the test itself, and those who came.
fn others([present, come]: [u64; 2], [_, come_by_now]: [u64; 2]) -> u64 {
    present.saturating_sub(1) + come_by_now.saturating_sub(come)
}

fn difference(began: &Reading, now: &Reading, own_bytes: u64) -> OtherLoad {
    let wall = now.at.saturating_duration_since(began.at);
    let wall_s = wall.as_secs_f64().max(1e-6);
    let share = |time: Duration| (time.as_secs_f64() / wall_s).min(1.0);
    // A turn counts when it ends: one that ran at the start adds its whole time.
    let loops = || {
        let own = now.own.iter().zip(&began.own).map(|(now, began)| now.saturating_sub(*began));
        let all = now.loops.iter().zip(&began.loops);
        own.zip(all).map(|(own, (now, began))| {
            (own, now.busy.saturating_sub(began.busy).min(wall), now, began)
        })
    };
    let busiest = loops().max_by_key(|(own, ..)| *own);
    let in_others: f64 = loops().map(|(own, all, ..)| share(all.saturating_sub(own))).sum();
    let micros =
        |time: Option<Duration>| time.map_or(0.0, |time| (time.as_secs_f64() * 1e7).round() / 10.0);
    let bytes = now.bytes.saturating_sub(began.bytes).saturating_sub(own_bytes);
    OtherLoad {
        tests: others(began.tests, now.tests),
        clients: others(began.clients, now.clients),
        own_loop_share: busiest.map_or(0.0, |(own, ..)| rounded(share(own))),
        loop_share: busiest.map_or(0.0, |(own, all, ..)| rounded(share(all.saturating_sub(own)))),
        process_share: rounded(in_others / now.loops.len().max(1) as f64),
        bytes,
        bytes_share: rounded(bytes as f64 / (bytes + own_bytes).max(1) as f64),
        delay_mean_us: micros(busiest.and_then(|(.., now, began)| now.mean_delay_since(began))),
        delay_max_us: micros(busiest.and_then(|(.., now, began)| now.worst_delay_since(began))),
        refused: RefusedLoad {
            connections: now.refused.connections - began.refused.connections,
            tests: now.refused.tests - began.refused.tests,
            bodies: now.refused.bodies - began.refused.bodies,
            bytes: now.refused.bytes - began.refused.bytes,
        },
    }
}

fn rounded(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}
