// SPDX-License-Identifier: Apache-2.0
//! State of a control connection's test between CREATE_STREAMS and the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::bulk::Order;
use speedtest_net::load::{ProcessLoad, ProcessMeter};
use speedtest_net::reactor::PeerInstant;
use speedtest_proto::iperf3::{Cookie, Results};
use speedtest_proto::verdict::OtherLoad;

use super::outcome::Side;
use super::test::Test;
use super::Context;
use crate::accounts::Account;
use crate::other_load::SinceBegin;

/// Test that has begun; dropping it ends its streams.
pub struct Running {
    pub shared: Arc<Context>,
    account: Arc<Account>,
    pub cookie: Cookie,
    pub test: Arc<Test>,
    /// Bytes of all streams that are charged already, and the time of the last new ones.
    counted: u64,
    pub last_progress: PeerInstant,
    pub joined: usize,
    pub reported: usize,
    pub started: bool,
    pub meter: ProcessMeter,
    pub load: Option<ProcessLoad>,
    /// Load next to this test since the streams began.
    pub beside: Option<SinceBegin>,
    pub other_load: OtherLoad,
    pub client: Option<Box<Results>>,
    /// Time of EXCHANGE_RESULTS; the delay of the answer shows a queue that the test has filled.
    pub exchange_sent: Option<Instant>,
    pub loaded_rtt: Option<Duration>,
    /// The results of both sides are kept.
    pub concluded: bool,
    /// How the client left before that.
    pub aborted: Option<String>,
}

impl Running {
    pub fn new(
        shared: Arc<Context>,
        account: Arc<Account>,
        cookie: Cookie,
        test: Arc<Test>,
    ) -> Running {
        Running {
            shared,
            account,
            cookie,
            test,
            counted: 0,
            last_progress: PeerInstant::outside(),
            joined: 0,
            reported: 0,
            started: false,
            meter: ProcessMeter::start(),
            load: None,
            beside: None,
            other_load: OtherLoad::default(),
            client: None,
            exchange_sent: None,
            loaded_rtt: None,
            concluded: false,
            aborted: None,
        }
    }
}

impl Running {
    /// Start the streams.
    pub fn start(&mut self, now: PeerInstant) {
        self.started = true;
        self.last_progress = now;
        self.meter = ProcessMeter::start();
        self.beside = Some(self.shared.other_load.begin(Arc::clone(&self.test.loop_time)));
    }

    /// Record the CPU cost and the other load: the client has ended the test or has left.
    pub fn stop(&mut self) {
        if self.load.is_some() {
            return;
        }
        self.load = Some(self.meter.read());
        if let Some(beside) = &self.beside {
            self.other_load = beside.read(self.test.bytes());
        }
    }

    pub fn all_reported(&self) -> bool {
        self.reported >= self.test.streams.len()
    }

    /// Return the data known now; without results the client has left.
    pub fn side<'a>(&'a self, client: Option<&'a Results>) -> Side<'a> {
        Side {
            test: &self.test,
            load: self.load.unwrap_or_else(|| self.meter.read()),
            other_load: self.other_load,
            link_bps: self.shared.other_load.link_bps,
            client,
            loaded_rtt: self.loaded_rtt,
        }
    }

    /// Charge the client with bytes moved since the last call. Return false if there are none.
    pub fn charge(&mut self, now: Instant) -> bool {
        let bytes = self.test.bytes();
        let new = bytes.saturating_sub(self.counted);
        if new > 0 {
            self.shared.accounts.moved(&self.account, new, now);
            self.counted = bytes;
        }
        new > 0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.charge(Instant::now());
        self.shared.tests.remove(&self.cookie);
        self.test.tell_streams(&self.shared.lanes, Order::Close);
    }
}
