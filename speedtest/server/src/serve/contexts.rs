// SPDX-License-Identifier: Apache-2.0
//! State that each protocol gets from the server's shared parts.

use std::sync::Arc;

use super::parts::Parts;
use super::ServeError;
use crate::config::Config;
use crate::{http, iperf3, ndt7};

pub fn iperf3(config: &Config, parts: &Parts) -> iperf3::Context {
    iperf3::Context {
        limits: config.limits.clone(),
        sample_every: config.server.sample_every(),
        kernel: parts.kernel.clone(),
        log: parts.log.clone(),
        lanes: parts.lanes.clone(),
        counters: Arc::clone(&parts.counters),
        admission: Arc::clone(&parts.admission),
        accounts: Arc::clone(&parts.accounts),
        keeper: Arc::clone(&parts.keeper),
        other_load: Arc::clone(&parts.other_load),
        tests: iperf3::Registry::default(),
    }
}

/// Make the state of HTTP. It fails if the keys of ndt7's access tokens cannot be read.
pub fn http(config: &Config, parts: &Parts) -> Result<http::Context, ServeError> {
    let transfers = Arc::default();
    let ndt7 = ndt7::Context {
        limits: config.limits.clone(),
        sample_every: config.server.sample_every(),
        congestion: config.ndt7.congestion.clone(),
        gate: ndt7::Gate::load(&config.ndt7)?,
        kernel: parts.kernel.clone(),
        log: parts.log.clone(),
        counters: Arc::clone(&parts.counters),
        admission: Arc::clone(&parts.admission),
        accounts: Arc::clone(&parts.accounts),
        keeper: Arc::clone(&parts.keeper),
        other_load: Arc::clone(&parts.other_load),
        transfers: Arc::clone(&transfers),
    };
    Ok(http::Context {
        server_name: config.server.name.clone(),
        limits: config.limits.clone(),
        cors: config.cors.clone(),
        proxies: config.proxies.clone(),
        clients: Arc::clone(&parts.clients),
        counters: Arc::clone(&parts.counters),
        admission: Arc::clone(&parts.admission),
        accounts: Arc::clone(&parts.accounts),
        sessions: Arc::clone(&parts.sessions),
        transfers,
        keeper: Arc::clone(&parts.keeper),
        other_load: Arc::clone(&parts.other_load),
        log: parts.log.clone(),
        lanes: parts.lanes.clone(),
        ndt7: Arc::new(ndt7),
    })
}
