// SPDX-License-Identifier: Apache-2.0
//! iperf3's protocol, versions 3.1 to 3.2x: states, cookie, both sides of a control connection.
//!
//! A client opens a control connection and sends a cookie of 37 bytes. States are single signed
//! bytes. Parameters and results are JSON after a 32-bit big-endian length. Every data connection
//! goes to the same port and starts with the same cookie.

mod client;
mod error;
mod frame;
mod params;
mod results;
mod server;
pub mod udp;

pub use client::{Client, Reply};
pub use error::{ErrorCode, ProtocolError};
pub use params::{Direction, End, Params, Transport, MAX_BLOCK_BYTES, MAX_STREAMS};
pub use results::{stream_ids, Results, StreamResult};
pub use server::{Event, Server};

/// Bytes of a cookie on the wire: 36 characters and a NUL.
pub const COOKIE_BYTES: usize = 37;

/// States on the control connection, with their wire values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub enum State {
    TestStart = 1,
    TestRunning = 2,
    TestEnd = 4,
    ParamExchange = 9,
    CreateStreams = 10,
    ServerTerminate = 11,
    ClientTerminate = 12,
    ExchangeResults = 13,
    DisplayResults = 14,
    IperfDone = 16,
    AccessDenied = -1,
    ServerError = -2,
}

impl State {
    pub const ALL: [State; 12] = [
        State::TestStart,
        State::TestRunning,
        State::TestEnd,
        State::ParamExchange,
        State::CreateStreams,
        State::ServerTerminate,
        State::ClientTerminate,
        State::ExchangeResults,
        State::DisplayResults,
        State::IperfDone,
        State::AccessDenied,
        State::ServerError,
    ];

    pub fn from_wire(byte: u8) -> Option<State> {
        Self::ALL.into_iter().find(|state| state.to_wire() == byte)
    }

    pub fn to_wire(self) -> u8 {
        (self as i8).to_be_bytes()[0]
    }
}

/// Identifies the connections of one test. It is secret: a connection that knows it may join the
/// test.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cookie([u8; COOKIE_BYTES]);

impl Cookie {
    pub fn from_wire(bytes: [u8; COOKIE_BYTES]) -> Cookie {
        Cookie(bytes)
    }

    /// Make a cookie in iperf3's alphabet from 36 random bytes.
    pub fn from_random(random: &[u8; COOKIE_BYTES - 1]) -> Cookie {
        const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let mut bytes = [0; COOKIE_BYTES];
        for (to, from) in bytes.iter_mut().zip(random) {
            *to = ALPHABET[usize::from(from % 32)];
        }
        Cookie(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; COOKIE_BYTES] {
        &self.0
    }
}

impl std::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cookie(secret)")
    }
}
