// SPDX-License-Identifier: Apache-2.0
//! What all loops share: configuration, counts, the tests that run.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use std::net::SocketAddr;

use serde_json::{json, Value};
use speedtest_net::reactor::{Address, Lanes, Note};

use crate::admission::{Admission, Capacity, Decision};
use crate::clients::{ClientKey, Clients};
use crate::config::{Config, Kernel};
use crate::http::transfers::Transfers;
use crate::iperf3::Registry;
use crate::log::{unix_s, Logger};
use crate::ndt7::Gate;
use crate::results::Results;

pub struct Shared {
    pub config: Config,
    pub kernel: Kernel,
    pub log: Logger,
    pub lanes: Lanes,
    pub clients: Arc<Clients>,
    pub tests: Registry,
    pub counters: Counters,
    pub transfers: Transfers,
    /// Who may run ndt7 tests.
    pub gate: Gate,
    results: Results,
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
    pub tests_finished: AtomicU64,
    pub tests_failed: AtomicU64,
    pub tests_refused: AtomicU64,
    pub bytes_received: AtomicU64,
    pub bytes_sent: AtomicU64,
    pub results_kept: AtomicU64,
    pub results_unwritten: AtomicU64,
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
    holder: Address,
}

impl Shared {
    pub fn new(
        config: Config,
        kernel: Kernel,
        lanes: Lanes,
        gate: Gate,
        results: Results,
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
            counters: Counters::default(),
            transfers: Transfers::default(),
            gate,
            results,
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
        Ticket { shared: Arc::clone(self), client, holder }
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

    /// Keeps one result, with a time and a number; returns the number.
    pub fn keep_result(&self, fields: Value) -> u64 {
        let number = self.next_result.fetch_add(1, Ordering::Relaxed);
        let mut record = json!({"time": unix_s(), "number": number});
        if let (Value::Object(record), Value::Object(fields)) = (&mut record, fields) {
            record.extend(fields);
        }
        match self.results.keep(&record) {
            Ok(true) => Counters::add(&self.counters.results_kept, 1),
            Ok(false) => {}
            Err(error) => {
                Counters::add(&self.counters.results_unwritten, 1);
                let fields = json!({"error": error.to_string(), "result": record});
                self.log.warn("a result could not be written", fields);
            }
        }
        number
    }

    /// Keeps what a page or a LibreSpeed client says it has measured.
    pub fn keep_page_result(&self, peer: SocketAddr, body: &[u8]) -> u64 {
        let said = String::from_utf8_lossy(body);
        self.keep_result(json!({"protocol": "http", "client": peer.to_string(), "said": said}))
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

impl Drop for Ticket {
    fn drop(&mut self) {
        self.shared.holders().remove(&self.holder);
        let admitted = self.shared.admission().release(self.client);
        for next in admitted {
            self.shared.lanes.tell(next, Note::Admitted);
        }
    }
}
