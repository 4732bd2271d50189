// SPDX-License-Identifier: Apache-2.0
//! Orders from the owner of a test to its streams, and their events.

use std::time::Instant;

/// Order to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Begin. The test began at this moment, however late the streams' loops are.
    Start(Instant),
    /// Count the bytes already received, then report.
    Stop,
    /// Report once this many bytes have arrived, or no more come.
    StopAt(u64),
    Close,
}

/// Event for the owner of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The stream is in its loop.
    Joined,
    /// The stream could not be made: no connection, or the kernel rejected an option.
    Refused,
    /// The stream has stored its report.
    Reported,
}
