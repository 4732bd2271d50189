// SPDX-License-Identifier: Apache-2.0
//! One side of an open connection: answers pings, closes after violations, sends texts between
//! frames.

use super::header::{apply_mask, Header, Opcode};
use super::reader::{Event, Reader, Want};
use super::{close_code, Role};

/// Event for the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    Text(String),
    /// The peer ends the connection; the answer is in the output.
    Closed(Option<u16>),
    /// The peer broke the protocol; the output has the status code, and nothing more is read.
    Broken(super::Violation),
}

/// Both directions except binary payload.
#[derive(Debug)]
pub struct Endpoint {
    role: Role,
    reader: Reader,
    output: Vec<u8>,
    /// Latest ping without an answer; a flood of pings gets one answer (5.5.3).
    ping: Option<Vec<u8>>,
    close_said: bool,
    /// The peer has sent its Close.
    deaf: bool,
    mask: u32,
}

impl Endpoint {
    /// Make an endpoint. `seed` makes a client's masks, which only have to differ from run to run
    /// here.
    pub fn new(role: Role, seed: u32) -> Endpoint {
        let peer = if role == Role::Client { Role::Server } else { Role::Client };
        Endpoint {
            role,
            reader: Reader::new(peer),
            output: Vec::new(),
            ping: None,
            close_said: false,
            deaf: false,
            mask: seed | 1,
        }
    }

    pub fn role(&self) -> Role {
        self.role
    }

    /// Return the bytes of binary payload received so far.
    pub fn binary_bytes(&self) -> u64 {
        self.reader.binary_bytes()
    }

    /// Return what to read next; None once the peer has closed or broken the protocol.
    pub fn want(&self) -> Option<Want> {
        (!self.deaf).then(|| self.reader.want())
    }

    /// Return the peer's frames so far.
    pub fn frames(&self) -> u64 {
        self.reader.frames()
    }

    pub fn dropped(&mut self, bytes: u64) {
        self.reader.dropped(bytes);
    }

    /// Take bytes up to the next notice; return how many.
    pub fn receive(&mut self, bytes: &[u8]) -> (usize, Option<Notice>) {
        let mut used = 0;
        while used < bytes.len() && !self.deaf {
            let (count, event) = match self.reader.receive(&bytes[used..]) {
                Ok(taken) => taken,
                Err(violation) => {
                    self.deaf = true;
                    self.close(violation.close_code());
                    return (bytes.len(), Some(Notice::Broken(violation)));
                }
            };
            used += count;
            match event {
                None | Some(Event::Pong) => {}
                Some(Event::Ping(payload)) => self.ping = Some(payload),
                Some(Event::Text(text)) => return (used, Some(Notice::Text(text))),
                Some(Event::Close(code)) => {
                    self.deaf = true;
                    // The answer repeats the code (5.5.1).
                    self.close(code.unwrap_or(close_code::NORMAL));
                    return (used, Some(Notice::Closed(code)));
                }
            }
        }
        (used, None)
    }

    /// Return another mask for a client's frame.
    pub fn next_mask(&mut self) -> [u8; 4] {
        // xorshift32: nothing secret passes here; proxies must only be unable to predict the bytes.
        self.mask ^= self.mask << 13;
        self.mask ^= self.mask >> 17;
        self.mask ^= self.mask << 5;
        self.mask.to_be_bytes()
    }

    fn frame(&mut self, opcode: Opcode, payload: &[u8]) {
        let mask = (self.role == Role::Client).then(|| self.next_mask());
        let payload_bytes = payload.len() as u64;
        Header { fin: true, opcode, payload_bytes, mask }.write(&mut self.output);
        let at = self.output.len();
        self.output.extend_from_slice(payload);
        if let Some(mask) = mask {
            apply_mask(&mut self.output[at..], mask, 0);
        }
    }

    /// Send a text, unless the connection is closing.
    pub fn say(&mut self, text: &str) {
        if !self.close_said {
            self.frame(Opcode::Text, text.as_bytes());
        }
    }

    /// Send this side's Close, once.
    pub fn close(&mut self, code: u16) {
        if !self.close_said {
            self.close_said = true;
            self.ping = None;
            self.frame(Opcode::Close, &code.to_be_bytes());
        }
    }

    /// Return whole frames to send; call it between two frames of data.
    pub fn output(&mut self) -> &[u8] {
        if let Some(payload) = self.ping.take_if(|_| self.output.is_empty()) {
            self.frame(Opcode::Pong, &payload);
        }
        &self.output
    }

    /// Remove sent bytes from the output.
    pub fn sent(&mut self, count: usize) {
        self.output.drain(..count);
    }

    /// Return whether an output frame is incomplete or anything waits.
    pub fn has_output(&self) -> bool {
        !self.output.is_empty() || self.ping.is_some()
    }

    pub fn close_said(&self) -> bool {
        self.close_said
    }

    /// Return whether both sides have sent a Close, or the peer broke the protocol.
    pub fn over(&self) -> bool {
        self.close_said && self.deaf && self.output.is_empty()
    }
}
