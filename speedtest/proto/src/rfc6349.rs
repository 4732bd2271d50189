// SPDX-License-Identifier: Apache-2.0
//! The three metrics of RFC 6349, section 4.

use serde::Serialize;

/// RFC 6349 metrics of one sending stream.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Metrics {
    /// Ratio of actual to ideal transfer time (4.1). The ideal is at the highest delivery rate of
    /// this test, since the bottleneck is not known from outside.
    pub transfer_time_ratio: Option<f64>,
    /// Percent of segments that were not retransmitted (4.2).
    pub tcp_efficiency_percent: f64,
    /// Percent by which the mean RTT exceeds the lowest (4.3).
    pub buffer_delay_percent: Option<f64>,
}

/// Return the metrics of a stream that sent `rate_bps` on average.
pub fn metrics(summary: &crate::series::Summary, rate_bps: f64) -> Metrics {
    let sent = f64::from(summary.segments_out);
    let again = f64::from(summary.retransmits);
    Metrics {
        transfer_time_ratio: (rate_bps > 0.0 && summary.max_delivery_rate_bps > 0.0)
            .then(|| summary.max_delivery_rate_bps / rate_bps),
        tcp_efficiency_percent: if sent > 0.0 {
            (sent - again).max(0.0) / sent * 100.0
        } else {
            100.0
        },
        buffer_delay_percent: (summary.min_rtt_us > 0.0)
            .then(|| (summary.mean_rtt_us - summary.min_rtt_us) / summary.min_rtt_us * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Summary;

    #[test]
    fn the_rfcs_own_examples_come_out() {
        // Section 4.2: 2,000 of 102,000 bytes retransmitted is 98.03 %; 4.3: 25 ms to 32 ms is 28
        // %.
        let summary = Summary {
            segments_out: 102_000,
            retransmits: 2_000,
            min_rtt_us: 25_000.0,
            mean_rtt_us: 32_000.0,
            max_delivery_rate_bps: 10e6,
            ..Summary::default()
        };
        let metrics = metrics(&summary, 5e6);
        assert!((metrics.tcp_efficiency_percent - 98.04).abs() < 0.01);
        assert!((metrics.buffer_delay_percent.unwrap() - 28.0).abs() < 1e-9);
        assert_eq!(metrics.transfer_time_ratio, Some(2.0));
    }
}
