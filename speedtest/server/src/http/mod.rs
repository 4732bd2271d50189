// SPDX-License-Identifier: Apache-2.0
//! HTTP/1.1, clear and TLS, and HTTP/2: LibreSpeed's endpoints, responsiveness, the project's own
//! page, health and metrics.
//!
//! [`connection`] owns a socket and moves bodies: downloads out of the hot buffer, uploads dropped in
//! the kernel where the connection is clear. [`h2`] and [`exchange`] do the same
//! for HTTP/2. [`routes`] decides what a request gets, [`sessions`] whether its client may test now;
//! [`flow`] is one body on its way. [`transfers`] remembers what TCP_INFO said of
//! the transfers of a page's test, until the page asks who limited it.

mod connection;
mod exchange;
mod flow;
mod h2;
mod metrics;
mod routes;
pub mod sessions;
pub mod transfers;

use std::sync::Arc;

pub use routes::Service;
use speedtest_net::wire::Wire;

use crate::listener::Greet;
use crate::shared::Shared;
use crate::tls::{Handshake, Identity, Then};
use connection::Connection;

/// How connections to one clear-text address begin.
pub fn greet(shared: Arc<Shared>, service: Service) -> Greet {
    Box::new(move |guest| {
        let wire = Wire::Clear(guest.socket);
        Some(Box::new(Connection::new(
            wire,
            guest.peer,
            guest.connection,
            Arc::clone(&shared),
            service,
        )))
    })
}

/// How connections to one TLS address begin.
pub fn greet_tls(shared: Arc<Shared>, identity: Arc<Identity>) -> Greet {
    let for_visitors = Arc::clone(&shared);
    let then: Then = Arc::new(move |wire, peer, counted| {
        let shared = Arc::clone(&for_visitors);
        match wire.alpn() {
            Some(b"h2") => Box::new(h2::Connection::new(wire, peer, counted, shared)),
            _ => Box::new(Connection::new(wire, peer, counted, shared, Service::Tests)),
        }
    });
    Box::new(move |guest| {
        let shared = Arc::clone(&shared);
        let handshake = Handshake::new(guest, &identity, shared, Arc::clone(&then)).ok()?;
        Some(Box::new(handshake))
    })
}
