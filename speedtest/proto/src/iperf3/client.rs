// SPDX-License-Identifier: Apache-2.0
//! Client side of a control connection.

use super::frame::{encode, Frame};
use super::{Cookie, Params, ProtocolError, Results, State};

/// Most bytes of a server's results with its output; iperf3 itself sets no limit.
const MAX_RESULTS_BYTES: u32 = 4 << 20;
/// End of the error text about a byte that is not a state, after "while waiting for".
const NO_STATE: &str = "a state; the port does not seem to speak iperf3";
const ERROR_BYTES: usize = 8;

/// Message from the server.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Connect the streams.
    CreateStreams,
    /// Begin to send and receive.
    Running,
    /// Send this side's results with [`Client::send_results`].
    ExchangeResults,
    /// The server's results; the conversation is over.
    Results(Box<Results>),
}

#[derive(Debug)]
enum Phase {
    State,
    Results(Frame),
    Error(Vec<u8>),
    Over,
}

/// Takes bytes, returns [`Reply`]s. It sends the parameters when the server asks for them.
#[derive(Debug)]
pub struct Client {
    phase: Phase,
    params: Params,
    results: Option<Box<Results>>,
    output: Vec<u8>,
}

impl Client {
    pub fn new(cookie: &Cookie, params: Params) -> Client {
        let output = cookie.as_bytes().to_vec();
        Client { phase: Phase::State, params, results: None, output }
    }

    /// Return how many bytes may be read now; 0 when the conversation is over.
    pub fn wants(&self) -> usize {
        match &self.phase {
            Phase::State => 1,
            Phase::Results(frame) => frame.wants(),
            Phase::Error(got) => ERROR_BYTES - got.len(),
            Phase::Over => 0,
        }
    }

    /// Take at most `wants()` bytes. After an error no more are wanted.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Option<Reply>, ProtocolError> {
        let taken = self.take(bytes);
        if taken.is_err() {
            self.phase = Phase::Over;
        }
        taken
    }

    fn take(&mut self, bytes: &[u8]) -> Result<Option<Reply>, ProtocolError> {
        match &mut self.phase {
            Phase::State => bytes.first().map_or(Ok(None), |byte| self.state(*byte)),
            Phase::Results(frame) => {
                let Some(json) = frame.push(bytes)? else { return Ok(None) };
                self.results = Some(Box::new(Results::parse(json)?));
                self.phase = Phase::State;
                Ok(None)
            }
            Phase::Error(got) => {
                got.extend_from_slice(bytes);
                let Some(whole) = got.first_chunk::<ERROR_BYTES>() else { return Ok(None) };
                let [a, b, c, d, e, f, g, h] = *whole;
                let code = i32::from_be_bytes([a, b, c, d]);
                Err(ProtocolError::ServerError { code, errno: i32::from_be_bytes([e, f, g, h]) })
            }
            Phase::Over => Ok(None),
        }
    }

    fn state(&mut self, byte: u8) -> Result<Option<Reply>, ProtocolError> {
        let unexpected =
            ProtocolError::UnexpectedState { byte, expected: "the server's next state" };
        match State::from_wire(byte) {
            Some(State::ParamExchange) => {
                self.output.extend_from_slice(&encode(&self.params.to_json()));
                Ok(None)
            }
            Some(State::CreateStreams) => Ok(Some(Reply::CreateStreams)),
            Some(State::TestStart) => Ok(None),
            Some(State::TestRunning) => Ok(Some(Reply::Running)),
            Some(State::ExchangeResults) => Ok(Some(Reply::ExchangeResults)),
            Some(State::DisplayResults) => {
                self.output.push(State::IperfDone.to_wire());
                self.phase = Phase::Over;
                self.results.take().map(|results| Some(Reply::Results(results))).ok_or(unexpected)
            }
            Some(State::ServerError) => {
                self.phase = Phase::Error(Vec::new());
                Ok(None)
            }
            Some(state @ (State::AccessDenied | State::ServerTerminate)) => {
                Err(ProtocolError::Refused(state))
            }
            Some(_) => Err(unexpected),
            None => Err(ProtocolError::UnexpectedState { byte, expected: NO_STATE }),
        }
    }

    /// End the test: this side has sent or received everything.
    pub fn end(&mut self) {
        self.output.push(State::TestEnd.to_wire());
    }

    /// Send this side's results, after `ExchangeResults`.
    pub fn send_results(&mut self, results: &Results) {
        self.output.extend_from_slice(&encode(&results.to_json()));
        self.phase = Phase::Results(Frame::new(MAX_RESULTS_BYTES));
    }

    /// Return the bytes to send now; pass the number sent to [`Client::sent`].
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    pub fn sent(&mut self, bytes: usize) {
        self.output.drain(..bytes.min(self.output.len()));
    }
}
