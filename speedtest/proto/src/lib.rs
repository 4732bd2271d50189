// SPDX-License-Identifier: Apache-2.0
//! Speed-test protocols without sockets and without a clock.
//!
//! # Layout
//! - [`iperf3`]: the control connection of either side, its parameters, results and error codes.
//! - [`http1`]: request heads and answer heads, [`reply`] the latter as a client reads them; [`fields`]
//!   where a request comes from; [`http2`] where frames begin; [`librespeed`] the endpoints of that speed
//!   test, [`nq`] those of responsiveness; [`proxy`] the head with which a proxy names its client.
//! - [`responsiveness`]: round trips a minute under load, and when that figure is stable.
//! - [`websocket`]: frames, and one end of a connection; [`ndt7`] the speed test on top of it.
//! - [`series`]: TCP_INFO over a test, in bounded memory.
//! - [`verdict`]: what limited a test, from those figures; [`rfc6349`] its three metrics.
//!
//! A state machine takes the bytes that arrived and the caller's decisions, and returns events and the
//! bytes to send. The owner of the socket reads at most [`iperf3::Server::wants`] bytes, so a machine
//! never has to keep bytes of the next message.

pub mod fields;
pub mod http1;
pub mod http2;
pub mod iperf3;
pub mod librespeed;
pub mod ndt7;
pub mod nq;
pub mod proxy;
pub mod reply;
pub mod responsiveness;
pub mod rfc6349;
pub mod series;
pub mod verdict;
pub mod websocket;
