// SPDX-License-Identifier: Apache-2.0
//! HTTP/1.1, clear and TLS, and HTTP/2: LibreSpeed's endpoints, responsiveness, the project's own
//! page, health and metrics.
//!
//! [`page`] is the project's own page. [`connection`] owns a socket and moves bodies: downloads
//! from the hot buffer, uploads dropped in the kernel for clear text. [`h2`] and [`exchange`] do
//! the same for HTTP/2. [`routes`] decides the answer to a request, [`sessions`] whether its client
//! may test now; [`flow`] is one body.

mod connection;
mod exchange;
mod flow;
pub mod h2;
mod metrics;
mod page;
mod routes;
mod sessions;

use std::sync::Arc;

pub use routes::Service;
use speedtest_net::reactor::Lanes;
use speedtest_net::wire::Wire;

use crate::accept::Accept;
use crate::accounts::Accounts;
use crate::admission::Admission;
use crate::clients::Clients;
use crate::config::{Cors, Limits, Proxies};
use crate::counters::Counters;
use crate::log::Logger;
use crate::ndt7;
use crate::other_load::OtherLoadMeter;
use crate::results::Keeper;
use crate::tls::{Handshake, Identity, Then};
use crate::transfers::Transfers;
use connection::Connection;
pub use sessions::Sessions;

/// State that the connections of all HTTP addresses share.
pub struct Context {
    /// Server name on pages; None: the host's name.
    pub server_name: Option<String>,
    pub limits: Limits,
    pub cors: Cors,
    pub proxies: Proxies,
    pub clients: Arc<Clients>,
    pub counters: Arc<Counters>,
    pub admission: Arc<Admission>,
    pub accounts: Arc<Accounts>,
    pub sessions: Arc<Sessions>,
    pub transfers: Arc<Transfers>,
    pub keeper: Arc<Keeper>,
    pub other_load: Arc<OtherLoadMeter>,
    pub log: Logger,
    /// Loops whose turns the metrics report.
    pub lanes: Lanes,
    /// State for WebSockets that request ndt7 tests.
    pub ndt7: Arc<ndt7::Context>,
}

/// Answer to a connection for which there is no room.
pub const BUSY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 6\r\nContent-Length: 0\r\n\
    Connection: close\r\n\r\n";

/// Make the handlers of connections to one clear-text address.
pub fn accept(shared: Arc<Context>, service: Service) -> Accept {
    Arc::new(move |accepted| {
        let wire = Wire::Clear(accepted.socket);
        Some(Box::new(Connection::new(
            wire,
            accepted.peer,
            accepted.connection,
            Arc::clone(&shared),
            service,
        )))
    })
}

/// Make the handlers of connections to one TLS address.
pub fn accept_tls(shared: Arc<Context>, identity: Arc<Identity>) -> Accept {
    let for_requests = Arc::clone(&shared);
    let then: Then = Arc::new(move |wire, peer, counted| {
        let shared = Arc::clone(&for_requests);
        match wire.alpn() {
            Some(b"h2") => Box::new(h2::Connection::new(wire, peer, counted, shared)),
            _ => Box::new(Connection::new(wire, peer, counted, shared, Service::Tests)),
        }
    });
    Arc::new(move |accepted| {
        let (counters, most) = (Arc::clone(&shared.counters), shared.limits.pending());
        let then = Arc::clone(&then);
        let handshake = Handshake::new(accepted, &identity, counters, most, then).ok()?;
        Some(Box::new(handshake))
    })
}
