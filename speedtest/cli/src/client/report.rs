// SPDX-License-Identifier: Apache-2.0
//! Output of a run of the client.

use serde_json::{json, Value};
use speedtest_proto::iperf3::{stream_ids, Params, Results};

/// One test after its end.
pub struct Outcome {
    pub error: Option<String>,
    directions: Vec<Way>,
    server: Value,
}

/// One direction as its receiver counted it; retransmits are those of its sender.
pub struct Way {
    pub server_sends: bool,
    pub bytes: u64,
    pub seconds: f64,
    pub retransmits: Option<i64>,
}

impl Way {
    fn bits_per_second(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.seconds.max(1e-6)
    }
}

impl Outcome {
    pub fn failed(why: String) -> Outcome {
        Outcome { error: Some(why), directions: Vec::new(), server: Value::Null }
    }

    pub fn finished(params: &Params, mine: Results, mut theirs: Results) -> Outcome {
        let ways = [false, true].into_iter();
        let directions = ways.filter_map(|sends| way(params, &mine, &theirs, sends)).collect();
        let server = theirs.server_output_json.take().unwrap_or_default();
        Outcome::of_ways(directions, server)
    }

    /// Make the outcome of these directions; `server` is the server's result.
    pub fn of_ways(directions: Vec<Way>, server: Value) -> Outcome {
        Outcome { error: None, directions, server }
    }

    fn json(&self) -> Value {
        let directions: Vec<Value> = self
            .directions
            .iter()
            .map(|way| {
                json!({
                    "server": if way.server_sends { "sends" } else { "receives" },
                    "bytes": way.bytes,
                    "seconds": way.seconds,
                    "bits_per_second": way.bits_per_second(),
                    "retransmits": way.retransmits,
                })
            })
            .collect();
        json!({"error": self.error, "directions": directions, "server": self.server})
    }
}

/// Describe one direction. None without data in that direction.
fn way(params: &Params, mine: &Results, theirs: &Results, server_sends: bool) -> Option<Way> {
    let (sender, receiver) = if server_sends { (theirs, mine) } else { (mine, theirs) };
    let ids = stream_ids().take(params.total_streams() as usize).enumerate();
    let wanted: Vec<u32> = ids
        .filter(|(index, _)| params.server_sends(*index as u32) == server_sends)
        .map(|(_, id)| id)
        .collect();
    let streams = receiver.streams.iter().filter(|stream| wanted.contains(&stream.id));
    let (bytes, seconds) = streams.fold((0, 0.0_f64), |(bytes, seconds), stream| {
        (bytes + stream.bytes, seconds.max(stream.end_time - stream.start_time))
    });
    let again = sender.streams.iter().filter(|stream| wanted.contains(&stream.id));
    // Negative: that side does not know.
    let known = |count: i64| (count >= 0).then_some(count);
    let retransmits = again.map(|stream| known(stream.retransmits)).sum();
    (!wanted.is_empty()).then_some(Way { server_sends, bytes, seconds, retransmits })
}

pub fn print(as_json: bool, outcomes: &[Outcome]) {
    let text = if as_json { format!("{}\n", summary(outcomes)) } else { lines(outcomes) };
    print!("{text}");
}

fn summary(outcomes: &[Outcome]) -> Value {
    let failed = outcomes.iter().filter(|outcome| outcome.error.is_some()).count();
    json!({
        "tests": outcomes.len(),
        "failed": failed,
        "results": outcomes.iter().map(Outcome::json).collect::<Vec<_>>(),
    })
}

fn lines(outcomes: &[Outcome]) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for outcome in outcomes {
        if let Some(error) = &outcome.error {
            text.push_str(&format!("failed: {error}\n"));
        }
        for way in &outcome.directions {
            let direction = if way.server_sends { "down" } else { "up" };
            let rate = way.bits_per_second() / 1e6;
            let _ = write!(text, "{direction} {rate:.1} Mbit/s, {} bytes", way.bytes);
            let side = if way.server_sends { "sends" } else { "receives" };
            let theirs = outcome.server["directions"].as_array();
            let theirs = theirs.and_then(|all| all.iter().find(|one| one["server"] == side));
            if let Some(limiter) = theirs.and_then(|one| one["verdict"]["limited_by"].as_str()) {
                let _ = write!(text, ", limited by: {}", limiter.replace('_', " "));
            }
            text.push('\n');
        }
    }
    text
}
