// SPDX-License-Identifier: Apache-2.0
//! Received frames. Texts and control frames are read, binary payload is only counted.

use super::header::{apply_mask, Header, Opcode, MAX_HEADER_BYTES};
use super::{Role, Violation};

/// Longest text that is kept; a measurement has less than 4 KiB.
pub const MAX_TEXT_BYTES: u64 = 16 << 10;
/// Longest message of any kind; ndt7 allows 2^24.
pub const MAX_MESSAGE_BYTES: u64 = 1 << 24;
/// Bytes to read at once while frames are small. After a large frame only a header is read.
const READ_BYTES: usize = 4096;
const LARGE_FRAME_BYTES: u64 = 4096;

/// Next action for the owner of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Read up to this many bytes and pass them to [`Reader::receive`].
    Bytes(usize),
    /// Drop up to this much binary payload, then report the number to [`Reader::dropped`].
    Drop(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Text(String),
    Ping(Vec<u8>),
    Pong,
    Close(Option<u16>),
}

#[derive(Debug)]
enum State {
    Header(Vec<u8>),
    /// Payload of a text or control frame.
    Keeping {
        header: Header,
        kept: Vec<u8>,
    },
    /// Remaining binary payload.
    Dropping(u64),
}

/// Message that the current frame belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    Text,
    Binary,
}

/// Reads the frames of one peer.
#[derive(Debug)]
pub struct Reader {
    peer: Role,
    state: State,
    /// Message whose last fragment is still to come.
    open: Option<Message>,
    message_bytes: u64,
    text: Vec<u8>,
    binary_bytes: u64,
    frames: u64,
    frame_was_large: bool,
}

impl Reader {
    pub fn new(peer: Role) -> Reader {
        Reader {
            peer,
            state: State::Header(Vec::new()),
            open: None,
            message_bytes: 0,
            text: Vec::new(),
            binary_bytes: 0,
            frames: 0,
            frame_was_large: false,
        }
    }

    /// Return the bytes of binary payload so far.
    pub fn binary_bytes(&self) -> u64 {
        self.binary_bytes
    }

    /// Return the frames begun so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    pub fn want(&self) -> Want {
        match &self.state {
            State::Dropping(left) => Want::Drop(*left),
            State::Header(have) if self.frame_was_large => {
                Want::Bytes(MAX_HEADER_BYTES - have.len())
            }
            _ => Want::Bytes(READ_BYTES),
        }
    }

    /// Count dropped binary payload; at most as much as [`Want::Drop`] had.
    pub fn dropped(&mut self, bytes: u64) {
        let State::Dropping(left) = &mut self.state else { return };
        let bytes = bytes.min(*left);
        *left -= bytes;
        self.binary_bytes += bytes;
        if *left == 0 {
            self.state = State::Header(Vec::new());
        }
    }

    /// Take bytes up to the next event and return how many; call it again with the rest.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(usize, Option<Event>), Violation> {
        let mut used = 0;
        while used < bytes.len() {
            let rest = &bytes[used..];
            match &mut self.state {
                State::Dropping(left) => {
                    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    self.dropped(count as u64);
                    used += count;
                }
                State::Header(have) => {
                    let before = have.len();
                    let room = (MAX_HEADER_BYTES - before).min(rest.len());
                    have.extend_from_slice(&rest[..room]);
                    let Some((header, length)) = Header::read(have, self.peer)? else {
                        used += room;
                        continue;
                    };
                    used += length - before;
                    if let Some(event) = self.begin(header)? {
                        return Ok((used, Some(event)));
                    }
                }
                State::Keeping { header, kept } => {
                    let missing = header.payload_bytes as usize - kept.len();
                    let count = missing.min(rest.len());
                    kept.extend_from_slice(&rest[..count]);
                    used += count;
                    if count == missing {
                        if let Some(event) = self.complete()? {
                            return Ok((used, Some(event)));
                        }
                    }
                }
            }
        }
        Ok((used, None))
    }

    /// Begin a frame whose header is complete. Return the event of a frame without payload.
    fn begin(&mut self, header: Header) -> Result<Option<Event>, Violation> {
        self.frames += 1;
        let message = self.message(&header)?;
        if message == Some(Message::Binary) {
            self.frame_was_large = header.payload_bytes >= LARGE_FRAME_BYTES;
            self.state = State::Dropping(header.payload_bytes);
            self.dropped(0);
            return Ok(None);
        }
        self.frame_was_large = false;
        self.state = State::Keeping { header, kept: Vec::new() };
        if header.payload_bytes == 0 {
            return self.complete();
        }
        Ok(None)
    }

    /// Return the message that this frame belongs to. None: it is a control frame.
    fn message(&mut self, header: &Header) -> Result<Option<Message>, Violation> {
        let message = match (header.opcode, self.open) {
            (Opcode::Text, None) => Message::Text,
            (Opcode::Binary, None) => Message::Binary,
            (Opcode::Continuation, Some(open)) => open,
            (opcode, _) if opcode.is_control() => return Ok(None),
            _ => return Err(Violation::Fragment),
        };
        if self.open.is_none() {
            self.message_bytes = 0;
        }
        self.message_bytes = self.message_bytes.saturating_add(header.payload_bytes);
        let most = match message {
            Message::Text => MAX_TEXT_BYTES,
            Message::Binary => MAX_MESSAGE_BYTES,
        };
        if self.message_bytes > most {
            return Err(Violation::TooBig);
        }
        self.open = (!header.fin).then_some(message);
        Ok(Some(message))
    }

    /// Handle the complete payload of a text or control frame.
    fn complete(&mut self) -> Result<Option<Event>, Violation> {
        let state = std::mem::replace(&mut self.state, State::Header(Vec::new()));
        let State::Keeping { header, mut kept } = state else { return Ok(None) };
        if let Some(mask) = header.mask {
            apply_mask(&mut kept, mask, 0);
        }
        Ok(match header.opcode {
            Opcode::Ping => Some(Event::Ping(kept)),
            Opcode::Pong => Some(Event::Pong),
            Opcode::Close => Some(Event::Close(close_status(&kept)?)),
            _ => {
                self.text.append(&mut kept);
                if !header.fin {
                    return Ok(None);
                }
                let text = String::from_utf8(std::mem::take(&mut self.text));
                Some(Event::Text(text.map_err(|_| Violation::Utf8)?))
            }
        })
    }
}

fn close_status(payload: &[u8]) -> Result<Option<u16>, Violation> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() { Ok(None) } else { Err(Violation::CloseCode) };
    };
    let code = u16::from_be_bytes(*code);
    // 1004 to 1006 and 1015 are never sent (7.4.1), others below 3000 are not defined.
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(Violation::CloseCode);
    }
    std::str::from_utf8(reason).map_err(|_| Violation::Utf8)?;
    Ok(Some(code))
}
