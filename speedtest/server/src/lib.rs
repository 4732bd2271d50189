// SPDX-License-Identifier: Apache-2.0
//! The speed-test server.
//!
//! # Layout
//! Each layer uses only those above it (`tests/layers.rs`).
//! - [`config`]: the operator's settings, from TOML and flags, checked before anything starts;
//!   `log`: structured lines on stderr; `counters`; `clients` counts connections; `transfers` keeps
//!   data for verdicts that are fetched later.
//! - `admission` decides which test may run, `accounts` counts each client's bytes; `other_load`:
//!   other load of the server during a test; `results` stores results: JSON lines, SQLite,
//!   PostgreSQL; `accept`: hand-over from a listener to a protocol; `tls`: certificate and
//!   handshake.
//! - The protocols: `iperf3`, the control connection of a test, its streams, its results; `ndt7`,
//!   M-Lab's test over WebSocket; `http`, LibreSpeed's endpoints, the page, health, metrics, and
//!   the upgrade to ndt7.
//! - `listener`: accepts connections and distributes them over the loops; `proxied`: connections of
//!   proxies that name their client first.
//! - [`serve`]: starts the loops, gives each protocol its state, waits for signals, drains;
//!   `privileges` drops root, `notify` notifies systemd.

mod accept;
mod accounts;
mod admission;
mod clients;
pub mod config;
mod counters;
mod http;
mod iperf3;
mod listener;
mod log;
mod ndt7;
mod notify;
mod other_load;
mod privileges;
mod proxied;
mod results;
pub mod serve;
mod tls;
mod transfers;
#[cfg(test)]
mod turn_tests;

pub use config::Config;
pub use serve::serve;
