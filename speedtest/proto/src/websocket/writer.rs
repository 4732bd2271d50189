// SPDX-License-Identifier: Apache-2.0
//! Binary messages of test data that leave: a header each, and payload out of the owner's hot buffer.
//!
//! A client has to mask its payload. Masked random bytes are random bytes, so the buffer is sent as it
//! is under whatever mask the header names: nothing is masked while the test runs.

use super::header::{Header, Opcode};
use super::Role;

/// One frame at a time.
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

    /// May another frame, of whatever kind, begin here?
    pub fn between_frames(&self) -> bool {
        self.header.is_empty() && self.left == 0
    }

    /// Begins the next message; only between frames.
    pub fn begin(&mut self, payload_bytes: u64, mask: [u8; 4]) {
        let mask = (self.role == Role::Client).then_some(mask);
        self.left = payload_bytes;
        Header { fin: true, opcode: Opcode::Binary, payload_bytes, mask }.write(&mut self.header);
    }

    /// What is still to be sent of the current frame: the rest of its header, then so much payload.
    pub fn rest(&self) -> (&[u8], u64) {
        (&self.header, self.left)
    }

    /// So many bytes have been sent; returns how many of them were payload.
    pub fn sent(&mut self, count: usize) -> u64 {
        let of_header = count.min(self.header.len());
        self.header.drain(..of_header);
        let payload = (count - of_header) as u64;
        self.left -= payload;
        payload
    }
}
