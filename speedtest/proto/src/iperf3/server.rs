// SPDX-License-Identifier: Apache-2.0
//! Server side of a control connection.

use super::frame::{encode, Frame};
use super::{Cookie, ErrorCode, Params, ProtocolError, Results, State, COOKIE_BYTES};

/// Most bytes of parameters; iperf3's own limit.
const MAX_PARAMS_BYTES: u32 = 8 << 10;
/// Most bytes of results: 128 streams in both directions, and keys of newer clients.
const MAX_RESULTS_BYTES: u32 = 64 << 10;

/// Message from the peer. After `Cookie`, `Params` and `Results` this side must decide.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Cookie of the test that the connection belongs to.
    Cookie(Cookie),
    Params(Box<Params>),
    TestEnd,
    Results(Box<Results>),
    /// The client has printed its results and ends the connection.
    Done,
    /// The client ended the test early.
    Terminated,
}

#[derive(Debug)]
enum Phase {
    Cookie(Vec<u8>),
    /// This side must decide; nothing is read meanwhile.
    OurTurn,
    Params(Frame),
    /// Only a state byte may come: TEST_END, IPERF_DONE or CLIENT_TERMINATE.
    Running,
    Results(Frame),
    Display,
    Over,
}

/// Takes bytes, returns [`Event`]s. The methods named after the server's decisions fill `output`.
#[derive(Debug)]
pub struct Server {
    phase: Phase,
    output: Vec<u8>,
}

impl Default for Server {
    fn default() -> Server {
        Server { phase: Phase::Cookie(Vec::new()), output: Vec::new() }
    }
}

impl Server {
    pub fn new() -> Server {
        Server::default()
    }

    /// Return how many bytes may be read now. 0: this side must decide, or the conversation is
    /// over.
    pub fn wants(&self) -> usize {
        match &self.phase {
            Phase::Cookie(got) => COOKIE_BYTES - got.len(),
            Phase::Params(frame) | Phase::Results(frame) => frame.wants(),
            Phase::Running | Phase::Display => 1,
            Phase::OurTurn | Phase::Over => 0,
        }
    }

    /// Take at most `wants()` bytes. After an error no more are wanted.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Option<Event>, ProtocolError> {
        debug_assert!(bytes.len() <= self.wants(), "more was read than the machine wants");
        let taken = self.take(bytes);
        if taken.is_err() {
            self.phase = Phase::Over;
        }
        taken
    }

    fn take(&mut self, bytes: &[u8]) -> Result<Option<Event>, ProtocolError> {
        match &mut self.phase {
            Phase::Cookie(got) => {
                got.extend_from_slice(bytes);
                let Some(whole) = got.first_chunk::<COOKIE_BYTES>() else { return Ok(None) };
                let cookie = Cookie::from_wire(*whole);
                self.phase = Phase::OurTurn;
                Ok(Some(Event::Cookie(cookie)))
            }
            Phase::Params(frame) => {
                let Some(json) = frame.push(bytes)? else { return Ok(None) };
                let params = Params::parse(json)?;
                self.phase = Phase::OurTurn;
                Ok(Some(Event::Params(Box::new(params))))
            }
            Phase::Results(frame) => {
                let Some(json) = frame.push(bytes)? else { return Ok(None) };
                let results = Results::parse(json)?;
                self.phase = Phase::OurTurn;
                Ok(Some(Event::Results(Box::new(results))))
            }
            Phase::Running => bytes.first().map(|byte| self.running(*byte)).transpose(),
            Phase::Display => bytes.first().map(|byte| self.display(*byte)).transpose(),
            Phase::OurTurn | Phase::Over => Ok(None),
        }
    }

    fn running(&mut self, byte: u8) -> Result<Event, ProtocolError> {
        match State::from_wire(byte) {
            Some(State::TestEnd) => {
                self.phase = Phase::OurTurn;
                Ok(Event::TestEnd)
            }
            Some(State::ClientTerminate) => self.over(Event::Terminated),
            Some(State::IperfDone) => self.over(Event::Done),
            _ => Err(ProtocolError::UnexpectedState { byte, expected: "TEST_END" }),
        }
    }

    fn display(&mut self, byte: u8) -> Result<Event, ProtocolError> {
        match State::from_wire(byte) {
            Some(State::IperfDone) => self.over(Event::Done),
            Some(State::ClientTerminate) => self.over(Event::Terminated),
            _ => Err(ProtocolError::UnexpectedState { byte, expected: "IPERF_DONE" }),
        }
    }

    fn over(&mut self, event: Event) -> Result<Event, ProtocolError> {
        self.phase = Phase::Over;
        Ok(event)
    }

    /// Admit a new test, after `Cookie`.
    pub fn admit(&mut self) {
        self.say(State::ParamExchange);
        self.phase = Phase::Params(Frame::new(MAX_PARAMS_BYTES));
    }

    /// Let the client connect its streams, after `Params`.
    pub fn create_streams(&mut self) {
        self.say(State::CreateStreams);
        self.phase = Phase::Running;
    }

    /// Start the test: all streams are connected.
    pub fn start(&mut self) {
        self.say(State::TestStart);
        self.say(State::TestRunning);
    }

    /// Ask for the client's results, after `TestEnd`.
    pub fn exchange_results(&mut self) {
        self.say(State::ExchangeResults);
        self.phase = Phase::Results(Frame::new(MAX_RESULTS_BYTES));
    }

    /// Send the server's results, after `Results`.
    pub fn send_results(&mut self, results: &Results) {
        self.output.extend_from_slice(&encode(&results.to_json()));
        self.say(State::DisplayResults);
        self.phase = Phase::Display;
    }

    /// Refuse the test because the server is busy: the client gets ACCESS_DENIED.
    pub fn refuse(&mut self) {
        self.say(State::AccessDenied);
        self.phase = Phase::Over;
    }

    /// End the test with an error; the client prints iperf3's text for `code`.
    pub fn fail(&mut self, code: ErrorCode) {
        self.say(State::ServerError);
        self.output.extend_from_slice(&code.to_wire());
        self.output.extend_from_slice(&0i32.to_be_bytes());
        self.phase = Phase::Over;
    }

    /// End the test because the server is stopping.
    pub fn terminate(&mut self) {
        self.say(State::ServerTerminate);
        self.phase = Phase::Over;
    }

    /// Return the bytes to send now; pass the number sent to [`Server::sent`].
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    pub fn sent(&mut self, bytes: usize) {
        self.output.drain(..bytes.min(self.output.len()));
    }

    fn say(&mut self, state: State) {
        self.output.push(state.to_wire());
    }
}
