// SPDX-License-Identifier: Apache-2.0
//! The server's counters in Prometheus' text format.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use crate::shared::Shared;

pub fn page(shared: &Shared) -> String {
    let counters = &shared.counters;
    let (running, waiting) = {
        let admission = shared.admission();
        (admission.running() as u64, admission.waiting() as u64)
    };
    let counted = [
        ("connections_accepted", "Connections accepted", &counters.connections_accepted),
        ("connections_refused", "Connections beyond a limit", &counters.connections_refused),
        ("handshakes_failed", "TLS handshakes that failed", &counters.handshakes_failed),
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
        ("received_bytes", "Test data received", &counters.bytes_received),
        ("sent_bytes", "Test data sent", &counters.bytes_sent),
        ("results_kept", "Results written", &counters.results_kept),
        ("results_unwritten", "Results that only the log has", &counters.results_unwritten),
    ];
    let mut page = String::new();
    for (name, help, counter) in counted {
        line(&mut page, &format!("{name}_total"), help, "counter", counter.load(Ordering::Relaxed));
    }
    line(&mut page, "tests_running", "Tests that run", "gauge", running);
    line(&mut page, "tests_waiting", "iperf3 and ndt7 tests in the queue", "gauge", waiting);
    let spooled = counters.results_spooled.load(Ordering::Relaxed);
    line(&mut page, "results_spooled", "Results that wait for the database", "gauge", spooled);
    line(&mut page, "connections", "Open connections", "gauge", shared.clients.total() as u64);
    page
}

fn line(page: &mut String, name: &str, help: &str, kind: &str, value: u64) {
    let name = format!("wirespeed_speedtest_{name}");
    // Writing to a String cannot fail.
    let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
}
