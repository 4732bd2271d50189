// SPDX-License-Identifier: Apache-2.0
//! Numbers results, removes what may not be kept, and hands them to the writer.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::{json, Value};

use super::{Record, Results};
use crate::config::{ConfigError, ResultsTo};
use crate::counters::Counters;
use crate::log::{unix_s, Logger};

pub struct Keeper {
    to: ResultsTo,
    log: Logger,
    counters: Arc<Counters>,
    /// Set once privileges are dropped, before the loops start.
    results: OnceLock<Results>,
    /// Identifies the records of this run of the server.
    run: String,
    next: AtomicU64,
}

impl Keeper {
    pub fn new(to: ResultsTo, log: Logger, counters: Arc<Counters>) -> Keeper {
        let (results, run, next) = (OnceLock::new(), run_name(), AtomicU64::new(1));
        Keeper { to, log, counters, results, run, next }
    }

    /// Start to store results as configured; call it after privileges are dropped.
    pub fn open(&self) -> Result<(), ConfigError> {
        let results = Results::start(&self.to, &self.log, Arc::clone(&self.counters))?;
        // Only this call sets it.
        let _ = self.results.set(results);
        Ok(())
    }

    /// Wait until every result so far is stored.
    pub fn stop(&self) {
        if let Some(results) = self.results.get() {
            results.stop();
        }
    }

    /// Keep one result with a time and a number; return the number. `client` in it is an address.
    pub fn keep(&self, fields: Value) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(results) = self.results.get().filter(|results| results.wanted()) else {
            return number;
        };
        let Value::Object(mut fields) = without_nul(fields) else { return number };
        let client = fields.remove("client").and_then(|client| client.as_str().map(str::to_owned));
        let client = client.filter(|_| self.to.keep_addresses_days != Some(0));
        let record = Record { run: self.run.clone(), number, time: unix_s(), client, fields };
        if results.keep(record).is_err() {
            Counters::add(&self.counters.results_unwritten, 1);
            let fields = json!({"error": "the writer is behind", "number": number});
            self.log.warn("a result could not be written", fields);
        }
        number
    }

    /// Keep the result that a page or a LibreSpeed client reports.
    pub fn keep_page_result(&self, client: IpAddr, body: &[u8]) -> u64 {
        let said = without_address(&String::from_utf8_lossy(body), client);
        self.keep(json!({"protocol": "http", "client": client.to_string(), "said": said}))
    }
}

fn run_name() -> String {
    let mut bytes = [0; 8];
    // The time alone distinguishes two runs too, unless the clock was set back.
    let _ = speedtest_net::sys::random(&mut bytes);
    format!("{:x}-{:016x}", unix_s() as u64, u64::from_ne_bytes(bytes))
}

/// Remove U+0000, which clients may send and no database keeps.
fn without_nul(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('\0', "\u{fffd}")),
        Value::Array(all) => all.into_iter().map(without_nul).collect(),
        Value::Object(all) => {
            all.into_iter().map(|(key, value)| (key, without_nul(value))).collect()
        }
        other => other,
    }
}

/// Remove the client's address, which LibreSpeed's clients repeat; only `client` holds it then.
fn without_address(said: &str, client: IpAddr) -> String {
    let address = client.to_canonical().to_string();
    let encoded = address.replace(':', "%3A");
    said.replace(&address, "-").replace(&encoded, "-").replace(&encoded.to_lowercase(), "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_nowhere_but_in_its_own_field() {
        let peer = "2001:db8::7".parse().unwrap();
        let said = "ip=2001%3Adb8%3A%3A7&also=2001:db8::7&third=2001%3adb8%3a%3a7&dl=9";
        assert_eq!(without_address(said, peer), "ip=-&also=-&third=-&dl=9");
        let mapped = "::ffff:192.0.2.7".parse().unwrap();
        assert_eq!(
            without_address("{\"processedString\":\"192.0.2.7 - x\"}", mapped),
            "{\"processedString\":\"- - x\"}"
        );
    }

    #[test]
    fn no_client_can_send_what_no_database_keeps() {
        let cleaned = without_nul(json!({"a": ["b\u{0}c"], "n": 1}));
        assert_eq!(cleaned, json!({"a": ["b\u{fffd}c"], "n": 1}));
    }
}
