// SPDX-License-Identifier: Apache-2.0
//! Frame headers (RFC 6455, section 5.2): 2 to 14 bytes.

use super::{Role, Violation};

pub const MAX_HEADER_BYTES: usize = 14;
pub const MAX_CONTROL_BYTES: u64 = 125;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    Continuation,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

impl Opcode {
    fn of(bits: u8) -> Option<Opcode> {
        Some(match bits {
            0 => Opcode::Continuation,
            1 => Opcode::Text,
            2 => Opcode::Binary,
            8 => Opcode::Close,
            9 => Opcode::Ping,
            10 => Opcode::Pong,
            _ => return None,
        })
    }

    fn bits(self) -> u8 {
        match self {
            Opcode::Continuation => 0,
            Opcode::Text => 1,
            Opcode::Binary => 2,
            Opcode::Close => 8,
            Opcode::Ping => 9,
            Opcode::Pong => 10,
        }
    }

    pub fn is_control(self) -> bool {
        matches!(self, Opcode::Close | Opcode::Ping | Opcode::Pong)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub fin: bool,
    pub opcode: Opcode,
    pub payload_bytes: u64,
    pub mask: Option<[u8; 4]>,
}

impl Header {
    /// Read a header of a peer of `role` and return it with its length. None: more bytes are
    /// needed.
    pub fn read(bytes: &[u8], role: Role) -> Result<Option<(Header, usize)>, Violation> {
        let [first, second, rest @ ..] = bytes else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(Violation::ReservedBit);
        }
        let opcode = Opcode::of(first & 15).ok_or(Violation::Opcode(first & 15))?;
        let (fin, masked, short) = (first & 0x80 != 0, second & 0x80 != 0, second & 0x7f);
        if masked != (role == Role::Client) {
            return Err(Violation::Masking);
        }
        if opcode.is_control() && (!fin || u64::from(short) > MAX_CONTROL_BYTES) {
            return Err(Violation::Control);
        }
        let (payload_bytes, rest) = match short {
            126 => {
                let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
                (u64::from(u16::from_be_bytes(*length)), rest)
            }
            127 => {
                let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
                (u64::from_be_bytes(*length), rest)
            }
            short => (u64::from(short), rest),
        };
        let least = match short {
            126 => 126,
            127 => 1 << 16,
            _ => 0,
        };
        if payload_bytes < least || payload_bytes >> 63 != 0 {
            return Err(Violation::Length);
        }
        let (mask, rest) = if masked {
            let Some((mask, rest)) = rest.split_first_chunk() else { return Ok(None) };
            (Some(*mask), rest)
        } else {
            (None, rest)
        };
        let used = bytes.len() - rest.len();
        Ok(Some((Header { fin, opcode, payload_bytes, mask }, used)))
    }

    /// Append the header in its wire format.
    pub fn write(&self, output: &mut Vec<u8>) {
        let masked = if self.mask.is_some() { 0x80 } else { 0 };
        output.push(u8::from(self.fin) << 7 | self.opcode.bits());
        match (u8::try_from(self.payload_bytes), u16::try_from(self.payload_bytes)) {
            (Ok(short), _) if short < 126 => output.push(masked | short),
            (_, Ok(length)) => {
                output.push(masked | 126);
                output.extend_from_slice(&length.to_be_bytes());
            }
            _ => {
                output.push(masked | 127);
                output.extend_from_slice(&self.payload_bytes.to_be_bytes());
            }
        }
        output.extend_from_slice(self.mask.as_ref().map_or(&[], |mask| mask.as_slice()));
    }
}

/// Mask or unmask payload bytes that begin `at` this offset.
pub fn apply_mask(bytes: &mut [u8], mask: [u8; 4], at: u64) {
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte ^= mask[(at as usize + index) % 4];
    }
}
