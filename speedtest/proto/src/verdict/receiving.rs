// SPDX-License-Identifier: Apache-2.0
//! What limited a direction in which the server receives: causes are ruled out one after the other.

use super::{
    client_core, congestion, mean_of, server_core, total, verdict, Evidence, Limiter, Verdict,
};

/// A window of fixed size counts as full when this part of it arrives in each round trip of the
/// handshake; those under load take a few times longer.
const WINDOW_FILLED: f64 = 0.15;
/// The kernel makes room for twice of what arrives, as long as it may: only beyond that is it full.
const GROWN_WINDOW_FILLED: f64 = 0.6;
/// A window is also full when this part of it waits each time the server comes to read.
const WINDOW_WAITING: f64 = 0.5;

pub(super) fn judge(evidence: &Evidence) -> Verdict {
    if evidence.server_load.full() {
        return verdict(Limiter::ServerCpu, server_core(evidence));
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
    answer.because.push(format!(
        "the server had time, no segment was lost, the window was open: {}",
        waiting_in_window(evidence)
    ));
    answer
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
        return Some(waiting_in_window(evidence));
    }
    (window > 0.0 && per_round_trip / window >= filled).then(|| {
        format!(
            "{:.1} KiB arrived in each round trip of {rtt_us:.0} us; the window was {:.1} KiB",
            per_round_trip / 1024.0,
            window / 1024.0
        )
    })
}

/// How full the window was, in words.
fn waiting_in_window(evidence: &Evidence) -> String {
    format!(
        "{:.1} KiB of a window of {:.1} KiB had arrived each time the server read",
        total(evidence, |stream| stream.mean_move_bytes) / 1024.0,
        total(evidence, |stream| stream.max_rcv_wnd_bytes) / 1024.0
    )
}
