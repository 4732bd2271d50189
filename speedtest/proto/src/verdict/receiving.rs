// SPDX-License-Identifier: Apache-2.0
//! Limit of a direction in which the server receives: causes are ruled out one after another.

use super::{
    client_core, congestion, loss, mean_of, server_core, total, verdict, words::size, Evidence,
    Limiter, Verdict,
};

/// Share of a fixed window that must arrive in each round trip of the handshake for it to count as
/// full. Round trips under load take a few times longer.
const WINDOW_FILLED: f64 = 0.15;
/// The same for a window that grows: the kernel makes space for twice what arrives.
const GROWN_WINDOW_FILLED: f64 = 0.6;
/// Share of the window that must wait at each read for it to count as full.
const WINDOW_WAITING: f64 = 0.5;
/// Bytes waiting at each read below which a loop is fast enough, however busy it is.
const KEPT_UP: f64 = 32.0 * 1024.0;
/// Share of the window waiting from which the loop is late: data waits for it, not for the path.
const LATE: f64 = 0.1;

pub(super) fn judge(evidence: &Evidence) -> Verdict {
    match evidence.other_load.filled_loop(evidence) {
        Some(full) => {
            if let Some(shared) = taken_by_others(evidence, full) {
                return shared;
            }
        }
        None if evidence.server_load.full() => {
            return verdict(Limiter::ServerCpu, server_core(evidence));
        }
        None => {}
    }
    if let Some(seen) = congestion(evidence) {
        return verdict(Limiter::Path, seen);
    }
    if let Some(full) = filled_window(evidence) {
        return verdict(Limiter::ReceiveWindow, full);
    }
    if let Some(full) = client_core(evidence) {
        return verdict(Limiter::Client, full);
    }
    let mut answer = verdict(Limiter::Client, "the client did not send faster".into());
    answer.because.push("the server had time, no segment was lost, the window was open".into());
    answer.because.extend(waiting_in_window(evidence));
    answer
}

/// Report a loop that others filled. None: it was in time for this test all the same.
fn taken_by_others(evidence: &Evidence, full: String) -> Option<Verdict> {
    let found = mean_of(evidence, |stream| stream.mean_move_bytes);
    let window = mean_of(evidence, |stream| stream.max_rcv_wnd_bytes);
    if let Some(lost) = loss(evidence).filter(|_| found < window * LATE) {
        return Some(verdict(Limiter::Path, lost));
    }
    (found == 0.0 || found >= KEPT_UP).then(|| verdict(Limiter::Shared, full))
}

fn filled_window(evidence: &Evidence) -> Option<String> {
    let window = total(evidence, |stream| stream.max_rcv_wnd_bytes);
    let rtt_us = mean_of(evidence, |stream| stream.mean_rtt_us);
    let per_round_trip = evidence.rate_bps / 8e6 * rtt_us;
    let first = total(evidence, |stream| stream.first_rcvbuf_bytes);
    let grew = total(evidence, |stream| stream.last_rcvbuf_bytes) > first;
    let filled = if grew { GROWN_WINDOW_FILLED } else { WINDOW_FILLED };
    let waiting = total(evidence, |stream| stream.mean_move_bytes);
    if !grew && window > 0.0 && waiting / window >= WINDOW_WAITING {
        return waiting_in_window(evidence);
    }
    if window == 0.0 || per_round_trip / window < filled {
        return None;
    }
    Some(if per_round_trip <= window {
        format!(
            "{} arrived in each round trip of {rtt_us:.0} us; the window was {}",
            size(per_round_trip),
            size(window)
        )
    } else {
        // The test's round trips were shorter than the handshake's.
        format!(
            "at this rate a window of {} is full after {:.0} us; the handshake took {rtt_us:.0} us",
            size(window),
            rtt_us * window / per_round_trip
        )
    })
}

/// Describe the fill of the window; None if it is not known. During a long read more than a window
/// may arrive: then it is only known to be full.
fn waiting_in_window(evidence: &Evidence) -> Option<String> {
    let waiting = total(evidence, |stream| stream.mean_move_bytes);
    let window = total(evidence, |stream| stream.max_rcv_wnd_bytes);
    if window == 0.0 || waiting == 0.0 {
        return None;
    }
    Some(if waiting <= window {
        let (waiting, window) = (size(waiting), size(window));
        format!("{waiting} of a window of {window} had arrived each time the server read")
    } else {
        format!("the whole window of {} had arrived each time the server read", size(window))
    })
}
