// SPDX-License-Identifier: Apache-2.0
//! Reports of a test while it runs and at its end: samples, measurements, the result.

use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use speedtest_net::look::{look, look_at_bbr, look_for_ndt7};
use speedtest_net::options::congestion_of;
use speedtest_net::reactor::Cx;
use speedtest_proto::ndt7::measurement::{AppInfo, ConnectionInfo, Measurement};
use speedtest_proto::ndt7::pace::measurement_gap;
use speedtest_proto::verdict::OtherLoad;

use super::{random, Test, ADAPT_EVERY, CLOSE_TIMEOUT};
use crate::ndt7::outcome::{self, Ended, How};

/// Interval to poll for small amounts, for which the kernel does not wake the loop.
const LOOK: Duration = Duration::from_millis(20);

impl Test {
    /// Sample TCP_INFO for the result and for the client. Return when to sample again.
    pub(super) fn observe(&mut self, cx: &mut Cx<'_>) -> Instant {
        if cx.now >= self.next_sample {
            self.sample();
            self.next_sample = cx.now + self.shared.sample_every;
        }
        if cx.now >= self.next_measurement {
            // A client that does not read gets no second text while the first one waits.
            if self.channel.is_flushed() || self.sends() {
                self.say_measurement(None);
            }
            self.next_measurement = cx.now + measurement_gap(random() as f64 / u64::MAX as f64);
        }
        if !self.sends() && self.pacer.is_none() && cx.now >= self.next_adapt {
            // Without the threshold the loop only wakes more often.
            let _ = self.channel.adapt_threshold(cx.now);
            self.next_adapt = cx.now + ADAPT_EVERY;
        }
        let mut next = self.next_sample.min(self.next_measurement);
        if !self.sends() && self.pacer.is_none() {
            next = next.min(self.next_adapt);
            if self.channel.waits_for_much() {
                next = next.min(cx.now + LOOK);
            }
        }
        next
    }

    fn sample(&mut self) {
        let (bytes, time) = (self.bytes(), self.started.elapsed());
        if let Some(sample) = look(self.channel.wire.as_raw_fd(), time, bytes) {
            self.series.push(sample);
        }
    }

    /// Send a measurement. `other_load`: in the last one only.
    fn say_measurement(&mut self, other_load: Option<OtherLoad>) {
        let (fd, time) = (self.channel.wire.as_raw_fd(), self.started.elapsed());
        let server = self.channel.wire.socket().local_addr();
        let measurement = Measurement {
            app_info: Some(AppInfo {
                elapsed_time: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
                num_bytes: self.bytes(),
            }),
            bbr_info: look_at_bbr(fd, time),
            connection_info: Some(ConnectionInfo {
                client: self.peer.to_string(),
                server: server.map(|address| address.to_string()).unwrap_or_default(),
                uuid: self.uuid.clone(),
            }),
            origin: Some("server".into()),
            test: Some(self.subtest.name().into()),
            tcp_info: look_for_ndt7(fd, time),
            other_load,
        };
        self.channel.endpoint.say(&measurement.to_text());
    }

    /// End the test in this way, once.
    pub(super) fn finish(&mut self, cx: &mut Cx<'_>, how: How) {
        if self.ended {
            return;
        }
        // Use the current time: counted bytes may have moved after this turn began.
        let now = Instant::now();
        self.sample();
        let other_load = self.beside.as_ref().map(|beside| beside.read(self.bytes()));
        self.say_measurement(other_load);
        self.ended = true;
        self.deadline = cx.peer_now() + CLOSE_TIMEOUT;
        let last = if self.sends() { now } else { self.last_progress };
        let load = self.load_from.map(|from| cx.meter.read().since(&from)).unwrap_or_default();
        let ended = Ended {
            subtest: self.subtest,
            peer: self.peer,
            client: self.client,
            uuid: &self.uuid,
            bytes: self.bytes(),
            time: last - self.started,
            congestion: congestion_of(self.channel.wire.socket()),
            tls: self.channel.wire.is_tls(),
            limit_bps: Some(self.shared.limits.rate_bps).filter(|rate| *rate > 0),
            link_bps: self.shared.other_load.link_bps,
            load,
            other_load: other_load.unwrap_or_default(),
            series: &self.series,
            metadata: &self.accepted.query.metadata,
            client_said: self.client_said.as_ref(),
        };
        outcome::tell(&self.shared, &ended, &how, self.id.as_deref());
    }
}
