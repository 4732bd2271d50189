// SPDX-License-Identifier: Apache-2.0
//! Limit of a test by the figures of both sides; every verdict names its evidence.
//!
//! A sender's kernel accounts for its time exactly (TCP_INFO: busy, rwnd_limited, sndbuf_limited).
//! The rest of the busy time was spent waiting for the path, the rest of the whole time for the
//! program. If round trips are short, a buffer is empty before its program wakes, and the kernel
//! counts neither: then the narrowest of congestion window, peer's window and send buffer decides.
//! A receiver knows only windows, order and round-trip times: causes are ruled out one after
//! another, the one with the surest evidence first.
//!
//! Other tests of the same server are no fault of this test's client or path. A loop or a link that
//! they filled is reported as `shared`, unless loss alone explains the rate.

mod other_load;
mod receiving;
mod sending;
mod words;

use serde::Serialize;

pub use other_load::{OtherLoad, RefusedLoad};
use words::percent;

use crate::series::Summary;

/// Share of a limit from which the rate counts as set by it.
const AT_LIMIT: f64 = 0.93;
/// Share of the time from which a limit that kept the bytes back is what limited the rate, even if
/// a core that was late leaves the rate further below it.
const HELD_BACK: f64 = 0.5;
/// Shortest test or transfer in µs: below it, the resolution of the kernel's clock is too coarse.
const LEAST_US: f64 = 20_000.0;
/// CPU use or run-queue wait of a core from which it is the limit.
const CORE_FULL: f64 = 0.85;
/// Share of lost segments above which TCP reacts to loss.
const LOSS_SHARE: f64 = 0.0005;
/// Queueing that shows a full path: ratio of the mean RTT to the lowest, and the least difference.
const QUEUE_FACTOR: f64 = 2.0;
const QUEUE_LEAST_US: f64 = 3_000.0;
/// Least difference seen from a receiver: its round trip includes the client's time to answer.
const QUEUE_LEAST_SEEN_FROM_RECEIVER_US: f64 = 5_000.0;
/// Share of Mathis' bound with the observed loss from which loss limits the sender.
const NEAR_LOSS_BOUND: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limiter {
    ServerCpu,
    Client,
    ReceiveWindow,
    SendBuffer,
    Path,
    Policy,
    /// Other tests of the same server took its CPU or its link.
    Shared,
    /// Too little was sent to decide.
    Unknown,
}

/// Shares of wall-clock time that the busiest server loop of a test ran, or waited to run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Load {
    pub running: f64,
    pub waiting: f64,
}

impl Load {
    fn full(&self) -> bool {
        self.running + self.waiting >= CORE_FULL
    }
}

/// Evidence about one direction of a test, all streams together.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Evidence {
    pub server_sends: bool,
    pub rate_bps: f64,
    pub bytes: u64,
    /// Lowest limit by the server's configuration or the client's own request.
    pub policy_bps: Option<f64>,
    /// Share of the time in which that limit kept the bytes back.
    pub held_back: f64,
    pub server_load: Load,
    pub other_load: OtherLoad,
    /// Capacity of the server's link, if the operator gives it.
    pub link_bps: Option<f64>,
    /// CPU use that the client reported, as a share of one core.
    pub client_cpu: Option<f64>,
    /// Retransmitted segments that a sending client reported.
    pub client_retransmits: Option<u64>,
    /// Round trip of the first answer after the test, while queues on the path are still full.
    pub loaded_rtt_us: Option<f64>,
    pub streams: Vec<Summary>,
}

/// Limit of the direction, and the evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    pub limited_by: Limiter,
    pub because: Vec<String>,
}

/// Return why this limit was the one, if it was.
fn policy_limit(evidence: &Evidence, policy_bps: f64) -> Option<Vec<String>> {
    let (reached, held) = (evidence.rate_bps / policy_bps, evidence.held_back);
    let rate = format!(
        "{:.1} Mbit/s is {:.0} % of the {:.1} Mbit/s that were allowed or requested",
        evidence.rate_bps / 1e6,
        reached * 100.0,
        policy_bps / 1e6
    );
    if reached >= AT_LIMIT {
        return Some(vec![rate]);
    }
    let kept = format!("this limit kept the bytes back for {:.0} % of the time", percent(held));
    (held >= HELD_BACK).then(|| vec![rate, kept])
}

/// Decide what limited this direction of the test.
pub fn judge(evidence: &Evidence) -> Verdict {
    if evidence.bytes == 0 || evidence.streams.is_empty() {
        return verdict(Limiter::Unknown, "nothing was transferred".into());
    }
    if let Some(because) = evidence.policy_bps.and_then(|policy| policy_limit(evidence, policy)) {
        return Verdict { limited_by: Limiter::Policy, because };
    }
    let mean_us = mean_of(evidence, |stream| stream.wall_us);
    if mean_us < LEAST_US {
        let because = format!("{:.1} ms are too short to decide", mean_us / 1e3);
        return verdict(Limiter::Unknown, because);
    }
    if let Some(full) = evidence.other_load.filled_link(evidence) {
        return verdict(Limiter::Shared, full);
    }
    if evidence.server_sends {
        sending::judge(evidence)
    } else {
        receiving::judge(evidence)
    }
}

fn verdict(limited_by: Limiter, because: String) -> Verdict {
    Verdict { limited_by, because: vec![because] }
}

/// Describe loss or queueing.
fn congestion(evidence: &Evidence) -> Option<String> {
    loss(evidence).or_else(|| queueing(evidence))
}

/// Describe loss to which TCP reacts. A client cannot have retransmitted more than arrived and was
/// lost: a higher count is not evidence.
fn loss(evidence: &Evidence) -> Option<String> {
    let (segments, lost) = if evidence.server_sends {
        let segments = total(evidence, |stream| f64::from(stream.segments_out));
        (segments, total(evidence, |stream| f64::from(stream.retransmits)))
    } else {
        let segments = total(evidence, |stream| f64::from(stream.segments_in));
        let disordered = total(evidence, |stream| f64::from(stream.out_of_order));
        let client = evidence.client_retransmits.map_or(disordered, |count| count as f64);
        (segments, if client <= segments { client } else { disordered })
    };
    let lost = lost.min(segments);
    let share = if segments > 0.0 { lost / segments } else { 0.0 };
    (share > LOSS_SHARE && loss_explains(evidence, segments, share)).then(|| {
        format!(
            "{lost:.0} of {segments:.0} segments ({:.2} %) had to be sent again",
            percent(share)
        )
    })
}

/// Describe a round trip that grew as a queue on the path filled.
fn queueing(evidence: &Evidence) -> Option<String> {
    let (least, mean, growth) = if evidence.server_sends {
        (
            mean_of(evidence, |stream| stream.min_rtt_us),
            mean_of(evidence, |stream| stream.mean_rtt_us),
            QUEUE_LEAST_US,
        )
    } else {
        // A receiver's own RTT is that of the handshake. Its kernel's estimate under load also
        // grows when the sender pauses, so the first answer after the test must agree with it.
        let guess = mean_of(evidence, |stream| stream.mean_rcv_rtt_us);
        let answer = evidence.loaded_rtt_us.unwrap_or(0.0);
        let handshake = mean_of(evidence, |stream| stream.mean_rtt_us);
        (handshake, guess.min(answer), QUEUE_LEAST_SEEN_FROM_RECEIVER_US)
    };
    (least > 0.0 && mean > least * QUEUE_FACTOR && mean - least > growth)
        .then(|| format!("the round trip grew from {:.1} ms to {:.1} ms", least / 1e3, mean / 1e3))
}

/// Return whether loss is so high that TCP could hardly be faster (Mathis et al. 1997, equation 3,
/// for each stream).
fn loss_explains(evidence: &Evidence, segments: f64, share: f64) -> bool {
    let round_trip = |stream: &Summary| {
        if evidence.server_sends {
            stream.mean_rtt_us
        } else {
            // RTT of the handshake, or the kernel's estimate under load: rather too high than too
            // low.
            stream.mean_rtt_us.max(stream.mean_rcv_rtt_us)
        }
    };
    let rtt_s = mean_of(evidence, round_trip) / 1e6;
    let segment_bits = evidence.bytes as f64 * 8.0 / segments;
    let bound_bps = segment_bits / rtt_s.max(1e-6) * 1.22 / share.sqrt();
    evidence.rate_bps >= NEAR_LOSS_BOUND * bound_bps * evidence.streams.len() as f64
}

fn server_core(evidence: &Evidence) -> String {
    format!(
        "the server's busiest loop ran {:.0} % of the time and waited for a core another {:.0} %",
        percent(evidence.server_load.running),
        percent(evidence.server_load.waiting)
    )
}

fn client_core(evidence: &Evidence) -> Option<String> {
    evidence
        .client_cpu
        .filter(|share| *share >= CORE_FULL)
        .map(|share| format!("the client used {:.0} % of a core", share * 100.0))
}

fn total(evidence: &Evidence, of: impl Fn(&Summary) -> f64) -> f64 {
    evidence.streams.iter().map(of).sum()
}

fn mean_of(evidence: &Evidence, of: impl Fn(&Summary) -> f64) -> f64 {
    total(evidence, of) / evidence.streams.len() as f64
}

#[cfg(test)]
mod tests;
