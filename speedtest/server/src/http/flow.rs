// SPDX-License-Identifier: Apache-2.0
//! One body: its right to move, its moved bytes, and its TCP_INFO.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::load::ThreadTime;
use speedtest_net::look::{is_delivered, look};
use speedtest_net::reactor::Cx;
use speedtest_proto::http1::Request;
use speedtest_proto::series::Series;

use super::routes;
use super::sessions::{Pass, Refusal, Sessions};
use super::Context;
use crate::accounts::Account;
use crate::clients::ClientKey;
use crate::counters::Counters;
use crate::transfers::{Beside, Transfer};

/// Longest body that needs no place of a test while the client's allowance lasts, in bytes: latency
/// probes.
const SMALL_BYTES: u64 = 64 << 10;
const DELIVERY_LOOK: Duration = Duration::from_millis(50);
const SAMPLE_EVERY: Duration = Duration::from_millis(200);

pub struct Flow {
    shared: Arc<Context>,
    client: ClientKey,
    account: Arc<Account>,
    sent: bool,
    right: Right,
    watch: Option<Watch>,
}

/// Right by which a body moves.
enum Right {
    /// Place in its client's test.
    Test(Pass),
    /// Reserved rate: it moves at this time.
    Small(Instant),
    /// No bytes to move.
    Empty,
}

/// TCP_INFO of a body whose request had an ID.
struct Watch {
    id: String,
    started: Instant,
    bytes: u64,
    series: Series,
    next_sample: Instant,
    /// Time in which the allowed rate kept the bytes back, until its loop came to move more.
    held: Duration,
    held_from: Option<Instant>,
    load_from: ThreadTime,
    /// Length of the body, if known.
    whole: Option<u64>,
    beside: Arc<Beside>,
}

impl Watch {
    /// Sample TCP_INFO; return the time of the next sample.
    fn look(&mut self, fd: RawFd) -> Instant {
        let now = Instant::now();
        if let Some(sample) = look(fd, now - self.started, self.bytes) {
            self.series.push(sample);
        }
        now
    }

    /// End a wait for the allowed rate. A loop without a core comes later than the rate allows.
    fn end_hold(&mut self, now: Instant) {
        if let Some(from) = self.held_from.take() {
            self.held += now.saturating_duration_since(from);
        }
    }
}

impl Flow {
    /// Begin a body of this client, or refuse it. `bytes` None: its length is not known.
    pub fn begin(
        shared: &Arc<Context>,
        client: ClientKey,
        request: &Request,
        sent: bool,
        bytes: Option<u64>,
        (cx, fd): (&Cx<'_>, RawFd),
    ) -> Result<Flow, Refusal> {
        let account = shared.accounts.of(client, cx.now);
        let right = shared.right(client, &account, bytes, cx.now);
        if right.is_err() {
            Counters::add(&shared.counters.bodies_refused, 1);
        }
        let watch = routes::test_id(request).filter(|_| bytes != Some(0)).map(|id| {
            let beside = shared.transfers.begin(client, &id, sent, &shared.other_load);
            cx.charge(beside.loop_time());
            let mut watch = Watch {
                id,
                started: Instant::now(),
                bytes: 0,
                series: Series::default(),
                next_sample: cx.now + SAMPLE_EVERY,
                held: Duration::ZERO,
                held_from: None,
                load_from: cx.meter.read(),
                whole: bytes,
                beside,
            };
            watch.look(fd);
            watch
        });
        Ok(Flow { shared: Arc::clone(shared), client, account, sent, right: right?, watch })
    }

    /// Count moved bytes. Return false if the client may not move more.
    #[must_use]
    pub fn moved(&mut self, bytes: u64, now: Instant) -> bool {
        if let Some(watch) = &mut self.watch {
            watch.bytes += bytes;
            watch.beside.moved(bytes);
            if bytes > 0 {
                watch.series.moved(bytes);
                watch.end_hold(now);
            }
        }
        let counters = &self.shared.counters;
        let counter = if self.sent { &counters.bytes_sent } else { &counters.bytes_received };
        Counters::add(counter, bytes);
        self.shared.accounts.moved(&self.account, bytes, now);
        let mut spent = self.account.is_over(now);
        if let Right::Test(pass) = &self.right {
            self.account.paced(bytes, now);
            pass.moved(bytes);
            spent |= pass.is_spent(now);
        }
        if spent {
            Counters::add(&counters.bodies_cut, 1);
        }
        !spent
    }

    /// Return when more may move; None: now.
    pub fn wait_until(&self, now: Instant) -> Option<Instant> {
        match &self.right {
            Right::Test(_) => self.account.wait_until(now),
            Right::Small(at) => Some(*at).filter(|at| *at > now),
            Right::Empty => None,
        }
    }

    /// Return the bytes to move at once.
    pub fn most_at_once(&self) -> u64 {
        match &self.right {
            Right::Test(_) => self.account.most_at_once(),
            _ => u64::MAX,
        }
    }

    /// Sample TCP_INFO if it is time, and begin to count a wait for the allowed rate. Return when to
    /// come again: for the next sample, or for more bytes.
    pub fn sample(&mut self, fd: RawFd, now: Instant) -> Option<Instant> {
        let waits = self.wait_until(now);
        let Some(watch) = &mut self.watch else { return waits };
        if waits.is_some() {
            watch.held_from.get_or_insert(now);
        }
        if now >= watch.next_sample {
            watch.look(fd);
            watch.next_sample = now + SAMPLE_EVERY;
        }
        Some(waits.map_or(watch.next_sample, |at| at.min(watch.next_sample)))
    }

    /// End the body, complete or not. Its right to move lasts until it is delivered.
    pub fn finish(self, fd: RawFd, cx: &Cx<'_>, delivery: &mut Delivery) {
        if let Right::Test(pass) = self.right {
            delivery.passes.push(pass);
        }
        let Some(mut watch) = self.watch else { return };
        let ended = watch.look(fd);
        watch.end_hold(ended);
        let transfer = Transfer {
            sent: self.sent,
            bytes: watch.bytes,
            ended,
            time: ended - watch.started,
            held: watch.held,
            aborted: watch.whole.is_none_or(|whole| watch.bytes < whole),
            other_load: watch.beside.read(),
            link_bps: self.shared.other_load.link_bps,
            summary: watch.series.summary(),
            load: cx.meter.read().since(&watch.load_from),
        };
        self.shared.transfers.add(self.client, &watch.id, transfer);
    }
}

/// Bodies that are written but perhaps not delivered: a stopping server waits for them.
#[derive(Default)]
pub struct Delivery {
    passes: Vec<Pass>,
}

impl Delivery {
    /// End the delivered bodies; return when to check the others again.
    pub fn settle(&mut self, fd: RawFd, has_output: bool, now: Instant) -> Option<Instant> {
        if !self.passes.is_empty() && !has_output && is_delivered(fd) {
            self.passes.clear();
        }
        (!self.passes.is_empty()).then(|| now + DELIVERY_LOOK)
    }
}

impl Context {
    /// Let one more body of this client move, alone or as part of its test.
    fn right(
        &self,
        client: ClientKey,
        account: &Account,
        bytes: Option<u64>,
        now: Instant,
    ) -> Result<Right, Refusal> {
        if bytes == Some(0) {
            return Ok(Right::Empty);
        }
        if let Some(left) = account.spent_for(now) {
            return Err(Refusal::Until(left));
        }
        if let Some(bytes) = bytes.filter(|bytes| *bytes <= SMALL_BYTES) {
            if account.take_small(bytes, now) {
                return account.reserve(bytes, now).map(Right::Small).ok_or(Refusal::TooFast);
            }
        }
        let place = || {
            let ticket = self.admission.enter_if_free(client);
            ticket.map(|ticket| Box::new(ticket) as Box<dyn Send>)
        };
        Sessions::enter(&self.sessions, client, now, &self.limits, place).map(Right::Test)
    }
}
