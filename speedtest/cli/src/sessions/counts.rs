// SPDX-License-Identifier: Apache-2.0
//! Counts of connections, failures by cause and connect latency of one loop.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use serde_json::{json, Value};

/// Buckets of each power of two: 3% of the value.
const STEPS: usize = 32;
const STEP_BITS: u32 = 5;
const BUCKETS: usize = 64 * STEPS;

/// Durations in whole microseconds, in buckets of 3% of the value.
pub struct Histogram {
    buckets: Vec<u64>,
    max_us: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { buckets: vec![0; BUCKETS], max_us: 0 }
    }
}

fn bucket(us: u64) -> usize {
    let exponent = 63 - (us | (STEPS as u64 - 1)).leading_zeros();
    let shift = exponent.saturating_sub(STEP_BITS);
    shift as usize * STEPS + (us >> shift) as usize
}

/// Return the highest value of a bucket.
fn highest(bucket: usize) -> u64 {
    let shift = (bucket / STEPS).saturating_sub(1);
    (((bucket - shift * STEPS) as u64 + 1) << shift) - 1
}

impl Histogram {
    fn add(&mut self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX >> 4);
        self.buckets[bucket(us)] += 1;
        self.max_us = self.max_us.max(us);
    }

    fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.max_us = self.max_us.max(other.max_us);
    }

    /// Return the value that this share of the durations does not exceed; None without durations.
    fn quantile(&self, share: f64) -> Option<u64> {
        let all: u64 = self.buckets.iter().sum();
        let wanted = ((all as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.buckets.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        found.map(|bucket| highest(bucket).min(self.max_us))
    }
}

/// What one loop counted, or all of them.
#[derive(Default)]
pub struct Counts {
    /// Connections that were answered.
    answered: u64,
    failures: BTreeMap<&'static str, u64>,
    connect: Histogram,
}

impl Counts {
    pub fn answered(&mut self, connect: Duration) {
        self.answered += 1;
        self.connect.add(connect);
    }

    pub fn failed(&mut self, cause: &'static str) {
        *self.failures.entry(cause).or_default() += 1;
    }

    pub fn merge(&mut self, other: &Counts) {
        self.answered += other.answered;
        for (cause, count) in &other.failures {
            *self.failures.entry(cause).or_default() += count;
        }
        self.connect.merge(&other.connect);
    }

    pub fn json(&self) -> Value {
        let at = |share| self.connect.quantile(share);
        json!({
            "answered": self.answered,
            "failures": self.failures,
            "connect_us": {
                "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p999": at(0.999),
                "max": at(1.0),
            },
        })
    }
}

/// Return the name of the reason for which a connection failed.
pub fn cause(error: &io::Error) -> &'static str {
    match (error.kind(), error.raw_os_error()) {
        (_, Some(libc::EMFILE | libc::ENFILE)) => "no file descriptor",
        (_, Some(libc::EADDRNOTAVAIL)) => "no local port",
        (io::ErrorKind::ConnectionRefused, _) => "refused",
        (io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe, _) => "reset",
        (io::ErrorKind::TimedOut, _) => "timeout",
        (io::ErrorKind::UnexpectedEof, _) => "closed by the server",
        (io::ErrorKind::InvalidData, _) => "wrong answer",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_at_most_a_bucket_above_the_value() {
        for us in (0..200).chain([1_000, 65_535, 65_536, 5_000_000, u64::MAX >> 4]) {
            let high = highest(bucket(us));
            assert!(us <= high && high <= us + us / STEPS as u64, "{us} {high}");
        }
    }

    #[test]
    fn buckets_follow_one_another() {
        let found: Vec<_> = (0..4_000).map(bucket).collect();
        assert!(found.windows(2).all(|two| two[1] - two[0] <= 1 && two[1] >= two[0]));
    }

    #[test]
    fn counts_of_two_loops_are_merged() {
        let (mut one, mut two) = (Counts::default(), Counts::default());
        one.answered(Duration::from_micros(10));
        one.failed("refused");
        two.answered(Duration::from_micros(30));
        two.failed("refused");
        one.merge(&two);
        let told = one.json();
        assert_eq!(told["answered"], 2);
        assert_eq!(told["failures"]["refused"], 2);
        assert_eq!(
            (&told["connect_us"]["p50"], &told["connect_us"]["max"]),
            (&json!(10), &json!(30))
        );
    }

    #[test]
    fn no_durations_have_no_quantile() {
        assert_eq!(Counts::default().json()["connect_us"]["p99"], Value::Null);
    }
}
