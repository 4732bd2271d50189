// SPDX-License-Identifier: Apache-2.0
//! Waits for the stop signal, and lets running tests finish.

use std::time::{Duration, Instant};

use serde_json::json;
use speedtest_net::sys::{self, Signal};

use super::parts::Parts;
use crate::admission::Call;
use crate::notify::notify;
use crate::tls::Identity;

/// Interval at which a running server checks for paused clients and for a changed certificate.
const HOUSEKEEPING: Duration = Duration::from_secs(1);
/// Interval at which a draining server checks whether the last test has ended.
const DRAIN_LOOK: Duration = Duration::from_millis(50);
/// Time for SERVER_TERMINATE to leave.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Maintain HTTP tests and the certificate until the stop signal.
pub fn wait_for_end(parts: &Parts, identity: Option<&Identity>) {
    loop {
        let signal = sys::wait_signal(HOUSEKEEPING);
        if signal == Some(Signal::Terminate) {
            return;
        }
        parts.sessions.sweep(Instant::now());
        tell_long_turns(parts);
        parts.accounts.sweep(Instant::now());
        let always = signal == Some(Signal::Reload);
        match identity.and_then(|identity| identity.reload(always)) {
            Some(Ok(())) => parts.log.info("certificate reloaded", json!({})),
            Some(Err(error)) => {
                let fields = json!({"error": error.to_string()});
                parts.log.warn("certificate not reloaded, the old one stays", fields);
            }
            None => {}
        }
    }
}

/// Log the loops that had a long turn since the last call: at most one line for each.
fn tell_long_turns(parts: &Parts) {
    for (index, meter) in parts.lanes.meters().enumerate() {
        if let Some(turn) = meter.take_long_turn() {
            let fields = json!({
                "loop": index,
                "seconds": turn.took.as_secs_f64(),
                "handler": turn.handler,
                "long_turns": meter.read().long_turns,
            });
            parts.log.warn("a turn of an event loop was long", fields);
        }
    }
}

pub fn drain(parts: &Parts, most: Duration) {
    // Only a server that systemd started has a socket to notify.
    let _ = notify("STOPPING=1");
    let (running, waiting) = parts.admission.counts();
    let fields =
        json!({"tests": running, "waiting": waiting, "connections": parts.clients.total()});
    parts.log.info("draining", fields);
    parts.listening.stop(&parts.lanes);
    parts.admission.close();
    let until = Instant::now() + most;
    let busy = || !parts.admission.testing().is_empty() || parts.sessions.any_runs(Instant::now());
    while busy() && Instant::now() < until {
        if sys::wait_signal(DRAIN_LOOK) == Some(Signal::Terminate) {
            break;
        }
    }
    let left = parts.admission.testing();
    if !left.is_empty() {
        parts.log.warn("ending tests that did not finish", json!({"tests": left.len()}));
        for control in left {
            parts.lanes.tell(control, Call::Terminate);
        }
        sys::wait_signal(LAST_WORDS);
    }
}
