// SPDX-License-Identifier: Apache-2.0
//! Limit of a direction in which the server sends: its kernel accounts for the sender's time.

use super::words::{percent, size};
use super::{
    client_core, congestion, mean_of, server_core, total, verdict, Evidence, Limiter, Verdict,
};

/// Share of time waiting for a core from which the program shares it with others.
const CORE_SHARED: f64 = 0.1;
/// Least share of the time that a full window is offered; a slow reader's is mostly closed.
const WINDOW_OPEN_SHARE: f64 = 0.6;
/// Window in bytes below which it was set: a kernel that tunes it soon offers 64 KiB to megabytes.
const SMALL_WINDOW: f64 = 48.0 * 1024.0;
/// The same share for a small window, half closed by the one segment that a reader is about to
/// take.
const SMALL_WINDOW_OPEN_SHARE: f64 = 0.3;
/// Share of moments with data left in the socket from which a loop was in time,
const KEPT_UP: f64 = 0.5;
/// unless nothing was in flight for this share of the time.
const RAN_DRY: f64 = 0.1;

pub(super) fn judge(evidence: &Evidence) -> Verdict {
    let wall = total(evidence, |stream| stream.wall_us).max(1.0);
    let busy = busy_share(evidence, wall);
    let window = (total(evidence, |stream| stream.rwnd_limited_us) / wall).min(busy);
    let buffer = (total(evidence, |stream| stream.sndbuf_limited_us) / wall).min(busy - window);
    let path = busy - window - buffer;
    let idle = 1.0 - busy;
    let shares = format!(
        "of the time: {:.0} % receive window, {:.0} % send buffer, {:.0} % path, {:.0} % no data to send",
        percent(window),
        percent(buffer),
        percent(path),
        percent(idle)
    );
    let most = window.max(buffer).max(path).max(idle);
    let mut answer = if most == buffer {
        verdict(Limiter::SendBuffer, "the send buffer was full before the path was".into())
    } else if most == window {
        closed_or_small_window(evidence)
    } else {
        path_or_cpu(evidence, most == idle)
    };
    answer.because.push(shares);
    answer
}

/// Return the share of time with data in flight. The kernel counts in its own ticks, and may be one
/// ahead.
fn busy_share(evidence: &Evidence, wall: f64) -> f64 {
    (total(evidence, |stream| stream.busy_us) / wall).min(1.0)
}

fn closed_or_small_window(evidence: &Evidence) -> Verdict {
    let mean = total(evidence, |stream| stream.mean_snd_wnd_bytes);
    let most = total(evidence, |stream| stream.max_snd_wnd_bytes).max(1.0);
    let offered = format!(
        "the client offered a window of {} on average and {} at most",
        size(mean),
        size(most)
    );
    let small = most < SMALL_WINDOW * evidence.streams.len() as f64;
    let open = if small { SMALL_WINDOW_OPEN_SHARE } else { WINDOW_OPEN_SHARE };
    if mean / most < open {
        let mut answer =
            verdict(Limiter::Client, "the client did not read what had arrived".into());
        answer.because.push(offered);
        return answer;
    }
    if let Some(full) = client_core(evidence) {
        return verdict(Limiter::Client, full);
    }
    verdict(Limiter::ReceiveWindow, offered)
}

/// Decide if nothing was full for most of the time. `ran_dry`: nothing was in flight either.
fn path_or_cpu(evidence: &Evidence, ran_dry: bool) -> Verdict {
    if let Some(full) = evidence.other_load.filled_loop(evidence) {
        return path_or_shared(evidence, full);
    }
    if ran_dry && evidence.server_load.full() {
        return full_core_or_small_window(evidence);
    }
    if let Some(seen) = congestion(evidence) {
        return verdict(Limiter::Path, seen);
    }
    if evidence.server_load.full() {
        return full_core_or_small_window(evidence);
    }
    if let Some(full) = client_core(evidence) {
        return verdict(Limiter::Client, full);
    }
    if let Some(narrow) = narrower_than_congestion_window(evidence) {
        return narrow;
    }
    if ran_dry {
        let because = "the server had nothing left to send and time to spare";
        return verdict(Limiter::Client, because.into());
    }
    verdict(
        Limiter::Path,
        "data was in flight all the time, and no window or buffer was full".into(),
    )
}

/// Decide if others filled the loop. Data in flight counts as waiting for the path even where the
/// loop was too late to write more, and a stalled host retransmits what was not lost. So loss or a
/// queue must show the path as the limit while data waits here.
fn path_or_shared(evidence: &Evidence, full: String) -> Verdict {
    let wall = total(evidence, |stream| stream.wall_us).max(1.0);
    let kept_up = mean_of(evidence, |stream| stream.unsent_share) >= KEPT_UP
        && busy_share(evidence, wall) > 1.0 - RAN_DRY;
    match congestion(evidence).filter(|_| kept_up) {
        Some(seen) => verdict(Limiter::Path, seen),
        None => verdict(Limiter::Shared, full),
    }
}

/// Tell a full core from a small window. A window of a few segments keeps the core busy that wakes
/// for each of them: the core runs full, but does not wait for others.
fn full_core_or_small_window(evidence: &Evidence) -> Verdict {
    let small = SMALL_WINDOW * evidence.streams.len() as f64;
    let most = total(evidence, |stream| stream.max_snd_wnd_bytes);
    let mut answer = verdict(Limiter::ServerCpu, server_core(evidence));
    if most > 0.0 && most < small && evidence.server_load.waiting < CORE_SHARED {
        let because = answer.because;
        answer = closed_or_small_window(evidence);
        answer.because.extend(because);
    }
    answer
}

/// Report a send buffer or peer's window that allows less in flight than TCP itself would.
fn narrower_than_congestion_window(evidence: &Evidence) -> Option<Verdict> {
    let congestion = total(evidence, |stream| stream.mean_cwnd_bytes);
    let window = total(evidence, |stream| stream.mean_snd_wnd_bytes);
    let buffer = total(evidence, |stream| stream.last_sndbuf_bytes) / 2.0;
    if buffer > 0.0 && buffer < congestion && buffer <= window {
        let because = format!(
            "the send buffer holds {}, the congestion window allows {}",
            size(buffer),
            size(congestion)
        );
        return Some(verdict(Limiter::SendBuffer, because));
    }
    (window > 0.0 && window < congestion).then(|| closed_or_small_window(evidence))
}
