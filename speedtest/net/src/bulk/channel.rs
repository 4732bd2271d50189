// SPDX-License-Identifier: Apache-2.0
//! A WebSocket that carries a test: data from the hot buffer, data dropped in the kernel, and texts
//! and control frames between them.

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
/// The shortest frame has a header only. What is read is bounded by how many of these are in it.
const FRAME_BYTES: u64 = 2;

/// The outcome of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The socket takes no more for now, or this turn sends no more.
    Full,
    /// Everything that may be sent is.
    Idle,
}

/// One WebSocket and the socket below it.
pub struct Channel {
    pub wire: Wire,
    pub endpoint: Endpoint,
    /// Bytes before any frame: the handshake; from `said` on they are still to be sent.
    preface: Vec<u8>,
    writer: Writer,
    sizes: Sizes,
    sent_bytes: u64,
    /// No more payload than this is sent in all.
    limit: u64,
    threshold: Threshold,
    /// What came together with the handshake and is not looked at yet.
    early: Vec<u8>,
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
            early: Vec::new(),
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

    /// Is there something to read of which the kernel does not wake the loop?
    pub fn has_unread(&self) -> bool {
        let here = self.wire.has_plain() || !self.early.is_empty();
        here && self.endpoint.want().is_some()
    }

    /// Both sides have sent a Close, and all output has left.
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

    /// Sends the handshake, texts and control frames. False: the socket is full.
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

    /// Sends the rest of the current frame of data. False: the socket is full.
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

    /// Takes up to `most` bytes of what has arrived. An end of the stream before the peer's Close is
    /// an error.
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
                // The end is found again once these are dealt with.
                Some(0) => break,
                Some(count) => left = left.saturating_sub(count),
            }
        }
        Ok(notices)
    }

    /// Reads up to `most` bytes, no more than hold as many frames as the turn has left. 0 is the end.
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

    /// Bytes that came together with the handshake; they are read first.
    pub fn came_early(&mut self, bytes: Vec<u8>) {
        self.early = bytes;
    }

    /// Lets the kernel wake this loop only for as much as comes in two milliseconds.
    pub fn adapt_threshold(&mut self, now: Instant) -> io::Result<()> {
        let (buffer, _) = sys::buffer_limits(self.wire.as_raw_fd()).unwrap_or_default();
        match self.threshold.adapt(now, self.endpoint.binary_bytes(), buffer) {
            Some(bytes) => self.wire.set_threshold(bytes),
            None => Ok(()),
        }
    }

    /// Must small amounts be polled for, because the kernel does not wake the loop for them?
    pub fn waits_for_much(&self) -> bool {
        self.threshold.bytes() > 1 && !self.wire.is_tls()
    }
}

/// Moves the beginning of `from` to `into`.
fn take_front(from: &mut Vec<u8>, into: &mut [u8]) -> usize {
    let count = from.len().min(into.len());
    into[..count].copy_from_slice(&from[..count]);
    from.drain(..count);
    count
}
