// SPDX-License-Identifier: Apache-2.0
//! A WebSocket that carries a test: data out of the hot buffer, data dropped in the kernel, and
//! texts and control frames between them.

use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::time::Instant;

use speedtest_proto::ndt7::pace::Sizes;
use speedtest_proto::websocket::endpoint::{Endpoint, Notice};
use speedtest_proto::websocket::reader::Want;
use speedtest_proto::websocket::writer::Writer;
use speedtest_proto::websocket::Role;

use super::hot::send_hot;
use super::threshold::Threshold;
use crate::reactor::Interest;
use crate::sys;
use crate::wire::{unless_blocked, Wire};

/// One turn moves at most this much, so that the other sockets of the loop get theirs.
const MOST_AT_ONCE: u64 = 4 << 20;
/// Steps of one turn: tiny frames are bounded by their number.
const MOST_STEPS: usize = 64;
const READ_BYTES: usize = 4096;

/// What a turn of sending came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The socket takes no more for now.
    Full,
    /// Everything that may be sent is.
    Idle,
    /// There is more to send.
    Turn,
}

/// One WebSocket and the socket below it.
pub struct Channel {
    pub wire: Wire,
    pub endpoint: Endpoint,
    /// Bytes that go before any frame: the handshake; from `said` on.
    preface: Vec<u8>,
    writer: Writer,
    sizes: Sizes,
    sent_bytes: u64,
    /// No more payload than this is sent in all.
    limit: u64,
    threshold: Threshold,
    unread: bool,
}

impl Channel {
    /// `preface` is this side's part of the handshake, which goes out first.
    pub fn new(wire: Wire, role: Role, seed: u32, preface: Vec<u8>, now: Instant) -> Channel {
        Channel {
            wire,
            endpoint: Endpoint::new(role, seed),
            preface,
            writer: Writer::new(role),
            sizes: Sizes::default(),
            sent_bytes: 0,
            limit: u64::MAX,
            threshold: Threshold::new(now),
            unread: false,
        }
    }

    /// Exactly so much payload is sent at most.
    pub fn limit(&mut self, bytes: Option<u64>) {
        self.limit = bytes.unwrap_or(u64::MAX);
    }

    /// Payload of binary messages sent so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    pub fn received_bytes(&self) -> u64 {
        self.endpoint.binary_bytes()
    }

    /// Nothing is half sent or waiting.
    pub fn is_flushed(&self) -> bool {
        self.preface.is_empty() && self.writer.between_frames() && !self.endpoint.has_output()
    }

    /// May there be something to read that the kernel will not tell of?
    pub fn has_unread(&self) -> bool {
        self.unread && self.wire.is_tls() && self.endpoint.want().is_some()
    }

    /// Both sides have said their last word, and it has left.
    pub fn is_over(&mut self) -> bool {
        self.endpoint.over() && self.is_flushed() && self.wire.flush().is_ok_and(|all| all)
    }

    /// What to wait for: incoming frames as long as there may be any, and room for what waits.
    pub fn interest(&self, sending: bool) -> Interest {
        let writes = sending || !self.is_flushed();
        let reads = self.endpoint.want().is_some();
        self.wire.interest(match (reads, writes) {
            (true, true) => Interest::BOTH,
            (true, false) => Interest::READ,
            (false, true) => Interest::WRITE,
            (false, false) => Interest::HANG_UP,
        })
    }

    /// Sends what waits, and new messages of data as long as there are less than `data` bytes.
    pub fn push(&mut self, data: u64) -> io::Result<Pushed> {
        if !self.wire.flush()? {
            return Ok(Pushed::Full);
        }
        let most = self.sent_bytes + data.min(MOST_AT_ONCE);
        for _ in 0..MOST_STEPS {
            if self.writer.between_frames() {
                if !self.push_output()? {
                    return Ok(Pushed::Full);
                }
                if self.sent_bytes >= most {
                    return Ok(if data > MOST_AT_ONCE { Pushed::Turn } else { Pushed::Idle });
                }
                let left = self.limit - self.sent_bytes;
                if left == 0 {
                    return Ok(Pushed::Idle);
                }
                let size = self.sizes.next(self.sent_bytes).min(left);
                let mask = self.endpoint.next_mask();
                self.writer.begin(size, mask);
            }
            if !self.push_frame()? {
                return Ok(Pushed::Full);
            }
        }
        Ok(Pushed::Turn)
    }

    /// Sends the handshake, texts and control frames. False: the socket is full.
    fn push_output(&mut self) -> io::Result<bool> {
        while !self.preface.is_empty() {
            let Some(count) = unless_blocked(self.wire.send(&self.preface))? else {
                return Ok(false);
            };
            self.preface.drain(..count);
        }
        while self.endpoint.has_output() {
            let Some(count) = unless_blocked(self.wire.send(self.endpoint.output()))? else {
                return Ok(false);
            };
            self.endpoint.sent(count);
        }
        Ok(true)
    }

    /// Sends the rest of the current frame of data. False: the socket is full.
    fn push_frame(&mut self) -> io::Result<bool> {
        while !self.writer.between_frames() {
            let (header, payload) = self.writer.rest();
            let Some(sent) = send_hot(&mut self.wire, header, payload)? else {
                return Ok(false);
            };
            self.sent_bytes += self.writer.sent(sent);
        }
        Ok(true)
    }

    /// Takes up to `most` bytes of what has arrived. An end of the stream before the peer's Close is
    /// an error.
    pub fn pull(&mut self, most: u64) -> io::Result<Vec<Notice>> {
        let mut notices = Vec::new();
        let mut left = most.min(MOST_AT_ONCE);
        self.unread = true;
        for _ in 0..MOST_STEPS {
            if left == 0 {
                break;
            }
            let moved = match self.endpoint.want() {
                None => break,
                Some(Want::Drop(bytes)) => {
                    let dropped = unless_blocked(self.wire.discard(bytes.min(left)))?;
                    self.endpoint.dropped(dropped.unwrap_or(0));
                    dropped
                }
                Some(Want::Bytes(bytes)) => {
                    let mut buffer = [0; READ_BYTES];
                    let read = &mut buffer[..bytes.min(READ_BYTES)];
                    let count = unless_blocked(self.wire.receive(read))?;
                    self.take(&buffer[..count.unwrap_or(0)], &mut notices);
                    count.map(|count| count as u64)
                }
            };
            match moved {
                None => {
                    self.unread = false;
                    break;
                }
                Some(0) if notices.is_empty() => return Err(ErrorKind::UnexpectedEof.into()),
                // The end is found again once these are dealt with.
                Some(0) => break,
                Some(count) => left = left.saturating_sub(count),
            }
        }
        Ok(notices)
    }

    /// Takes bytes that came together with the handshake, or were just read.
    pub fn take(&mut self, bytes: &[u8], notices: &mut Vec<Notice>) {
        let mut rest = bytes;
        while !rest.is_empty() && self.endpoint.want().is_some() {
            let (used, notice) = self.endpoint.receive(rest);
            notices.extend(notice);
            rest = &rest[used..];
        }
    }

    /// Lets the kernel wake this loop only for as much as comes in two milliseconds.
    pub fn adapt_threshold(&mut self, now: Instant) -> io::Result<()> {
        let (buffer, _) = sys::buffer_limits(self.wire.as_raw_fd()).unwrap_or_default();
        match self.threshold.adapt(now, self.endpoint.binary_bytes(), buffer) {
            Some(bytes) => self.wire.set_threshold(bytes),
            None => Ok(()),
        }
    }

    /// Does the kernel keep small amounts to itself, so that they have to be looked for?
    pub fn waits_for_much(&self) -> bool {
        self.threshold.bytes() > 1 && !self.wire.is_tls()
    }
}
