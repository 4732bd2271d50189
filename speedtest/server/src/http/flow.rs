// SPDX-License-Identifier: Apache-2.0
//! One body on its way: its right to move, what has moved, and what TCP_INFO says of it meanwhile.

use std::net::IpAddr;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::load::ThreadTime;
use speedtest_net::look::{is_delivered, look};
use speedtest_net::reactor::Cx;
use speedtest_proto::http1::Request;
use speedtest_proto::series::Series;

use super::routes;
use super::sessions::{Pass, Refusal};
use super::transfers::Transfer;
use crate::clients::ClientKey;
use crate::shared::{Counters, Shared};

/// Bodies up to this long are moved without asking: latency probes, results.
const SMALL_BYTES: u64 = 64 << 10;
const DELIVERY_LOOK: Duration = Duration::from_millis(50);
const SAMPLE_EVERY: Duration = Duration::from_millis(200);

pub struct Flow {
    shared: Arc<Shared>,
    sent: bool,
    pass: Option<Pass>,
    watch: Option<Watch>,
}

/// TCP_INFO of a body whose request had an id.
struct Watch {
    id: String,
    started: Instant,
    bytes: u64,
    series: Series,
    next_sample: Instant,
    load_from: ThreadTime,
}

impl Watch {
    fn look(&mut self, fd: RawFd, now: Instant) {
        if let Some(sample) = look(fd, now - self.started, self.bytes) {
            self.series.push(sample);
        }
    }
}

impl Flow {
    /// A body of this client's begins, or may not. None bytes: its length is not known.
    pub fn begin(
        shared: &Arc<Shared>,
        client: IpAddr,
        request: &Request,
        sent: bool,
        bytes: Option<u64>,
        (cx, fd): (&Cx<'_>, RawFd),
    ) -> Result<Flow, Refusal> {
        let small = bytes.is_some_and(|bytes| bytes <= SMALL_BYTES);
        let pass = if small { None } else { Some(shared.enter_http(client, cx.now)?) };
        let watch = routes::test_id(request).filter(|_| bytes != Some(0)).map(|id| {
            let mut watch = Watch {
                id,
                started: cx.now,
                bytes: 0,
                series: Series::default(),
                next_sample: cx.now + SAMPLE_EVERY,
                load_from: cx.meter.read(),
            };
            watch.look(fd, cx.now);
            watch
        });
        Ok(Flow { shared: Arc::clone(shared), sent, pass, watch })
    }

    /// Counts what has moved. False: the client may not move more.
    #[must_use]
    pub fn moved(&mut self, bytes: u64, now: Instant) -> bool {
        if let Some(watch) = &mut self.watch {
            watch.bytes += bytes;
            if bytes > 0 {
                watch.series.moved();
            }
        }
        let counters = &self.shared.counters;
        let counter = if self.sent { &counters.bytes_sent } else { &counters.bytes_received };
        Counters::add(counter, bytes);
        let Some(pass) = &self.pass else { return true };
        pass.moved(bytes, now);
        let spent = pass.is_spent(now);
        if spent {
            Counters::add(&counters.bodies_cut, 1);
        }
        !spent
    }

    /// The time to wait for before more may move; none: now.
    pub fn wait_until(&self, now: Instant) -> Option<Instant> {
        self.pass.as_ref().and_then(|pass| pass.wait_until(now))
    }

    /// Bytes to move at once.
    pub fn most_at_once(&self) -> u64 {
        self.pass.as_ref().map_or(u64::MAX, Pass::most_at_once)
    }

    /// Looks at TCP_INFO if it is time, and says when it will be again.
    pub fn sample(&mut self, fd: RawFd, now: Instant) -> Option<Instant> {
        let watch = self.watch.as_mut()?;
        if now >= watch.next_sample {
            watch.look(fd, now);
            watch.next_sample = now + SAMPLE_EVERY;
        }
        Some(watch.next_sample)
    }

    /// The body has ended, whole or not. Its right to move lasts until it is delivered.
    pub fn finish(self, fd: RawFd, cx: &Cx<'_>, delivery: &mut Delivery) {
        delivery.passes.extend(self.pass);
        let Some(mut watch) = self.watch else { return };
        watch.look(fd, cx.now);
        let transfer = Transfer {
            sent: self.sent,
            bytes: watch.bytes,
            ended: cx.now,
            time: cx.now - watch.started,
            summary: watch.series.summary(),
            load: cx.meter.read().since(&watch.load_from),
        };
        self.shared.transfers.add(&watch.id, transfer);
    }
}

/// Bodies that are written, but perhaps still on their way: a server that stops waits for them.
#[derive(Default)]
pub struct Delivery {
    passes: Vec<Pass>,
}

impl Delivery {
    /// Ends the bodies that have arrived, and says when to look again if some have not.
    pub fn settle(&mut self, fd: RawFd, has_output: bool, now: Instant) -> Option<Instant> {
        if !self.passes.is_empty() && !has_output && is_delivered(fd) {
            self.passes.clear();
        }
        (!self.passes.is_empty()).then(|| now + DELIVERY_LOOK)
    }
}

impl Shared {
    /// Lets one more body of this client move, as part of its test.
    fn enter_http(self: &Arc<Shared>, client: IpAddr, now: Instant) -> Result<Pass, Refusal> {
        let key = ClientKey::of(client);
        let entered = self.sessions.enter(key, now, &self.config.limits, || {
            let free = !self.draining() && self.admission().enter_if_free(key);
            free.then(|| Box::new(self.common_ticket(key)) as Box<dyn Send>)
        });
        if entered.is_err() {
            Counters::add(&self.counters.bodies_refused, 1);
        }
        entered
    }
}
