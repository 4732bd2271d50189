// SPDX-License-Identifier: Apache-2.0
//! WebSocket that carries a test: sends data from the hot buffer, drops received data in the
//! kernel, and exchanges texts and control frames between them.

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
use crate::turn::{Turn, Work};
use crate::wire::{unless_blocked, Wire};

const READ_BYTES: usize = 4096;
/// Length of the shortest frame: its header. A read is bounded by the number of these that it can
/// hold.
const FRAME_BYTES: u64 = 2;

/// The outcome of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The socket takes no more for now, or the turn's budget is spent.
    Full,
    /// Everything that may be sent has been sent.
    Idle,
}

/// One WebSocket and the socket below it.
pub struct Channel {
    pub wire: Wire,
    pub endpoint: Endpoint,
    /// Handshake bytes, sent before any frame; those from `said` on are unsent.
    preface: Vec<u8>,
    writer: Writer,
    sizes: Sizes,
    sent_bytes: u64,
    /// Most payload bytes to send in all.
    limit: u64,
    threshold: Threshold,
    /// Bytes that came with the handshake and are not parsed yet.
    early: Vec<u8>,
}

impl Channel {
    /// Make a channel. `preface` is this side's part of the handshake; it is sent first.
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
            early: Vec::new(),
        }
    }

    /// Limit the payload to send in all; None is unlimited.
    pub fn limit(&mut self, bytes: Option<u64>) {
        self.limit = bytes.unwrap_or(u64::MAX);
    }

    /// Return the payload bytes of binary messages sent so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    pub fn received_bytes(&self) -> u64 {
        self.endpoint.binary_bytes()
    }

    /// Return whether no frame is partly sent and no output waits.
    pub fn is_flushed(&self) -> bool {
        self.preface.is_empty() && self.writer.between_frames() && !self.endpoint.has_output()
    }

    /// Return whether input waits that epoll does not report.
    pub fn has_unread(&self) -> bool {
        let here = self.wire.has_plain() || !self.early.is_empty();
        here && self.endpoint.want().is_some()
    }

    /// Return whether both sides have sent a Close and all output has left.
    pub fn is_over(&mut self) -> bool {
        self.endpoint.over() && self.is_flushed() && self.wire.flush().is_ok_and(|all| all)
    }

    /// Return the events to wait for: incoming frames until the peer has closed, and space for
    /// pending output.
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

    /// Send pending output, then new data messages up to `data` bytes in all.
    pub fn push(&mut self, data: u64, turn: &mut Turn) -> io::Result<Pushed> {
        if !self.wire.flush()? {
            return Ok(Pushed::Full);
        }
        let most = self.sent_bytes.saturating_add(data);
        loop {
            if self.writer.between_frames() {
                if !self.push_output(turn)? {
                    return Ok(Pushed::Full);
                }
                if self.sent_bytes >= most {
                    return Ok(Pushed::Idle);
                }
                let left = self.limit - self.sent_bytes;
                if left == 0 {
                    return Ok(Pushed::Idle);
                }
                let size = self.sizes.next(self.sent_bytes).min(left);
                let mask = self.endpoint.next_mask();
                self.writer.begin(size, mask);
            }
            if !self.push_frame(turn)? {
                return Ok(Pushed::Full);
            }
        }
    }

    /// Send the handshake, texts and control frames. Return false if the socket is full.
    fn push_output(&mut self, turn: &mut Turn) -> io::Result<bool> {
        while !self.preface.is_empty() {
            let Some(count) = unless_blocked(self.wire.send(&self.preface, turn))? else {
                return Ok(false);
            };
            self.preface.drain(..count);
        }
        while self.endpoint.has_output() {
            let Some(count) = unless_blocked(self.wire.send(self.endpoint.output(), turn))? else {
                return Ok(false);
            };
            self.endpoint.sent(count);
        }
        Ok(true)
    }

    /// Send the rest of the current data frame. Return false if the socket is full.
    fn push_frame(&mut self, turn: &mut Turn) -> io::Result<bool> {
        while !self.writer.between_frames() {
            let (header, payload) = self.writer.rest();
            let Some(sent) = send_hot(&mut self.wire, header, payload, turn)? else {
                return Ok(false);
            };
            self.sent_bytes += self.writer.sent(sent);
        }
        Ok(true)
    }

    /// Take up to `most` received bytes. A stream that ends before the peer's Close is an error.
    pub fn pull(&mut self, most: u64, turn: &mut Turn) -> io::Result<Vec<Notice>> {
        let mut notices = Vec::new();
        let mut left = most;
        while left > 0 {
            let moved = match self.endpoint.want() {
                None => break,
                Some(Want::Drop(bytes)) if self.early.is_empty() => {
                    let dropped = unless_blocked(self.wire.discard(bytes.min(left), turn))?;
                    self.endpoint.dropped(dropped.unwrap_or(0));
                    dropped
                }
                Some(Want::Drop(_)) => self.read(READ_BYTES, turn, &mut notices)?,
                Some(Want::Bytes(bytes)) => self.read(bytes, turn, &mut notices)?,
            };
            match moved {
                None => break,
                Some(0) if notices.is_empty() => return Err(ErrorKind::UnexpectedEof.into()),
                // The next call finds the end again, after these notices are handled.
                Some(0) => break,
                Some(count) => left = left.saturating_sub(count),
            }
        }
        Ok(notices)
    }

    /// Read up to `most` bytes, and at most as many as hold the frames left in this turn. 0 is the
    /// end.
    fn read(
        &mut self,
        most: usize,
        turn: &mut Turn,
        notices: &mut Vec<Notice>,
    ) -> io::Result<Option<u64>> {
        let mut buffer = [0; READ_BYTES];
        let frames = turn.may(Work::Frames, u64::MAX);
        let most = (most.min(READ_BYTES) as u64).min(frames * FRAME_BYTES) as usize;
        let read = &mut buffer[..most];
        let count = match (most, self.early.is_empty()) {
            (0, _) => None,
            (_, true) => unless_blocked(self.wire.receive(read, turn))?,
            (_, false) => Some(take_front(&mut self.early, read)),
        };
        let before = self.endpoint.frames();
        self.interpret(&buffer[..count.unwrap_or(0)], notices);
        turn.spend(Work::Frames, self.endpoint.frames() - before);
        Ok(count.map(|count| count as u64))
    }

    fn interpret(&mut self, bytes: &[u8], notices: &mut Vec<Notice>) {
        let mut rest = bytes;
        while !rest.is_empty() && self.endpoint.want().is_some() {
            let (used, notice) = self.endpoint.receive(rest);
            notices.extend(notice);
            rest = &rest[used..];
        }
    }

    /// Keep bytes that came with the handshake; they are read first.
    pub fn came_early(&mut self, bytes: Vec<u8>) {
        self.early = bytes;
    }

    /// Set SO_RCVLOWAT to what arrives in 2 ms.
    pub fn adapt_threshold(&mut self, now: Instant) -> io::Result<()> {
        let (buffer, _) = sys::buffer_limits(self.wire.as_raw_fd()).unwrap_or_default();
        match self.threshold.adapt(now, self.endpoint.binary_bytes(), buffer) {
            Some(bytes) => self.wire.set_threshold(bytes),
            None => Ok(()),
        }
    }

    /// Return whether small amounts must be polled for, because SO_RCVLOWAT keeps the kernel from
    /// waking the loop.
    pub fn waits_for_much(&self) -> bool {
        self.threshold.bytes() > 1 && !self.wire.is_tls()
    }
}

/// Move the start of `from` to `into`; return the number of bytes.
fn take_front(from: &mut Vec<u8>, into: &mut [u8]) -> usize {
    let count = from.len().min(into.len());
    into[..count].copy_from_slice(&from[..count]);
    from.drain(..count);
    count
}
