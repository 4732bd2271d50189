// SPDX-License-Identifier: Apache-2.0
//! ndt7, version 7 of M-Lab's Network Diagnostic Tool: one WebSocket, one direction, 10 s.
//!
//! # Layout
//! - [`request`]: query in the URL of a test.
//! - [`measurement`]: JSON texts that both sides send during a test.
//! - [`pace`]: size of messages and time of the next measurement.
//! - [`token`]: M-Lab's access tokens.

pub mod measurement;
pub mod pace;
pub mod request;
pub mod token;

use std::time::Duration;

/// WebSocket subprotocol that client and server must agree on.
pub const PROTOCOL: &str = "net.measurementlab.ndt.v7";
/// Time after which a sender stops.
pub const TEST_TIME: Duration = Duration::from_secs(10);
/// Time after which a receiver gives up.
pub const MOST_TIME: Duration = Duration::from_secs(15);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subtest {
    /// The server sends.
    Download,
    Upload,
}

impl Subtest {
    pub fn of_path(path: &str) -> Option<Subtest> {
        match path {
            "/ndt/v7/download" => Some(Subtest::Download),
            "/ndt/v7/upload" => Some(Subtest::Upload),
            _ => None,
        }
    }

    pub fn path(self) -> &'static str {
        match self {
            Subtest::Download => "/ndt/v7/download",
            Subtest::Upload => "/ndt/v7/upload",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Subtest::Download => "download",
            Subtest::Upload => "upload",
        }
    }
}
