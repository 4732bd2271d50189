// SPDX-License-Identifier: Apache-2.0
//! End of a test: results for the client, a record for the operator, the verdict.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{json, Value};
use speedtest_net::bulk::{Datagrams, Report};
use speedtest_net::load::ProcessLoad;
use speedtest_proto::iperf3::udp::Arrivals;
use speedtest_proto::iperf3::{stream_ids, Direction, Params, Results, StreamResult, Transport};
use speedtest_proto::rfc6349;
use speedtest_proto::verdict::{judge, Evidence, Load, OtherLoad, Verdict};

use super::test::Test;
use crate::results::seconds;

/// All data at the end of a test.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub test: &'a Test,
    pub load: ProcessLoad,
    pub other_load: OtherLoad,
    pub link_bps: Option<u64>,
    /// None: the client has left without results.
    pub client: Option<&'a Results>,
    /// Time that the client took to answer right after the test.
    pub loaded_rtt: Option<Duration>,
}

pub struct Record {
    pub results: Results,
    summary: Value,
    series: Value,
    /// Streams beyond those whose series are kept.
    more_streams: usize,
}

/// Streams whose TCP_INFO series goes into a record, about 25 KB each; the client gets all of them.
const KEPT_SERIES: usize = 16;

/// Return whether this test ends by amount, so that both sides can count the same bytes.
pub fn counts_exactly(params: &Params) -> bool {
    let tcp = params.transport == Transport::Tcp;
    tcp && params.amount_bytes().is_some() && params.omit_s == 0
}

/// Return the bytes that the client reports to have sent, for each stream that this side receives.
pub fn client_bytes<'a>(
    params: &'a Params,
    client: &'a Results,
) -> impl Iterator<Item = (usize, u64)> + 'a {
    stream_ids().take(params.total_streams() as usize).enumerate().filter_map(|(index, id)| {
        let sent = client.streams.iter().find(|stream| stream.id == id)?.bytes;
        (!params.server_sends(index as u32)).then_some((index, sent))
    })
}

struct Ended {
    id: u32,
    sent: bool,
    report: Report,
}

pub fn record(side: Side<'_>) -> Record {
    let ended: Vec<Ended> = stream_ids()
        .zip(&side.test.streams)
        .enumerate()
        .filter_map(|(index, (id, stream))| {
            let sent = side.test.params.server_sends(index as u32);
            Some(Ended { id, sent, report: stream.take_report()? })
        })
        .collect();
    let directions: Vec<Value> =
        [false, true].into_iter().filter_map(|sent| direction(side, &ended, sent)).collect();
    let summary = json!({
        "streams": side.test.streams.len(),
        "direction": direction_name(side.test.params.direction),
        "server_cpu_percent": rounded(side.load.total_percent),
        "client_cpu_percent": side.client.map(|client| rounded(client.cpu_util_total)),
        "client_version": side.test.params.client_version,
        "directions": directions,
        "other_load": side.other_load,
        "ended": if side.client.is_some() { "complete" } else { "aborted" },
    });
    Record {
        results: results(side, &ended, &summary),
        series: series(ended.iter().take(KEPT_SERIES)),
        more_streams: ended.len().saturating_sub(KEPT_SERIES),
        summary,
    }
}

impl Record {
    pub fn log_fields(&self, peer: SocketAddr) -> Value {
        let mut fields = json!({"protocol": "iperf3", "client": peer.to_string()});
        if let (Some(fields), Some(summary)) = (fields.as_object_mut(), self.summary.as_object()) {
            fields.extend(summary.clone());
        }
        fields
    }

    /// Return the fields with the streams' TCP_INFO, to be kept.
    pub fn kept_fields(&self, peer: SocketAddr) -> Value {
        let mut fields = self.log_fields(peer);
        fields["series"] = self.series.clone();
        fields["series_left_out"] = self.more_streams.into();
        fields
    }
}

fn results(side: Side<'_>, ended: &[Ended], summary: &Value) -> Results {
    let congestion = ended.iter().find_map(|stream| stream.report.congestion.clone());
    Results {
        cpu_util_total: side.load.total_percent,
        cpu_util_user: side.load.user_percent,
        cpu_util_system: side.load.system_percent,
        sender_has_retransmits: if ended.iter().any(|s| s.sent && s.report.datagrams.is_none()) {
            1
        } else {
            -1
        },
        congestion_used: congestion,
        server_output_json: side.test.params.server_output.then(|| with_series(summary, ended)),
        server_output_text: None,
        streams: ended.iter().map(stream_result).collect(),
    }
}

fn stream_result(stream: &Ended) -> StreamResult {
    let Datagrams { all, omitted } = stream
        .report
        .datagrams
        .unwrap_or(Datagrams { all: Arrivals::default(), omitted: Arrivals::default() });
    StreamResult {
        id: stream.id,
        bytes: stream.report.bytes,
        retransmits: if stream.sent && stream.report.datagrams.is_none() {
            i64::from(stream.report.retransmits)
        } else {
            -1
        },
        jitter: all.jitter_s,
        errors: all.lost as i64,
        omitted_errors: omitted.lost as i64,
        packets: all.packets as i64,
        omitted_packets: omitted.packets as i64,
        start_time: 0.0,
        end_time: stream.report.duration.as_secs_f64(),
    }
}

/// Describe one direction of the test: rate, verdict, RFC 6349. None without data in that
/// direction.
fn direction(side: Side<'_>, ended: &[Ended], sent: bool) -> Option<Value> {
    let streams: Vec<&Ended> = ended.iter().filter(|stream| stream.sent == sent).collect();
    let first = streams.first()?;
    let duration_s = seconds(first.report.duration);
    let bytes: u64 = streams.iter().map(|stream| stream.report.bytes).sum();
    let rate_bps = bytes as f64 * 8.0 / duration_s;
    if first.report.datagrams.is_some() {
        return Some(datagram_direction(&streams, sent, bytes, duration_s));
    }
    let verdict = verdict(side, &streams, sent, bytes, rate_bps);
    let metrics: Vec<_> = streams
        .iter()
        .filter(|_| sent)
        .map(|stream| {
            let rate_bps = stream.report.bytes as f64 * 8.0 / duration_s;
            rfc6349::metrics(&stream.report.series.summary(), rate_bps)
        })
        .collect();
    Some(json!({
        "server": if sent { "sends" } else { "receives" },
        "bytes": bytes,
        "seconds": duration_s,
        "bits_per_second": rate_bps.round(),
        "congestion": first.report.congestion,
        "verdict": verdict,
        "rfc6349": metrics,
    }))
}

/// Describe one direction of a UDP test: it has no window or retransmission to judge by.
fn datagram_direction(streams: &[&Ended], sent: bool, bytes: u64, duration_s: f64) -> Value {
    let counted = || streams.iter().filter_map(|stream| stream.report.datagrams);
    let jitter_s = counted().map(|stream| stream.all.jitter_s).sum::<f64>() / streams.len() as f64;
    json!({
        "server": if sent { "sends" } else { "receives" },
        "bytes": bytes,
        "seconds": duration_s,
        "bits_per_second": (bytes as f64 * 8.0 / duration_s).round(),
        "packets": counted().map(|s| s.all.packets - s.omitted.packets).sum::<u64>(),
        "lost": counted().map(|s| s.all.lost.saturating_sub(s.omitted.lost)).sum::<u64>(),
        "out_of_order": counted().map(|s| s.all.out_of_order).sum::<u64>(),
        // In steps of a nanosecond: on a short path it may be below a microsecond.
        "jitter_ms": (jitter_s * 1e9).round() / 1e6,
    })
}

fn verdict(side: Side<'_>, streams: &[&Ended], sent: bool, bytes: u64, rate_bps: f64) -> Verdict {
    let params = &side.test.params;
    let requested = params.rate_bps.map(|rate| rate as f64 * streams.len() as f64);
    let limit = side.test.limit_bps.map(|limit| limit as f64);
    let counts = |client: &&Results| !sent && client.sender_has_retransmits == 1;
    let client_retransmits = side.client.filter(counts).map(|client| {
        let counted = client.streams.iter().map(|stream| stream.retransmits.max(0));
        counted.fold(0_i64, i64::saturating_add).unsigned_abs()
    });
    judge(&Evidence {
        server_sends: sent,
        rate_bps,
        bytes,
        policy_bps: requested.into_iter().chain(limit).reduce(f64::min),
        // The pacers make up for any delay: the rate alone shows its limit.
        held_back: 0.0,
        server_load: busiest(streams),
        other_load: side.other_load,
        link_bps: side.link_bps.map(|link_bps| link_bps as f64),
        client_cpu: side.client.map(|client| client.cpu_util_total / 100.0),
        client_retransmits,
        loaded_rtt_us: side.loaded_rtt.map(|time| time.as_secs_f64() * 1e6),
        streams: streams.iter().map(|stream| stream.report.series.summary()).collect(),
    })
}

fn busiest(streams: &[&Ended]) -> Load {
    let wanted = |load: &Load| load.running + load.waiting;
    let loads = streams.iter().map(|stream| stream.report.load);
    loads.max_by(|a, b| wanted(a).total_cmp(&wanted(b))).unwrap_or_default()
}

fn with_series(summary: &Value, ended: &[Ended]) -> Value {
    let mut output = summary.clone();
    output["series"] = series(ended.iter());
    output
}

fn series<'a>(streams: impl Iterator<Item = &'a Ended>) -> Value {
    streams
        .map(|stream| {
            json!({
                "id": stream.id,
                "server": if stream.sent { "sends" } else { "receives" },
                "tcp_info": stream.report.series.samples(),
            })
        })
        .collect()
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
        Direction::Bidirectional => "bidirectional",
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
