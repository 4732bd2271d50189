// SPDX-License-Identifier: Apache-2.0
//! What the owner of a test tells its streams, and what they tell it.

use std::time::Instant;

/// To a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Begin. The test began at this moment, however late its streams' loops are.
    Start(Instant),
    /// Count what is there and report.
    Stop,
    /// Report once this many bytes are in, or none come any more.
    StopAt(u64),
    Close,
}

/// To the owner of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The stream is in its loop.
    Joined,
    /// The stream could not be made: no connection, or the kernel refused one of its options.
    Refused,
    /// The stream has left its report.
    Reported,
}
