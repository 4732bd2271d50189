// SPDX-License-Identifier: Apache-2.0
//! Output of a responsiveness test.

use std::fmt::Write;

use serde_json::{json, Value};
use speedtest_proto::responsiveness::{Confidence, Interval, Responsiveness};

use super::measure::{Direction, Timings};
use super::Way;

pub fn render(
    as_json: bool,
    error: Option<&str>,
    idle: Option<&Timings>,
    directions: &[Direction],
) -> String {
    let idle = idle.and_then(Timings::summary);
    if as_json {
        let result = json!({
            "error": error,
            "idle": idle,
            "directions": directions.iter().map(of_direction).collect::<Vec<_>>(),
        });
        let failed = u32::from(error.is_some());
        return format!("{}\n", json!({"tests": 1, "failed": failed, "results": [result]}));
    }
    let mut text = String::new();
    if let Some(idle) = idle {
        let _ = writeln!(text, "idle {:.0} RPM ({})", idle.rpm, times(&idle));
    }
    for direction in directions {
        text.push_str(&lines(direction));
    }
    if let Some(error) = error {
        let _ = writeln!(text, "failed: {error}");
    }
    text
}

fn name(ways: &[Way]) -> &'static str {
    match ways {
        [Way::Down] => "down",
        [Way::Up] => "up",
        _ => "both",
    }
}

fn word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

fn times(found: &Responsiveness) -> String {
    let mut text = format!(
        "TCP {:.2} ms, TLS {:.2} ms, HTTP {:.2} ms",
        found.tcp_ms, found.tls_ms, found.http_ms
    );
    if let Some(loaded_ms) = found.loaded_ms {
        let _ = write!(text, ", HTTP on loaded connections {loaded_ms:.2} ms");
    }
    text
}

fn lines(direction: &Direction) -> String {
    let (goodput, responsiveness) = direction.meter.confidence();
    let name = name(&direction.ways);
    let mut text = String::new();
    if let Some(found) = direction.meter.responsiveness() {
        let (rpm, sure) = (found.rpm, word(responsiveness));
        let _ = writeln!(text, "{name} {rpm:.0} RPM, {sure} confidence ({})", times(&found));
    }
    let _ = writeln!(
        text,
        "{name} {:.1} Mbit/s, {} confidence, {} connections",
        direction.meter.goodput_bps() / 1e6,
        word(goodput),
        direction.connections
    );
    text
}

fn of_direction(direction: &Direction) -> Value {
    let (goodput, responsiveness) = direction.meter.confidence();
    let intervals: Vec<Value> = direction.meter.intervals().iter().map(of_interval).collect();
    json!({
        "load": name(&direction.ways),
        "down_bytes": direction.down_bytes,
        "up_bytes": direction.up_bytes,
        "connections": direction.connections,
        "bits_per_second": direction.meter.goodput_bps(),
        "goodput_confidence": goodput,
        "responsiveness": direction.meter.responsiveness(),
        "responsiveness_confidence": responsiveness,
        "intervals": intervals,
    })
}

fn of_interval(interval: &Interval) -> Value {
    json!({
        "seconds": interval.seconds,
        "bytes": interval.bytes,
        "foreign_probes": interval.probes.http_ms.len(),
        "loaded_probes": interval.probes.loaded_ms.len(),
    })
}
