// SPDX-License-Identifier: Apache-2.0
//! TCP_INFO over the life of a stream, in bounded memory.

use serde::Serialize;

/// Samples kept per stream; when full, every second one is dropped and the step doubles.
const MOST_SAMPLES: usize = 64;

/// TCP_INFO of one stream at one moment. Times in microseconds, sizes in bytes; 0: the kernel has
/// no value.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Sample {
    /// Time since the stream started.
    pub at_us: u64,
    /// Application bytes so far.
    pub bytes: u64,
    pub rtt_us: u32,
    pub min_rtt_us: u32,
    pub rcv_rtt_us: u32,
    pub cwnd_bytes: u64,
    /// Window that the peer offers.
    pub snd_wnd_bytes: u32,
    /// Window that this side offers.
    pub rcv_wnd_bytes: u32,
    /// Limits of the socket's buffers; half is the kernel's bookkeeping.
    pub rcvbuf_bytes: u32,
    pub sndbuf_bytes: u32,
    /// Bytes written by this program and not sent yet.
    pub notsent_bytes: u32,
    pub delivery_rate_bps: u64,
    pub retransmits: u32,
    pub segments_out: u32,
    pub segments_in: u32,
    pub out_of_order: u32,
    /// Time with data in flight, and the time limited by a window or the send buffer.
    pub busy_us: u64,
    pub rwnd_limited_us: u64,
    pub sndbuf_limited_us: u64,
}

/// Samples of a stream, and results that need all of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    kept: Vec<Sample>,
    step: u32,
    seen: u32,
    moves: u64,
    moved_bytes: u64,
    last: Sample,
    base: Sample,
    rtt_sum_us: f64,
    rcv_rtt_sum_us: f64,
    rcv_rtt_seen: u32,
    cwnd_sum: f64,
    snd_wnd_sum: f64,
    snd_wnd_max: u32,
    unsent_seen: u32,
    rcv_wnd_max: u32,
    delivery_rate_max_bps: u64,
    min_rtt_us: u32,
}

impl Series {
    /// Count one read or write of the program.
    pub fn moved(&mut self, bytes: u64) {
        self.moves += 1;
        self.moved_bytes += bytes;
    }

    pub fn push(&mut self, sample: Sample) {
        let step = self.step.max(1);
        if self.seen.is_multiple_of(step) {
            self.kept.push(sample);
        }
        if self.kept.len() == MOST_SAMPLES {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.step = step * 2;
        }
        if self.seen == 0 {
            self.base = sample;
        }
        self.seen += 1;
        self.rtt_sum_us += f64::from(sample.rtt_us);
        if sample.rcv_rtt_us > 0 {
            self.rcv_rtt_sum_us += f64::from(sample.rcv_rtt_us);
            self.rcv_rtt_seen += 1;
        }
        self.cwnd_sum += sample.cwnd_bytes as f64;
        self.snd_wnd_sum += f64::from(sample.snd_wnd_bytes);
        self.snd_wnd_max = self.snd_wnd_max.max(sample.snd_wnd_bytes);
        self.unsent_seen += u32::from(sample.notsent_bytes > 0);
        // Skip the first window: it is the handshake's. A buffer that shrinks later does not take
        // it back, and one that may grow has not begun to.
        if self.seen > 1 {
            self.rcv_wnd_max = self.rcv_wnd_max.max(sample.rcv_wnd_bytes);
        }
        self.delivery_rate_max_bps = self.delivery_rate_max_bps.max(sample.delivery_rate_bps);
        if sample.min_rtt_us > 0 && (self.min_rtt_us == 0 || sample.min_rtt_us < self.min_rtt_us) {
            self.min_rtt_us = sample.min_rtt_us;
        }
        self.last = sample;
    }

    pub fn samples(&self) -> &[Sample] {
        &self.kept
    }

    /// Return the most recent sample.
    pub fn last(&self) -> Sample {
        self.last
    }

    /// Summarize the time from the first sample to the last.
    pub fn summary(&self) -> Summary {
        let seen = f64::from(self.seen.max(1));
        let (first, last) = (self.base, self.last);
        Summary {
            mean_rtt_us: self.rtt_sum_us / seen,
            min_rtt_us: f64::from(self.min_rtt_us),
            mean_rcv_rtt_us: self.rcv_rtt_sum_us / f64::from(self.rcv_rtt_seen.max(1)),
            mean_cwnd_bytes: self.cwnd_sum / seen,
            mean_snd_wnd_bytes: self.snd_wnd_sum / seen,
            max_snd_wnd_bytes: f64::from(self.snd_wnd_max),
            mean_move_bytes: self.moved_bytes as f64 / self.moves.max(1) as f64,
            unsent_share: f64::from(self.unsent_seen) / seen,
            max_rcv_wnd_bytes: f64::from(self.rcv_wnd_max),
            first_rcvbuf_bytes: f64::from(first.rcvbuf_bytes),
            last_rcvbuf_bytes: f64::from(last.rcvbuf_bytes),
            last_sndbuf_bytes: f64::from(last.sndbuf_bytes),
            max_delivery_rate_bps: self.delivery_rate_max_bps as f64,
            retransmits: last.retransmits.saturating_sub(first.retransmits),
            segments_out: last.segments_out.saturating_sub(first.segments_out),
            segments_in: last.segments_in.saturating_sub(first.segments_in),
            out_of_order: last.out_of_order.saturating_sub(first.out_of_order),
            wall_us: last.at_us.saturating_sub(first.at_us) as f64,
            busy_us: last.busy_us.saturating_sub(first.busy_us) as f64,
            rwnd_limited_us: last.rwnd_limited_us.saturating_sub(first.rwnd_limited_us) as f64,
            sndbuf_limited_us: last.sndbuf_limited_us.saturating_sub(first.sndbuf_limited_us)
                as f64,
        }
    }
}

/// Summary of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Summary {
    pub mean_rtt_us: f64,
    pub min_rtt_us: f64,
    pub mean_rcv_rtt_us: f64,
    pub mean_cwnd_bytes: f64,
    pub mean_snd_wnd_bytes: f64,
    pub max_snd_wnd_bytes: f64,
    /// Mean bytes of one read or write of the program; 0: not counted.
    pub mean_move_bytes: f64,
    /// Share of the samples in which the socket held unsent data.
    pub unsent_share: f64,
    pub max_rcv_wnd_bytes: f64,
    pub first_rcvbuf_bytes: f64,
    pub last_rcvbuf_bytes: f64,
    pub last_sndbuf_bytes: f64,
    pub max_delivery_rate_bps: f64,
    pub retransmits: u32,
    pub segments_out: u32,
    pub segments_in: u32,
    pub out_of_order: u32,
    pub wall_us: f64,
    pub busy_us: f64,
    pub rwnd_limited_us: f64,
    pub sndbuf_limited_us: f64,
}

impl Summary {
    /// Join this stream and the next as one: counters are added, means weighted by time.
    pub fn then(&self, next: &Summary) -> Summary {
        let share = next.wall_us / (self.wall_us + next.wall_us).max(1.0);
        let mean = |of: fn(&Summary) -> f64| of(self) + (of(next) - of(self)) * share;
        let lowest = |a: f64, b: f64| if a > 0.0 && b > 0.0 { a.min(b) } else { a.max(b) };
        Summary {
            mean_rtt_us: mean(|one| one.mean_rtt_us),
            min_rtt_us: lowest(self.min_rtt_us, next.min_rtt_us),
            mean_rcv_rtt_us: mean(|one| one.mean_rcv_rtt_us),
            mean_cwnd_bytes: mean(|one| one.mean_cwnd_bytes),
            mean_snd_wnd_bytes: mean(|one| one.mean_snd_wnd_bytes),
            max_snd_wnd_bytes: self.max_snd_wnd_bytes.max(next.max_snd_wnd_bytes),
            mean_move_bytes: mean(|one| one.mean_move_bytes),
            unsent_share: mean(|one| one.unsent_share),
            max_rcv_wnd_bytes: self.max_rcv_wnd_bytes.max(next.max_rcv_wnd_bytes),
            first_rcvbuf_bytes: self.first_rcvbuf_bytes,
            last_rcvbuf_bytes: next.last_rcvbuf_bytes,
            last_sndbuf_bytes: next.last_sndbuf_bytes,
            max_delivery_rate_bps: self.max_delivery_rate_bps.max(next.max_delivery_rate_bps),
            retransmits: self.retransmits.saturating_add(next.retransmits),
            segments_out: self.segments_out.saturating_add(next.segments_out),
            segments_in: self.segments_in.saturating_add(next.segments_in),
            out_of_order: self.out_of_order.saturating_add(next.out_of_order),
            wall_us: self.wall_us + next.wall_us,
            busy_us: self.busy_us + next.busy_us,
            rwnd_limited_us: self.rwnd_limited_us + next.rwnd_limited_us,
            sndbuf_limited_us: self.sndbuf_limited_us + next.sndbuf_limited_us,
        }
    }

    /// Split into `streams` equal parallel streams that add up to this one.
    pub fn split(&self, streams: usize) -> Vec<Summary> {
        let many = streams.max(1) as u32;
        let part = |all: u32, index: u32| all / many + u32::from(index < all % many);
        let even = |all: f64| all / f64::from(many);
        (0..many)
            .map(|index| Summary {
                retransmits: part(self.retransmits, index),
                segments_out: part(self.segments_out, index),
                segments_in: part(self.segments_in, index),
                out_of_order: part(self.out_of_order, index),
                wall_us: even(self.wall_us),
                busy_us: even(self.busy_us),
                rwnd_limited_us: even(self.rwnd_limited_us),
                sndbuf_limited_us: even(self.sndbuf_limited_us),
                ..*self
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_stays_bounded_and_both_ends_of_the_test_stay_visible() {
        let mut series = Series::default();
        for at in 0..10_000_u64 {
            series.push(Sample { at_us: at, retransmits: at as u32, ..Sample::default() });
        }
        assert!(series.samples().len() < MOST_SAMPLES);
        assert_eq!(series.samples()[0].at_us, 0);
        assert!(series.samples().windows(2).all(|pair| pair[0].at_us < pair[1].at_us));
        assert_eq!(series.summary().retransmits, 9_999);
        assert_eq!(series.last().at_us, 9_999);
    }

    #[test]
    fn the_window_of_the_handshake_is_not_that_of_the_test() {
        let mut series = Series::default();
        // Observed with SO_RCVBUF of 16 KiB, set on a connected socket.
        for rcv_wnd_bytes in [65_536, 29_696, 27_648] {
            series.push(Sample { rcv_wnd_bytes, ..Sample::default() });
        }
        assert_eq!(series.summary().max_rcv_wnd_bytes, 29_696.0);
    }

    #[test]
    fn transfers_become_one_stream_and_that_as_many_as_ran_at_once() {
        let first =
            Summary { wall_us: 1e6, retransmits: 3, mean_rtt_us: 100.0, ..Summary::default() };
        let next =
            Summary { wall_us: 3e6, retransmits: 4, mean_rtt_us: 200.0, ..Summary::default() };
        let both = first.then(&next);
        assert_eq!((both.wall_us, both.retransmits, both.mean_rtt_us), (4e6, 7, 175.0));
        let streams = both.split(2);
        assert_eq!(streams.iter().map(|one| one.retransmits).collect::<Vec<_>>(), [4, 3]);
        assert!(streams.iter().all(|one| (one.wall_us, one.mean_rtt_us) == (2e6, 175.0)));
    }

    #[test]
    fn a_summary_counts_from_the_first_sample() {
        let mut series = Series::default();
        series.push(Sample { at_us: 10, busy_us: 100, retransmits: 7, ..Sample::default() });
        series.push(Sample { at_us: 30, busy_us: 115, retransmits: 9, ..Sample::default() });
        let summary = series.summary();
        assert_eq!((summary.wall_us, summary.busy_us, summary.retransmits), (20.0, 15.0, 2));
    }
}
