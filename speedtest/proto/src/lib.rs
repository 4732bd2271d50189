// SPDX-License-Identifier: Apache-2.0
//! Speed-test protocols without sockets and without a clock.
//!
//! # Layout
//! - [`iperf3`]: the control connection of either side, its parameters, results and error codes.
//! - [`http1`]: request heads and answer heads, [`reply`] the latter as a client reads them; [`fields`]
//!   what a request says besides; [`librespeed`] the endpoints of that speed test, [`nq`] those of
//!   responsiveness.
//! - [`responsiveness`]: round trips a minute under load, and when that figure is stable.
//! - [`websocket`]: frames, and one end of a connection; [`ndt7`] the speed test on top of it.
//! - [`series`]: what TCP_INFO said over a test, in bounded memory.
//! - [`verdict`]: who limited a test, from those figures; [`rfc6349`] its three metrics.
//!
//! A machine takes the bytes that arrived and the caller's decisions, and gives events and the bytes
//! to send. Whoever owns the socket asks [`iperf3::Server::wants`] how many bytes may be read, so a
//! machine never has to keep bytes that belong to somebody else.

pub mod fields;
pub mod http1;
pub mod iperf3;
pub mod librespeed;
pub mod ndt7;
pub mod nq;
pub mod reply;
pub mod responsiveness;
pub mod rfc6349;
pub mod series;
pub mod verdict;
pub mod websocket;
