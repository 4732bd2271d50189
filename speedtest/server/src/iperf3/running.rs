// SPDX-License-Identifier: Apache-2.0
//! What a control connection knows of its test between CREATE_STREAMS and the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::load::{ProcessLoad, ProcessMeter};
use speedtest_net::reactor::Note;
use speedtest_proto::iperf3::{Cookie, Results};

use super::test::Test;
use crate::shared::Shared;

/// A test that has begun; dropping it ends its streams.
pub struct Running {
    pub shared: Arc<Shared>,
    pub cookie: Cookie,
    pub test: Arc<Test>,
    pub joined: usize,
    pub reported: usize,
    pub started: bool,
    pub meter: ProcessMeter,
    pub load: Option<ProcessLoad>,
    pub client: Option<Box<Results>>,
    /// When EXCHANGE_RESULTS was said; the answer's delay shows a queue that the test has filled.
    pub asked: Option<Instant>,
    pub loaded_rtt: Option<Duration>,
}

impl Running {
    pub fn new(shared: Arc<Shared>, cookie: Cookie, test: Arc<Test>) -> Running {
        Running {
            shared,
            cookie,
            test,
            joined: 0,
            reported: 0,
            started: false,
            meter: ProcessMeter::start(),
            load: None,
            client: None,
            asked: None,
            loaded_rtt: None,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.tests.remove(&self.cookie);
        self.test.tell_streams(&self.shared.lanes, Note::Close);
    }
}
