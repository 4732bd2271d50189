// SPDX-License-Identifier: Apache-2.0
//! Errors of a control connection, and their numbers in iperf3.

use super::State;

/// Reason why a control connection cannot continue. Its text is for the log; the peer gets an
/// [`ErrorCode`].
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
    #[error("{}", refusal(*.0))]
    Refused(State),
    #[error("{}", server_error(*code, *errno))]
    ServerError { code: i32, errno: i32 },
}

/// iperf3's error numbers that this server sends after the state SERVER_ERROR. A stock client
/// prints its own text for each.
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
    /// Known since iperf3 3.10.
    Idle = 144,
}

fn refusal(state: State) -> String {
    match state {
        State::AccessDenied => "the server is busy with other tests; try later".into(),
        State::ServerTerminate => "the server ended the test".into(),
        other => format!("the server sent {other:?}"),
    }
}

fn server_error(code: i32, errno: i32) -> String {
    let known = [
        (ErrorCode::TotalRate, "more than the server allows in all (bytes or rate)"),
        (ErrorCode::MaxDuration, "longer than the server allows"),
        (ErrorCode::Idle, "nothing was transferred for longer than the server allows"),
        (ErrorCode::SetCongestion, "the server cannot set that congestion control"),
        (
            ErrorCode::Authentication,
            "authorization failed: user or password wrong, or the server requires --username",
        ),
    ];
    match known.into_iter().find(|(known, _)| *known as i32 == code) {
        Some((_, words)) => format!("{words} (iperf3 error {code})"),
        None => format!("the server ended with iperf3 error {code} (errno {errno})"),
    }
}

impl ErrorCode {
    pub fn to_wire(self) -> [u8; 4] {
        (self as i32).to_be_bytes()
    }
}
