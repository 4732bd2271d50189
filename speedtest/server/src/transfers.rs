// SPDX-License-Identifier: Apache-2.0
//! Finished transfers of each page's test, summarized, and their verdicts.
//!
//! A page moves many bodies, one after another on several connections. They count as the average
//! number of concurrent streams, each with the mean of all transfers.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use speedtest_net::loop_time::LoopTime;
use speedtest_proto::series::Summary;
use speedtest_proto::verdict::{judge, Evidence, Load, OtherLoad};

use crate::other_load::{OtherLoadMeter, SinceBegin};

use crate::clients::ClientKey;

pub const MAX_ID_BYTES: usize = 32;
const MOST_TESTS: usize = 4096;
/// Most tests of one client: 64 subscribers behind one address, four each.
const MOST_OF_CLIENT: usize = 256;

/// One download or upload.
#[derive(Debug, Clone)]
pub struct Transfer {
    pub sent: bool,
    pub bytes: u64,
    pub ended: Instant,
    pub time: Duration,
    /// Time in which the allowed rate kept its bytes back.
    pub held: Duration,
    pub summary: Summary,
    pub load: Load,
    /// It ended before its body did.
    pub aborted: bool,
    /// Other load since the first transfer of this direction began.
    pub other_load: OtherLoad,
    pub link_bps: Option<u64>,
}

/// Load next to all transfers of one direction of a test, whose handlers share one LoopTime.
pub struct Beside {
    since: SinceBegin,
    own_bytes: AtomicU64,
}

impl Beside {
    pub fn loop_time(&self) -> &Arc<LoopTime> {
        self.since.loop_time()
    }

    /// Count bytes moved by one of the transfers.
    pub fn moved(&self, bytes: u64) {
        self.own_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn read(&self) -> OtherLoad {
        self.since.read(self.own_bytes.load(Ordering::Relaxed))
    }
}

/// All transfers of one direction of a test.
#[derive(Debug)]
struct Way {
    transfers: u64,
    bytes: u64,
    began: Instant,
    ended: Instant,
    /// Sum over all transfers, so more than the elapsed time if some ran at the same time.
    seconds: f64,
    /// Seconds of them in which the allowed rate kept the bytes back.
    held: f64,
    summary: Summary,
    load: Load,
    aborted: u64,
    other_load: OtherLoad,
    link_bps: Option<u64>,
}

impl Way {
    fn of(first: &Transfer) -> Way {
        Way {
            transfers: 1,
            bytes: first.bytes,
            began: first.began(),
            ended: first.ended,
            seconds: first.seconds(),
            held: first.held.as_secs_f64(),
            summary: first.summary,
            load: first.load,
            aborted: u64::from(first.aborted),
            other_load: first.other_load,
            link_bps: first.link_bps,
        }
    }

    fn add(&mut self, next: &Transfer) {
        let share = next.seconds() / (self.seconds + next.seconds()).max(1e-9);
        let mean = |all: f64, one: f64| all + (one - all) * share;
        self.load = Load {
            running: mean(self.load.running, next.load.running),
            waiting: mean(self.load.waiting, next.load.waiting),
        };
        self.transfers += 1;
        self.bytes += next.bytes;
        self.began = self.began.min(next.began());
        self.ended = self.ended.max(next.ended);
        self.seconds += next.seconds();
        self.held += next.held.as_secs_f64();
        self.summary = self.summary.then(&next.summary);
        self.aborted += u64::from(next.aborted);
        self.other_load = next.other_load;
    }

    fn verdict(&self, server_sends: bool, policy_bps: Option<f64>) -> Value {
        let span_s = (self.ended - self.began).as_secs_f64().max(1e-6);
        let at_once = (self.seconds / span_s).round().max(1.0) as usize;
        let evidence = Evidence {
            server_sends,
            rate_bps: self.bytes as f64 * 8.0 / span_s,
            bytes: self.bytes,
            policy_bps,
            held_back: self.held / self.seconds.max(1e-6),
            server_load: self.load,
            other_load: self.other_load,
            link_bps: self.link_bps.map(|link_bps| link_bps as f64),
            streams: self.summary.split(at_once),
            ..Evidence::default()
        };
        json!({
            "bytes": self.bytes,
            "transfers": self.transfers,
            "aborted": self.aborted,
            "other_load": self.other_load,
            "verdict": judge(&evidence),
        })
    }
}

impl Transfer {
    fn began(&self) -> Instant {
        self.ended.checked_sub(self.time).unwrap_or(self.ended)
    }

    fn seconds(&self) -> f64 {
        self.time.as_secs_f64()
    }
}

/// Transfers by client and the page's ID. A client's oldest test is removed for its next one. If
/// all clients together have too many, the client with the most loses its oldest.
#[derive(Default)]
pub struct Transfers {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    tests: usize,
    by_client: HashMap<ClientKey, OfClient>,
}

#[derive(Default)]
struct OfClient {
    by_id: HashMap<String, Test>,
    order: VecDeque<String>,
}

/// One test; of each pair the first is the upload, the second the download.
#[derive(Default)]
struct Test {
    ways: [Option<Way>; 2],
    beside: [Option<Arc<Beside>>; 2],
}

impl Kept {
    /// Return the test of this client and ID; make room for a new one.
    fn test(&mut self, client: ClientKey, id: &str) -> &mut Test {
        let of_client = self.by_client.get(&client);
        if of_client.is_none_or(|one| !one.by_id.contains_key(id)) {
            if of_client.is_some_and(|one| one.order.len() >= MOST_OF_CLIENT) {
                self.forget_oldest(client);
            } else if self.tests >= MOST_TESTS {
                let most = self.by_client.iter().max_by_key(|(_, one)| one.order.len());
                if let Some(most) = most.map(|(client, _)| *client) {
                    self.forget_oldest(most);
                }
            }
            self.tests += 1;
            self.by_client.entry(client).or_default().order.push_back(id.to_owned());
        }
        self.by_client.entry(client).or_default().by_id.entry(id.to_owned()).or_default()
    }

    fn forget_oldest(&mut self, client: ClientKey) {
        let Some(one) = self.by_client.get_mut(&client) else { return };
        if let Some(oldest) = one.order.pop_front() {
            one.by_id.remove(&oldest);
            self.tests -= 1;
        }
        if one.order.is_empty() {
            self.by_client.remove(&client);
        }
    }
}

impl Transfers {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begin a transfer of this test; the first one begins the load next to all of them.
    pub fn begin(
        &self,
        client: ClientKey,
        id: &str,
        sent: bool,
        meter: &Arc<OtherLoadMeter>,
    ) -> Arc<Beside> {
        let mut kept = self.kept();
        let beside = &mut kept.test(client, id).beside[usize::from(sent)];
        let first = || {
            let since = meter.begin(meter.loop_time());
            Arc::new(Beside { since, own_bytes: AtomicU64::new(0) })
        };
        Arc::clone(beside.get_or_insert_with(first))
    }

    pub fn add(&self, client: ClientKey, id: &str, transfer: Transfer) {
        let mut kept = self.kept();
        let way = &mut kept.test(client, id).ways[usize::from(transfer.sent)];
        match way {
            Some(way) => way.add(&transfer),
            None => *way = Some(Way::of(&transfer)),
        }
    }

    /// Return the verdicts of download and upload of this client's test, which was allowed this
    /// rate. None: the test is not known.
    pub fn verdicts(&self, client: ClientKey, id: &str, policy_bps: Option<f64>) -> Option<Value> {
        let kept = self.kept();
        let ways = &kept.by_client.get(&client)?.by_id.get(id)?.ways;
        let [up, down] = ways.iter().any(Option::is_some).then_some(ways)?;
        let told = |way: &Option<Way>, sent| way.as_ref().map(|way| way.verdict(sent, policy_bps));
        Some(json!({"download": told(down, true), "upload": told(up, false)}))
    }
}

#[cfg(test)]
mod tests;
