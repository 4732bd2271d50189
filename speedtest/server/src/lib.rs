// SPDX-License-Identifier: Apache-2.0
//! The speed-test server.
//!
//! # Layout
//! - [`config`]: what an operator can set, from TOML and flags, checked before anything starts.
//! - [`serve`]: starts the loops, waits for signals, drains.
//! - `listener`: accepts for one loop; `clients` counts connections, `admission` decides who may test.
//! - `iperf3`: the control connection of a test, its streams, and what is told at the end.
//! - `http`: LibreSpeed's endpoints, the page, health, metrics; clear-text bodies bypass user space.
//! - `tls`: the certificate and its reload; the handshake before a connection is served.
//! - `ndt7`: M-Lab's test over WebSocket, on the same addresses as HTTP.
//! - `results`: keeps what was measured: JSON lines, SQLite, PostgreSQL.
//! - `privileges`: gives up root.
//! - `network`: a range of addresses, as in the configuration.
//! - `log`: structured lines on stderr; `notify`: systemd.

mod admission;
mod clients;
pub mod config;
mod http;
mod iperf3;
mod listener;
mod log;
mod ndt7;
mod network;
mod notify;
mod privileges;
mod results;
pub mod serve;
mod shared;
mod tls;

pub use config::Config;
pub use serve::serve;
