// SPDX-License-Identifier: Apache-2.0
//! The finished transfers of each page's test, in bounded memory, and who limited them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use serde_json::{json, Value};
use speedtest_proto::series::Summary;
use speedtest_proto::verdict::{judge, Evidence, Load};

pub const MAX_ID_BYTES: usize = 32;
const MOST_TESTS: usize = 4096;
const MOST_TRANSFERS: usize = 64;

/// One download or upload.
#[derive(Debug, Clone)]
pub struct Transfer {
    pub sent: bool,
    pub bytes: u64,
    pub seconds: f64,
    pub summary: Summary,
    pub load: Load,
}

/// Transfers by the id that the page chose; the oldest tests are forgotten first.
#[derive(Debug, Default)]
pub struct Transfers {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_id: HashMap<String, Vec<Transfer>>,
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
        let transfers = kept.by_id.entry(id.to_owned()).or_default();
        if transfers.len() < MOST_TRANSFERS {
            transfers.push(transfer);
        }
    }

    /// Who limited the download and the upload of this test, which was allowed this rate? None: nothing is known of it.
    pub fn verdicts(&self, id: &str, policy_bps: Option<f64>) -> Option<Value> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let transfers = kept.by_id.get(id)?;
        Some(json!({
            "download": verdict(transfers, true, policy_bps),
            "upload": verdict(transfers, false, policy_bps),
        }))
    }
}

fn verdict(transfers: &[Transfer], sent: bool, policy_bps: Option<f64>) -> Value {
    let these: Vec<&Transfer> = transfers.iter().filter(|one| one.sent == sent).collect();
    let bytes: u64 = these.iter().map(|one| one.bytes).sum();
    let longest_s = these.iter().map(|one| one.seconds).fold(0.0, f64::max);
    if longest_s == 0.0 {
        return Value::Null;
    }
    let wanted = |load: &Load| load.running + load.waiting;
    let loads = these.iter().map(|one| one.load);
    let evidence = Evidence {
        server_sends: sent,
        rate_bps: these.iter().map(|one| one.bytes as f64 * 8.0 / one.seconds.max(1e-6)).sum(),
        bytes,
        policy_bps,
        server_load: loads.max_by(|a, b| wanted(a).total_cmp(&wanted(b))).unwrap_or_default(),
        streams: these.iter().map(|one| one.summary).collect(),
        ..Evidence::default()
    };
    json!({"bytes": bytes, "transfers": these.len(), "verdict": judge(&evidence)})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(sent: bool) -> Transfer {
        let summary =
            Summary { wall_us: 1e6, busy_us: 9e5, sndbuf_limited_us: 8e5, ..Summary::default() };
        Transfer { sent, bytes: 1000, seconds: 1.0, summary, load: Load::default() }
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
        for _ in 0..MOST_TRANSFERS * 2 {
            transfers.add("many", transfer(true));
        }
        let kept = transfers.verdicts("many", None).unwrap();
        assert_eq!(kept["download"]["transfers"], MOST_TRANSFERS);
    }
}
