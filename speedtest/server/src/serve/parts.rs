// SPDX-License-Identifier: Apache-2.0
//! State that several protocols use, made once. Each protocol gets only what it uses.

use std::sync::Arc;
use std::time::Instant;

use speedtest_net::reactor::Lanes;

use crate::accept::Listening;
use crate::accounts::Accounts;
use crate::admission::{Admission, Capacity};
use crate::clients::{Bounds, Clients};
use crate::config::{Config, Kernel};
use crate::counters::Counters;
use crate::http::Sessions;
use crate::log::Logger;
use crate::other_load::OtherLoadMeter;
use crate::results::Keeper;

pub struct Parts {
    pub kernel: Kernel,
    pub log: Logger,
    pub lanes: Lanes,
    pub clients: Arc<Clients>,
    pub counters: Arc<Counters>,
    pub admission: Arc<Admission>,
    pub keeper: Arc<Keeper>,
    pub sessions: Arc<Sessions>,
    pub accounts: Arc<Accounts>,
    pub listening: Arc<Listening>,
    pub other_load: Arc<OtherLoadMeter>,
}

impl Parts {
    /// Make the parts; `most_connections` fit into this process's descriptors.
    pub fn new(config: &Config, kernel: Kernel, lanes: Lanes, most_connections: usize) -> Parts {
        let limits = &config.limits;
        let capacity = Capacity {
            tests: limits.tests,
            tests_per_client: limits.tests_per_client,
            queue: limits.queue,
            queue_per_client: limits.queue_per_client,
        };
        let bounds = Bounds {
            all: match limits.connections {
                0 => most_connections,
                limit => limit.min(most_connections),
            },
            of_client: limits.connections_per_client,
            pending_of_client: limits.pending_per_client,
        };
        let log = Logger::new(config.log.format);
        let counters = Arc::<Counters>::default();
        let keeper = Keeper::new(config.results.clone(), log.clone(), Arc::clone(&counters));
        let clients = Clients::new(bounds, limits.prefixes(), lanes.clone());
        let admission = Admission::new(capacity, lanes.clone());
        let other_load = OtherLoadMeter {
            lanes: lanes.clone(),
            clients: Arc::clone(&clients),
            counters: Arc::clone(&counters),
            admission: Arc::clone(&admission),
            link_bps: config.server.link_bps(),
        };
        Parts {
            kernel,
            log,
            clients,
            counters,
            admission,
            other_load: Arc::new(other_load),
            keeper: Arc::new(keeper),
            sessions: Arc::default(),
            accounts: Arc::new(Accounts::new(limits.clone(), Instant::now())),
            listening: Arc::default(),
            lanes,
        }
    }
}
