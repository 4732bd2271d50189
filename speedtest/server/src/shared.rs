// SPDX-License-Identifier: Apache-2.0
//! What all loops share: configuration, counts, the tests that run.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use std::net::IpAddr;

use serde_json::{json, Value};
use speedtest_net::reactor::{Address, Lanes, Note};
use speedtest_proto::fields::Fields;

use crate::admission::{Admission, Capacity, Decision};
use crate::clients::{ClientKey, Clients};
use crate::config::{Config, ConfigError, Kernel};
use crate::http::sessions::Sessions;
use crate::http::transfers::Transfers;
use crate::iperf3::Registry;
use crate::log::{unix_s, Logger};
use crate::ndt7::Gate;
use crate::results::{Record, Results};

pub struct Shared {
    pub config: Config,
    pub kernel: Kernel,
    pub log: Logger,
    pub lanes: Lanes,
    pub clients: Arc<Clients>,
    pub tests: Registry,
    pub counters: Arc<Counters>,
    pub transfers: Transfers,
    /// Who may run ndt7 tests.
    pub gate: Gate,
    pub sessions: Arc<Sessions>,
    /// Set once privileges are dropped, before the loops start.
    results: OnceLock<Results>,
    /// Tells the records of this run of the server from those of others.
    run: String,
    next_result: AtomicU64,
    /// Connections that fit into this process's file descriptors.
    pub most_connections: usize,
    admission: Mutex<Admission>,
    /// Who holds a ticket.
    testing: Mutex<HashSet<Address>>,
    listeners: Mutex<Vec<Address>>,
    draining: AtomicBool,
}

/// Since the server started.
#[derive(Debug, Default)]
pub struct Counters {
    pub connections_accepted: AtomicU64,
    pub connections_refused: AtomicU64,
    pub handshakes_failed: AtomicU64,
    /// Bodies over HTTP that were not let in, and that a limit ended.
    pub bodies_refused: AtomicU64,
    pub bodies_cut: AtomicU64,
    pub tests_finished: AtomicU64,
    pub tests_failed: AtomicU64,
    pub tests_refused: AtomicU64,
    pub bytes_received: AtomicU64,
    pub bytes_sent: AtomicU64,
    pub results_kept: AtomicU64,
    pub results_unwritten: AtomicU64,
    /// Waiting in the spool right now.
    pub results_spooled: AtomicU64,
}

impl Counters {
    pub fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

/// The right to run one test; dropping it lets the next one in.
pub struct Ticket {
    shared: Arc<Shared>,
    client: ClientKey,
    /// None: what holds it is in no loop.
    holder: Option<Address>,
}

impl Shared {
    pub fn new(
        config: Config,
        kernel: Kernel,
        lanes: Lanes,
        gate: Gate,
        most_connections: usize,
    ) -> Shared {
        let limits = &config.limits;
        let capacity = Capacity {
            tests: limits.tests,
            tests_per_client: limits.tests_per_client,
            queue: limits.queue,
        };
        Shared {
            log: Logger::new(config.log.format),
            config,
            kernel,
            lanes,
            clients: Arc::default(),
            tests: Registry::default(),
            counters: Arc::default(),
            transfers: Transfers::default(),
            gate,
            sessions: Arc::default(),
            results: OnceLock::new(),
            run: run_name(),
            next_result: AtomicU64::new(1),
            most_connections,
            admission: Mutex::new(Admission::new(capacity)),
            testing: Mutex::default(),
            listeners: Mutex::default(),
            draining: AtomicBool::new(false),
        }
    }

    pub fn admission(&self) -> MutexGuard<'_, Admission> {
        self.admission.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client behind a connection, which may be a proxy's.
    pub fn client_of(&self, fields: &Fields, peer: IpAddr) -> IpAddr {
        let proxies = &self.config.proxies;
        fields.client(peer, proxies.field.into(), |address| proxies.are_trusted(address))
    }

    /// Asks for the right to run a test.
    pub fn request(&self, client: ClientKey, who: Address) -> Decision {
        if self.draining() {
            return Decision::Refused;
        }
        self.admission().request(client, who)
    }

    /// The ticket of a client that was admitted, at once or from the queue.
    pub fn ticket(self: &Arc<Shared>, client: ClientKey, holder: Address) -> Ticket {
        self.holders().insert(holder);
        Ticket { shared: Arc::clone(self), client, holder: Some(holder) }
    }

    /// The ticket of a client that was admitted for a test on several connections.
    pub fn common_ticket(self: &Arc<Shared>, client: ClientKey) -> Ticket {
        Ticket { shared: Arc::clone(self), client, holder: None }
    }

    /// Whoever leaves while waiting must not be admitted afterwards.
    pub fn leave_queue(self: &Arc<Shared>, client: ClientKey, who: Address) {
        let admitted = !self.admission().leave_queue(who);
        if admitted && !self.draining() {
            drop(self.ticket(client, who));
        }
    }

    fn holders(&self) -> MutexGuard<'_, HashSet<Address>> {
        self.testing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everybody who runs a test now.
    pub fn testing(&self) -> Vec<Address> {
        self.holders().iter().copied().collect()
    }

    /// Starts to keep results where the configuration says.
    pub fn open_results(&self) -> Result<(), ConfigError> {
        let counters = Arc::clone(&self.counters);
        let results = Results::start(&self.config.results, self.log, counters)?;
        // Nobody else opens them.
        let _ = self.results.set(results);
        Ok(())
    }

    /// Waits until every result so far is kept.
    pub fn stop_results(&self) {
        if let Some(results) = self.results.get() {
            results.stop();
        }
    }

    /// Keeps one result, with a time and a number; returns the number. `client` in it is an address.
    pub fn keep_result(&self, fields: Value) -> u64 {
        let number = self.next_result.fetch_add(1, Ordering::Relaxed);
        let Some(results) = self.results.get().filter(|results| results.wanted()) else {
            return number;
        };
        let Value::Object(mut fields) = without_nul(fields) else { return number };
        let client = fields.remove("client").and_then(|client| client.as_str().map(str::to_owned));
        let client = client.filter(|_| self.config.results.keep_addresses_days != Some(0));
        let record = Record { run: self.run.clone(), number, time: unix_s(), client, fields };
        if let Err(record) = results.keep(record) {
            Counters::add(&self.counters.results_unwritten, 1);
            let fields = json!({"error": "the writer is behind", "result": record.to_json()});
            self.log.warn("a result could not be written", fields);
        }
        number
    }

    /// Keeps what a page or a LibreSpeed client says it has measured.
    pub fn keep_page_result(&self, client: IpAddr, body: &[u8]) -> u64 {
        let said = without_address(&String::from_utf8_lossy(body), client);
        self.keep_result(json!({"protocol": "http", "client": client.to_string(), "said": said}))
    }

    pub fn add_listener(&self, address: Address) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(address);
    }

    pub fn draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// No new connections and tests; what runs goes on.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        let listeners =
            std::mem::take(&mut *self.listeners.lock().unwrap_or_else(PoisonError::into_inner));
        for listener in listeners {
            self.lanes.tell(listener, Note::Close);
        }
        for waiting in self.admission().clear_queue() {
            self.lanes.tell(waiting, Note::Drain);
        }
    }
}

fn run_name() -> String {
    let mut bytes = [0; 8];
    // The time alone tells two runs apart, too, unless the clock was set back.
    let _ = speedtest_net::sys::random(&mut bytes);
    format!("{:x}-{:016x}", unix_s() as u64, u64::from_ne_bytes(bytes))
}

/// No database keeps U+0000, and clients may send it.
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

/// LibreSpeed's clients repeat their address in what they say; it is forgotten with `client` only.
fn without_address(said: &str, client: IpAddr) -> String {
    let address = client.to_canonical().to_string();
    let encoded = address.replace(':', "%3A");
    said.replace(&address, "-").replace(&encoded, "-").replace(&encoded.to_lowercase(), "-")
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(holder) = self.holder {
            self.shared.holders().remove(&holder);
        }
        let admitted = self.shared.admission().release(self.client);
        for next in admitted {
            self.shared.lanes.tell(next, Note::Admitted);
        }
    }
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
