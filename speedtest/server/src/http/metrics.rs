// SPDX-License-Identifier: Apache-2.0
//! Counters of the server in Prometheus' text format.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use speedtest_net::loop_meter::{LoopMeter, LoopReading, LONG_TURN};

use super::Context;

pub fn page(shared: &Context) -> String {
    let counters = &shared.counters;
    let (running, waiting) = shared.admission.counts();
    let counted = [
        ("connections_accepted", "Connections accepted", &counters.connections_accepted),
        ("connections_refused", "Connections beyond a limit", &counters.connections_refused),
        ("handshakes_failed", "TLS handshakes that failed", &counters.handshakes_failed),
        ("http2_floods", "HTTP/2 connections ended for frames in masses", &counters.http2_floods),
        ("bodies_refused", "HTTP bodies refused at their beginning", &counters.bodies_refused),
        ("bodies_cut", "HTTP bodies that a limit ended", &counters.bodies_cut),
        (
            "tests_finished",
            "iperf3 and ndt7 tests that ended with results",
            &counters.tests_finished,
        ),
        ("tests_failed", "iperf3 and ndt7 tests that did not", &counters.tests_failed),
        (
            "tests_refused",
            "iperf3 and ndt7 tests refused because the server was full",
            &counters.tests_refused,
        ),
        ("received_bytes", "Test data received", &*counters.bytes_received),
        ("sent_bytes", "Test data sent", &*counters.bytes_sent),
        ("refused_bytes", "Of refused HTTP bodies that came anyway", &counters.bytes_refused),
        ("results_kept", "Results written", &counters.results_kept),
        ("results_unwritten", "Results that were lost", &counters.results_unwritten),
    ];
    let mut page = String::new();
    for (name, help, counter) in counted {
        line(&mut page, &format!("{name}_total"), help, "counter", counter.load(Ordering::Relaxed));
    }
    let moved = shared.accounts.all_bytes();
    let help = "Test data of both directions, that of running tests included";
    line(&mut page, "test_bytes_total", help, "counter", moved);
    let unwritten = shared.log.unwritten();
    for (name, help, count) in [
        (
            "log_lines_suppressed_total",
            "Log lines beyond the limit of their kind",
            unwritten.suppressed,
        ),
        ("log_lines_dropped_total", "Log lines for which the queue had no room", unwritten.dropped),
    ] {
        line(&mut page, name, help, "counter", count);
    }
    line(&mut page, "tests_running", "Tests that run", "gauge", running as u64);
    line(&mut page, "tests_waiting", "iperf3 and ndt7 tests in the queue", "gauge", waiting as u64);
    let spooled = counters.results_spooled.load(Ordering::Relaxed);
    line(&mut page, "results_spooled", "Results that wait for the database", "gauge", spooled);
    for (name, help, bytes) in [
        ("results_bytes", "What the file of results takes", &counters.results_bytes),
        ("results_spool_bytes", "What the spool takes", &counters.results_spool_bytes),
    ] {
        line(&mut page, name, help, "gauge", bytes.load(Ordering::Relaxed));
    }
    line(&mut page, "connections", "Open connections", "gauge", shared.clients.total() as u64);
    loops(&mut page, shared);
    page
}

/// Write the turn times of each event loop, and the delays of ready sockets.
fn loops(page: &mut String, shared: &Context) {
    let readings: Vec<LoopReading> = shared.lanes.meters().map(LoopMeter::read).collect();
    let mut each = |name: &str, help: &str, kind: &str, value: &dyn Fn(&LoopReading) -> f64| {
        let name = format!("wirespeed_speedtest_{name}");
        let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (index, reading) in readings.iter().enumerate() {
            let _ = writeln!(page, "{name}{{loop=\"{index}\"}} {}", value(reading));
        }
    };
    let long = format!("Turns over {} ms", LONG_TURN.as_millis());
    each("turns_total", "Calls of a connection's handler", "counter", &|one| one.turns as f64);
    each("long_turns_total", &long, "counter", &|one| one.long_turns as f64);
    each("longest_turn_seconds", "Longest turn since the start", "gauge", &|one| {
        one.longest_turn.as_secs_f64()
    });
    each(
        "longest_turn_delay_seconds",
        "Longest wait of a ready socket for its turn",
        "gauge",
        &|one| one.longest_delay.as_secs_f64(),
    );
}

fn line(page: &mut String, name: &str, help: &str, kind: &str, value: u64) {
    let name = format!("wirespeed_speedtest_{name}");
    // Writing to a String cannot fail.
    let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
}
