// SPDX-License-Identifier: Apache-2.0
//! Speed-test protocols without sockets and without a clock.
//!
//! # Layout
//! - [`iperf3`]: the control connection of either side, its parameters, results and error codes.
//! - [`http1`]: heads of requests and answers; [`reply`]: answers as a client reads them;
//!   [`fields`]: the client of a request; [`http2`]: frame boundaries; [`librespeed`]: endpoints of
//!   LibreSpeed; [`nq`]: endpoints of responsiveness; [`proxy`]: the PROXY protocol's head.
//! - [`responsiveness`]: round trips per minute under load, and whether the result is stable.
//! - [`websocket`]: frames, and one side of a connection; [`ndt7`]: the speed test on top of it.
//! - [`series`]: TCP_INFO over a test, in bounded memory.
//! - [`verdict`]: the limit of a test by those samples; [`rfc6349`]: its three metrics.
//!
//! A state machine takes received bytes and the caller's decisions. It returns events and bytes to
//! send. The owner of the socket reads at most [`iperf3::Server::wants`] bytes, so a machine never
//! has to keep bytes of the next message.

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
