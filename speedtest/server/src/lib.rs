// SPDX-License-Identifier: Apache-2.0
//! The speed-test server.
//!
//! # Layout
//! Each layer uses only those above it (`tests/layers.rs`).
//! - [`config`]: what an operator can set, from TOML and flags, checked before anything starts;
//!   `log`: structured lines on stderr; `counters`; `clients` counts connections; `transfers` keeps
//!   figures for verdicts that are fetched later.
//! - `admission` decides which test may run, `accounts` keeps what each client has moved; `other_load`: what
//!   else the server did while a test ran; `results` stores what was measured: JSON lines, SQLite,
//!   PostgreSQL; `accept`: what a listener hands to a protocol; `tls`: certificate and handshake.
//! - The protocols: `iperf3`, the control connection of a test, its streams, its results; `ndt7`, M-Lab's
//!   test over WebSocket; `http`, LibreSpeed's endpoints, the page, health, metrics, and the way to ndt7.
//! - `listener`: accepts connections and distributes them over the loops; `proxied`: those of proxies
//!   that name their client first.
//! - [`serve`]: starts the loops, gives each protocol what it uses, waits for signals, drains;
//!   `privileges` gives up root, `notify` tells systemd.

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
