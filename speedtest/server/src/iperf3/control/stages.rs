// SPDX-License-Identifier: Apache-2.0
//! Stages of a test: its streams connect, it runs, both sides exchange their counters.

use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::bulk::Order;
use speedtest_net::reactor::{Cx, Next};
use speedtest_proto::iperf3::{End, ErrorCode, Results, Transport};

use super::Control;
use crate::counters::Counters;
use crate::iperf3::outcome;
use crate::iperf3::policy::{beyond_limit, spent};
use crate::iperf3::running::Running;
use crate::iperf3::test::Test;

/// Most delay of a test's end.
const GRACE: Duration = Duration::from_secs(15);
/// Interval at which a postponed test tries again.
const POSTPONE: Duration = Duration::from_millis(20);
/// Interval at which a running test is compared with its limit of bytes.
const LOOK: Duration = Duration::from_millis(20);

impl Control {
    pub(super) fn begin(&mut self, cx: &mut Cx<'_>) {
        let (Some(cookie), Some(params)) = (self.cookie, self.params.take()) else { return };
        let udp = params.transport == Transport::Udp;
        if udp && self.shared.tests.opening_datagrams(self.peer.ip()).is_some() {
            // Datagrams do not show which of two tests of one address they open.
            self.params = Some(params);
            cx.wake_at(cx.now + POSTPONE);
            return;
        }
        let number = self.shared.tests.next_number();
        let (at, client) = (cx.address(), self.peer.ip());
        let test = Test::new(number, *params, at, client, &self.shared, &self.listen);
        let test = Arc::new(test);
        if !self.shared.tests.insert(cookie, Arc::clone(&test)) {
            return self.fail("its cookie is that of another test", ErrorCode::Message);
        }
        self.running =
            Some(Running::new(Arc::clone(&self.shared), Arc::clone(&self.account), cookie, test));
        self.machine.create_streams();
        self.allow(cx, self.shared.limits.idle().min(self.shared.limits.step()));
    }

    pub(super) fn start(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        running.start(cx.peer_now());
        self.next_look = cx.now;
        let params = &running.test.params;
        let most = Duration::from_secs(self.shared.limits.duration_s);
        let time = match params.end {
            End::Seconds(seconds) if seconds > 0 => {
                Duration::from_secs(u64::from(seconds) + u64::from(params.omit_s)) + GRACE
            }
            _ => most,
        };
        running.test.tell_streams(&self.shared.lanes, Order::Start(Instant::now()));
        self.machine.start();
        self.allow(cx, time);
        self.look(cx);
    }

    /// End the test: the client has sent or received everything.
    pub(super) fn end(&mut self, cx: &mut Cx<'_>) {
        if let Some(why) = self.too_much(cx) {
            return self.fail(&why, ErrorCode::TotalRate);
        }
        let Some(running) = &mut self.running else { return };
        if !running.started {
            return self.fail("TEST_END before all streams were there", ErrorCode::Message);
        }
        running.stop();
        let test = &running.test;
        for index in 0..test.streams.len() {
            // Data in flight at the end of a test by amount belongs to that amount.
            if test.params.server_sends(index as u32) || !outcome::counts_exactly(&test.params) {
                test.tell_stream(&self.shared.lanes, index, Order::Stop);
            }
        }
        running.exchange_sent = Some(Instant::now());
        self.machine.exchange_results();
        self.allow_step(cx);
    }

    pub(super) fn compare(&mut self, cx: &mut Cx<'_>, client: Box<Results>) {
        let Some(running) = &mut self.running else { return };
        let test = &running.test;
        if outcome::counts_exactly(&test.params) {
            for (index, sent) in outcome::client_bytes(&test.params, &client) {
                test.tell_stream(&self.shared.lanes, index, Order::StopAt(sent));
            }
        }
        running.loaded_rtt = running.exchange_sent.map(|sent| sent.elapsed());
        running.client = Some(client);
        self.allow_step(cx);
        self.conclude();
    }

    /// Send this side's results once all streams have reported and the client's are here.
    fn conclude(&mut self) {
        let Some(running) = &mut self.running else { return };
        let all = running.all_reported();
        let Some(client) = running.client.take_if(|_| all) else { return };
        let record = outcome::record(running.side(Some(&client)));
        running.concluded = true;
        Counters::add(&self.shared.counters.tests_finished, 1);
        self.shared.keeper.keep(record.kept_fields(self.peer));
        self.shared.log.info("test finished", record.log_fields(self.peer));
        self.machine.send_results(&record.results);
    }

    /// Let the streams report after the client has left without an exchange of results.
    pub(super) fn abort(&mut self, cx: &mut Cx<'_>, how: &str) -> Next {
        let Some(running) = self.running.as_mut().filter(|running| !running.concluded) else {
            return Next::Close;
        };
        running.stop();
        running.aborted = Some(how.to_owned());
        running.test.tell_streams(&self.shared.lanes, Order::Stop);
        self.allow_step(cx);
        self.keep_aborted(false)
    }

    /// Keep the result of a client that has left, once all streams have reported or are too late.
    pub(super) fn keep_aborted(&mut self, late: bool) -> Next {
        let Some(running) = &self.running else { return Next::Close };
        let Some(how) = &running.aborted else { return Next::Close };
        if running.started && !running.all_reported() && !late {
            return Next::Stay;
        }
        Counters::add(&self.shared.counters.tests_failed, 1);
        let record = outcome::record(running.side(None));
        if running.started {
            let mut fields = record.kept_fields(self.peer);
            fields["because"] = how.as_str().into();
            self.shared.keeper.keep(fields);
        }
        let mut fields = record.log_fields(self.peer);
        fields["because"] = how.as_str().into();
        fields["bytes"] = running.test.bytes().into();
        self.shared.log.info("test ended early", fields);
        Next::Close
    }

    pub(super) fn reported(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        running.reported += 1;
        if running.aborted.is_some() {
            return;
        }
        if !running.started {
            return self.fail("a stream broke before the test began", ErrorCode::Message);
        }
        self.conclude();
        // The client has vanished: all streams are closed, and the control connection is silent.
        if self.running.as_ref().is_some_and(|running| running.load.is_none()) {
            self.allow_step(cx);
        }
    }

    pub(super) fn joined(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        running.joined += 1;
        if running.joined == running.test.streams.len() {
            self.start(cx);
        }
    }

    /// Check that a running test moves data and keeps its limits.
    pub(super) fn look(&mut self, cx: &mut Cx<'_>) {
        let Some(running) = &mut self.running else { return };
        if !running.started || running.load.is_some() || cx.now < self.next_look {
            return;
        }
        if running.charge(cx.now) {
            running.last_progress = cx.peer_now();
        }
        let idle = self.shared.limits.idle() + running.test.pause();
        if cx.peer_now() >= running.last_progress + idle {
            let why = format!("nothing was transferred for {} s", idle.as_secs());
            self.fail(&why, ErrorCode::Idle);
        } else if let Some(why) = self.too_much(cx) {
            self.fail(&why, ErrorCode::TotalRate);
        } else {
            self.next_look = cx.now + LOOK;
            cx.wake_at(self.next_look);
            return;
        }
        self.allow_step(cx);
    }

    fn too_much(&self, cx: &Cx<'_>) -> Option<String> {
        let bytes = self.running.as_ref()?.test.bytes();
        beyond_limit(&self.shared.limits, bytes).or_else(|| spent(&self.account, cx.now))
    }
}
