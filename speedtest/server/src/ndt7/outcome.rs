// SPDX-License-Identifier: Apache-2.0
//! End of a subtest: a record for the operator, the verdict for the page or client.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use speedtest_proto::ndt7::measurement::Measurement;
use speedtest_proto::ndt7::Subtest;
use speedtest_proto::rfc6349;
use speedtest_proto::series::Series;
use speedtest_proto::verdict::{judge, Evidence, Load, OtherLoad};

use super::Context;
use crate::clients::ClientKey;
use crate::counters::Counters;
use crate::results::seconds;
use crate::transfers::Transfer;

/// How a test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// Its time or amount is over, or the client sent a Close.
    Complete,
    /// The client ended its upload by closing the connection.
    Left,
    /// Reason why there is no complete result.
    Broken(String),
}

impl How {
    fn name(&self) -> &'static str {
        match self {
            How::Complete => "close",
            How::Left => "left",
            How::Broken(_) => "aborted",
        }
    }
}

/// All data at the end of a test.
pub struct Ended<'a> {
    pub subtest: Subtest,
    pub peer: SocketAddr,
    pub client: ClientKey,
    pub uuid: &'a str,
    pub bytes: u64,
    pub time: Duration,
    pub congestion: Option<String>,
    pub tls: bool,
    pub limit_bps: Option<u64>,
    pub load: Load,
    pub other_load: OtherLoad,
    pub link_bps: Option<u64>,
    pub series: &'a Series,
    pub metadata: &'a BTreeMap<String, String>,
    pub client_said: Option<&'a Measurement>,
}

/// Keep, log and count the result.
pub fn tell(shared: &Context, ended: &Ended<'_>, how: &How, id: Option<&str>) {
    let direction = direction(ended);
    let mut fields = json!({
        "protocol": "ndt7",
        "client": ended.peer.to_string(),
        "test": ended.subtest.name(),
        "uuid": ended.uuid,
        "tls": ended.tls,
        "metadata": ended.metadata,
        "directions": [direction],
        "other_load": ended.other_load,
        "ended": how.name(),
    });
    if let Some(app) = ended.client_said.and_then(|said| said.app_info) {
        fields["client_measured"] = json!({
            "bytes": app.num_bytes,
            "seconds": app.elapsed_time as f64 / 1e6,
        });
    }
    match how {
        How::Complete | How::Left => {
            Counters::add(&shared.counters.tests_finished, 1);
            shared.log.info("test finished", fields.clone());
        }
        How::Broken(why) => {
            fields["because"] = why.as_str().into();
            Counters::add(&shared.counters.tests_failed, 1);
            shared.log.info("test ended early", fields.clone());
        }
    }
    fields["series"] = json!([{
        "server": side(ended.subtest),
        "tcp_info": ended.series.samples(),
    }]);
    shared.keeper.keep(fields);
    if let Some(id) = id {
        let transfer = Transfer {
            sent: ended.subtest == Subtest::Download,
            bytes: ended.bytes,
            ended: Instant::now(),
            time: ended.time,
            // Its pacer makes up for any delay: the rate alone shows its limit.
            held: Duration::ZERO,
            summary: ended.series.summary(),
            load: ended.load,
            aborted: matches!(how, How::Broken(_)),
            other_load: ended.other_load,
            link_bps: ended.link_bps,
        };
        shared.transfers.add(ended.client, id, transfer);
    }
}

fn side(subtest: Subtest) -> &'static str {
    match subtest {
        Subtest::Download => "sends",
        Subtest::Upload => "receives",
    }
}

/// Describe the direction: rate, verdict and RFC 6349, under the same names as in a result of
/// iperf3.
fn direction(ended: &Ended<'_>) -> Value {
    let sent = ended.subtest == Subtest::Download;
    let duration_s = seconds(ended.time);
    let rate_bps = ended.bytes as f64 * 8.0 / duration_s;
    let summary = ended.series.summary();
    let verdict = judge(&Evidence {
        server_sends: sent,
        rate_bps,
        bytes: ended.bytes,
        policy_bps: ended.limit_bps.map(|limit| limit as f64),
        server_load: ended.load,
        other_load: ended.other_load,
        link_bps: ended.link_bps.map(|link_bps| link_bps as f64),
        streams: vec![summary],
        ..Evidence::default()
    });
    let metrics: Vec<_> = sent.then(|| rfc6349::metrics(&summary, rate_bps)).into_iter().collect();
    json!({
        "server": side(ended.subtest),
        "bytes": ended.bytes,
        "seconds": duration_s,
        "bits_per_second": rate_bps.round(),
        "congestion": ended.congestion,
        "verdict": verdict,
        "rfc6349": metrics,
    })
}
