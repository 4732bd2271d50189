// SPDX-License-Identifier: Apache-2.0
//! The finished transfers of each page's test, folded into a few figures, and who limited them.
//!
//! A page moves many bodies, one after the other on several connections. They count as if as many
//! streams had run all the time as ran on average, each with the mean of all transfers.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use speedtest_proto::series::Summary;
use speedtest_proto::verdict::{judge, Evidence, Load};

pub const MAX_ID_BYTES: usize = 32;
const MOST_TESTS: usize = 4096;

/// One download or upload.
#[derive(Debug, Clone)]
pub struct Transfer {
    pub sent: bool,
    pub bytes: u64,
    pub ended: Instant,
    pub time: Duration,
    pub summary: Summary,
    pub load: Load,
}

/// All transfers of one direction of a test.
#[derive(Debug)]
struct Way {
    transfers: u64,
    bytes: u64,
    began: Instant,
    ended: Instant,
    /// Of all transfers together, so more than the clock says where some ran at the same time.
    seconds: f64,
    summary: Summary,
    load: Load,
}

impl Way {
    fn of(first: &Transfer) -> Way {
        Way {
            transfers: 1,
            bytes: first.bytes,
            began: first.began(),
            ended: first.ended,
            seconds: first.seconds(),
            summary: first.summary,
            load: first.load,
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
        self.summary = self.summary.then(&next.summary);
    }

    fn verdict(&self, server_sends: bool, policy_bps: Option<f64>) -> Value {
        let span_s = (self.ended - self.began).as_secs_f64().max(1e-6);
        let at_once = (self.seconds / span_s).round().max(1.0) as usize;
        let evidence = Evidence {
            server_sends,
            rate_bps: self.bytes as f64 * 8.0 / span_s,
            bytes: self.bytes,
            policy_bps,
            server_load: self.load,
            streams: self.summary.split(at_once),
            ..Evidence::default()
        };
        json!({"bytes": self.bytes, "transfers": self.transfers, "verdict": judge(&evidence)})
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

/// Transfers by the id that the page chose; the oldest tests are forgotten first.
#[derive(Debug, Default)]
pub struct Transfers {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Uploads, and downloads.
    by_id: HashMap<String, [Option<Way>; 2]>,
    order: VecDeque<String>,
}

impl Transfers {
    pub fn add(&self, id: &str, transfer: Transfer) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.by_id.contains_key(id) {
            if kept.order.len() == MOST_TESTS {
                if let Some(oldest) = kept.order.pop_front() {
                    kept.by_id.remove(&oldest);
                }
            }
            kept.order.push_back(id.to_owned());
        }
        let way = &mut kept.by_id.entry(id.to_owned()).or_default()[usize::from(transfer.sent)];
        match way {
            Some(way) => way.add(&transfer),
            None => *way = Some(Way::of(&transfer)),
        }
    }

    /// Who limited the download and the upload of this test, which was allowed this rate? None: nothing is known of it.
    pub fn verdicts(&self, id: &str, policy_bps: Option<f64>) -> Option<Value> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let [up, down] = kept.by_id.get(id)?;
        let told = |way: &Option<Way>, sent| way.as_ref().map(|way| way.verdict(sent, policy_bps));
        Some(json!({"download": told(down, true), "upload": told(up, false)}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer_at(sent: bool, began: Instant, seconds: f64) -> Transfer {
        let wall_us = seconds * 1e6;
        let summary = Summary {
            wall_us,
            busy_us: wall_us * 0.9,
            sndbuf_limited_us: wall_us * 0.8,
            ..Summary::default()
        };
        let time = Duration::from_secs_f64(seconds);
        Transfer { sent, bytes: 1000, ended: began + time, time, summary, load: Load::default() }
    }

    fn transfer(sent: bool) -> Transfer {
        transfer_at(sent, Instant::now(), 1.0)
    }

    #[test]
    fn a_test_is_judged_by_its_own_transfers_in_each_direction() {
        let transfers = Transfers::default();
        transfers.add("a", transfer(true));
        transfers.add("a", transfer(true));
        transfers.add("b", transfer(false));
        let answer = transfers.verdicts("a", None).unwrap();
        assert_eq!(answer["download"]["verdict"]["limited_by"], "send_buffer");
        assert_eq!((&answer["download"]["bytes"], &answer["upload"]), (&json!(2000), &Value::Null));
        assert_eq!(transfers.verdicts("c", None), None);
    }

    #[test]
    fn clients_cannot_fill_the_memory() {
        let transfers = Transfers::default();
        for id in 0..MOST_TESTS + 10 {
            transfers.add(&id.to_string(), transfer(true));
        }
        assert_eq!(transfers.verdicts("0", None), None);
        for _ in 0..1000 {
            transfers.add("many", transfer(true));
        }
        let kept = transfers.verdicts("many", None).unwrap();
        assert_eq!(
            (&kept["download"]["transfers"], &kept["download"]["bytes"]),
            (&json!(1000), &json!(1_000_000))
        );
    }

    #[test]
    fn transfers_one_after_the_other_are_as_fast_as_one_of_them() {
        let (transfers, start) = (Transfers::default(), Instant::now());
        for number in 0..20 {
            let began = start + Duration::from_secs(number);
            transfers.add("slow", transfer_at(true, began, 1.0));
            transfers.add("two", transfer_at(true, start, 20.0));
        }
        // 8,000 bit/s each, and 10,000 allowed.
        let slow = transfers.verdicts("slow", Some(10_000.0)).unwrap();
        assert_eq!(slow["download"]["verdict"]["limited_by"], "send_buffer");
        let together = transfers.verdicts("two", Some(8_000.0)).unwrap();
        assert_eq!(together["download"]["verdict"]["limited_by"], "policy");
    }
}
