// SPDX-License-Identifier: Apache-2.0
//! Clear-text HTTP/1.1: LibreSpeed's endpoints, the project's own page, health and metrics.
//!
//! [`connection`] owns a socket and moves bodies: downloads out of the hot buffer, uploads dropped in
//! the kernel. [`routes`] decides what a request gets. [`transfers`] remembers what TCP_INFO said of
//! the transfers of a page's test, until the page asks who limited it.

mod connection;
mod metrics;
mod routes;
pub mod transfers;

use std::sync::Arc;

pub use routes::Service;

use crate::listener::Greet;
use crate::shared::Shared;
use connection::Connection;

/// How connections to one HTTP address begin.
pub fn greet(shared: Arc<Shared>, service: Service) -> Greet {
    Box::new(move |guest| Box::new(Connection::new(guest, Arc::clone(&shared), service)))
}
