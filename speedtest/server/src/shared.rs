// SPDX-License-Identifier: Apache-2.0
//! What all loops share: configuration, counts, the tests that run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use speedtest_net::reactor::{Address, Lanes, Note};

use crate::admission::{Admission, Capacity, Decision};
use crate::clients::{ClientKey, Clients};
use crate::config::{Config, Kernel};
use crate::iperf3::Registry;
use crate::log::Logger;

pub struct Shared {
    pub config: Config,
    pub kernel: Kernel,
    pub log: Logger,
    pub lanes: Lanes,
    pub clients: Arc<Clients>,
    pub tests: Registry,
    pub counters: Counters,
    /// Connections that fit into this process's file descriptors.
    pub most_connections: usize,
    admission: Mutex<Admission>,
    listeners: Mutex<Vec<Address>>,
    draining: AtomicBool,
}

/// Since the server started.
#[derive(Debug, Default)]
pub struct Counters {
    pub connections_accepted: AtomicU64,
    pub connections_refused: AtomicU64,
    pub tests_finished: AtomicU64,
    pub tests_failed: AtomicU64,
    pub tests_refused: AtomicU64,
    pub bytes_received: AtomicU64,
    pub bytes_sent: AtomicU64,
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
}

impl Shared {
    pub fn new(config: Config, kernel: Kernel, lanes: Lanes, most_connections: usize) -> Shared {
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
            most_connections,
            admission: Mutex::new(Admission::new(capacity)),
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
    pub fn ticket(self: &Arc<Shared>, client: ClientKey) -> Ticket {
        Ticket { shared: Arc::clone(self), client }
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
        let admitted = self.shared.admission().release(self.client);
        for next in admitted {
            self.shared.lanes.tell(next, Note::Admitted);
        }
    }
}
