// SPDX-License-Identifier: Apache-2.0
//! Binary messages of test data to send: a header each, and payload from the owner's hot buffer.
//!
//! A client must mask its payload. Masked random bytes are random bytes, so the buffer is sent
//! unchanged under any mask in the header: nothing is masked while the test runs.

use super::header::{Header, Opcode};
use super::Role;

/// Writes one frame at a time.
#[derive(Debug)]
pub struct Writer {
    role: Role,
    header: Vec<u8>,
    left: u64,
}

impl Writer {
    pub fn new(role: Role) -> Writer {
        Writer { role, header: Vec::new(), left: 0 }
    }

    /// Return whether another frame, of any type, may begin here.
    pub fn between_frames(&self) -> bool {
        self.header.is_empty() && self.left == 0
    }

    /// Begin the next message; only between frames.
    pub fn begin(&mut self, payload_bytes: u64, mask: [u8; 4]) {
        let mask = (self.role == Role::Client).then_some(mask);
        self.left = payload_bytes;
        Header { fin: true, opcode: Opcode::Binary, payload_bytes, mask }.write(&mut self.header);
    }

    /// Return the unsent part of the current frame: the rest of its header, and the remaining
    /// payload bytes.
    pub fn rest(&self) -> (&[u8], u64) {
        (&self.header, self.left)
    }

    /// Count sent bytes; return how many of them were payload.
    pub fn sent(&mut self, count: usize) -> u64 {
        let of_header = count.min(self.header.len());
        self.header.drain(..of_header);
        let payload = (count - of_header) as u64;
        self.left -= payload;
        payload
    }
}
