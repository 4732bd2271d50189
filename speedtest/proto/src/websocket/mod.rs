// SPDX-License-Identifier: Apache-2.0
//! WebSocket (RFC 6455), as far as a speed test needs it.
//!
//! # Layout
//! - [`offer`]: a request for an upgrade, and the key that answers it.
//! - [`header`]: frame headers, written and read.
//! - [`reader`]: received frames. Binary payload is only counted: its owner drops it in the kernel,
//!   so it is never unmasked or copied.
//! - [`writer`]: headers of test data to send; the payload is the owner's hot buffer.
//! - [`endpoint`]: one side of an open connection: answers pings, closes, sends texts.

pub mod endpoint;
pub mod header;
pub mod offer;
pub mod reader;
pub mod writer;

/// Side of a connection. A client masks what it sends, a server does not (5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Client,
    Server,
}

/// Status codes of a Close frame that are used here (7.4.1).
pub mod close_code {
    pub const NORMAL: u16 = 1000;
    pub const GOING_AWAY: u16 = 1001;
    pub const PROTOCOL_ERROR: u16 = 1002;
    pub const UNSUPPORTED: u16 = 1003;
    pub const BAD_PAYLOAD: u16 = 1007;
    pub const POLICY: u16 = 1008;
    pub const TOO_BIG: u16 = 1009;
}

/// Violation of RFC 6455 or of this side's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    #[error("a reserved bit is set and no extension was agreed on")]
    ReservedBit,
    #[error("unknown opcode {0}")]
    Opcode(u8),
    #[error("a client's frame is not masked, or a server's is")]
    Masking,
    #[error("a length is not in its shortest form, or beyond 2^63")]
    Length,
    #[error("a control frame is fragmented or longer than 125 bytes")]
    Control,
    #[error("a continuation without a beginning, or a beginning inside of a message")]
    Fragment,
    #[error("a text is not UTF-8")]
    Utf8,
    #[error("a Close frame has half a status code or a reserved one")]
    CloseCode,
    #[error("a message is longer than this side takes")]
    TooBig,
}

impl Violation {
    /// Return the status code for the peer.
    pub fn close_code(self) -> u16 {
        match self {
            Violation::Utf8 => close_code::BAD_PAYLOAD,
            Violation::TooBig => close_code::TOO_BIG,
            _ => close_code::PROTOCOL_ERROR,
        }
    }
}
