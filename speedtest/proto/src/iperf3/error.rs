// SPDX-License-Identifier: Apache-2.0
//! What can go wrong on a control connection, and the numbers iperf3 has for it.

use super::State;

/// Why a control connection cannot go on. Its text is for the log; the peer gets an [`ErrorCode`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    #[error("JSON of {got} bytes announced; at most {most} are taken here")]
    TooLong { got: u32, most: u32 },
    #[error("parameters: {0}")]
    Params(String),
    #[error("results: {0}")]
    Results(String),
    #[error("state byte {byte:#04x} while waiting for {expected}")]
    UnexpectedState { byte: u8, expected: &'static str },
    #[error("the server said {0:?}")]
    Refused(State),
    #[error("the server gave up with iperf3 error {code} (errno {errno})")]
    ServerError { code: i32, errno: i32 },
}

/// iperf3's error numbers that this server sends after the state SERVER_ERROR. A stock client turns
/// them into its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum ErrorCode {
    Unimplemented = 13,
    TotalRate = 27,
    MaxDuration = 37,
    InitTest = 101,
    Message = 110,
    ReceiveParams = 114,
    ReceiveResults = 117,
    SetCongestion = 134,
    Authentication = 142,
}

impl ErrorCode {
    pub fn to_wire(self) -> [u8; 4] {
        (self as i32).to_be_bytes()
    }
}
