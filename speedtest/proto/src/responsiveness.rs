// SPDX-License-Identifier: Apache-2.0
//! Round trips per minute on a connection under load, and whether the result is stable.
//!
//! The method of draft-ietf-ippm-responsiveness without its sockets. Load is added every interval
//! until goodput is stable, then until responsiveness is. The caller moves bytes and times probes.
//! It pushes one [`Interval`] after another and gets back whether to continue.

use serde::Serialize;

/// Intervals of a moving average (MAD in the draft).
pub const WINDOW: usize = 4;
/// Most connections that load one direction (MNP).
pub const MOST_CONNECTIONS: usize = 16;
/// Results are stable within this tolerance around the latest (SDT).
const TOLERANCE: f64 = 0.05;
/// Share of the probes that counts, from the fastest on (TMP).
const KEPT: f64 = 0.95;
/// Most probes of each type per second: both types make the draft's 100 (MPS).
const MOST_PAIRS_PER_S: f64 = 50.0;
/// Share of the goodput that probes may take (PTC), and the cost of one pair of probes.
const PROBES_SHARE: f64 = 0.05;
const PAIR_BYTES: f64 = 6000.0;
const LEAST_PAIRS_PER_S: f64 = 2.0;
const MINUTE_MS: f64 = 60_000.0;

/// Times of probes, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Probes {
    /// Foreign probes, each on its own connection: TCP handshake, one round trip of the TLS
    /// handshake, request and answer.
    pub tcp_ms: Vec<f64>,
    pub tls_ms: Vec<f64>,
    pub http_ms: Vec<f64>,
    /// Request and answer on a connection that carries load.
    pub loaded_ms: Vec<f64>,
}

/// Events of one interval, about 1 s.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interval {
    pub seconds: f64,
    pub bytes: u64,
    /// Probes answered in the interval.
    pub probes: Probes,
}

/// The draft's confidence in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Too short for a whole moving average.
    Low,
    /// Not stable.
    Medium,
    High,
}

/// Decision whether the caller must continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Continue, with more load if possible.
    GoOn,
    Done,
}

/// Round trips per minute and their components. An idle measurement has no loaded component.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Responsiveness {
    pub rpm: f64,
    pub foreign_rpm: f64,
    pub loaded_rpm: Option<f64>,
    pub tcp_ms: f64,
    pub tls_ms: f64,
    pub http_ms: f64,
    pub loaded_ms: Option<f64>,
}

/// Return the mean without the slowest 5 % (single-sided trimmed mean). None without values.
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.truncate((sorted.len() as f64 * KEPT).ceil() as usize);
    (!sorted.is_empty()).then(|| sorted.iter().sum::<f64>() / sorted.len() as f64)
}

/// Aggregate the probes of several intervals as in the draft. None: one type has no probe.
pub fn responsiveness<'a>(
    probes: impl Iterator<Item = &'a Probes> + Clone,
) -> Option<Responsiveness> {
    let mean = |of: fn(&Probes) -> &Vec<f64>| {
        let all: Vec<f64> = probes.clone().flat_map(of).copied().collect();
        trimmed_mean(&all)
    };
    let loaded_ms = mean(|probes| &probes.loaded_ms);
    foreign(mean).map(|idle| match loaded_ms {
        None => idle,
        Some(loaded_ms) => {
            let loaded_rpm = MINUTE_MS / loaded_ms;
            Responsiveness {
                rpm: (idle.foreign_rpm + loaded_rpm) / 2.0,
                loaded_rpm: Some(loaded_rpm),
                loaded_ms: Some(loaded_ms),
                ..idle
            }
        }
    })
}

fn foreign(mean: impl Fn(fn(&Probes) -> &Vec<f64>) -> Option<f64>) -> Option<Responsiveness> {
    let tcp_ms = mean(|probes| &probes.tcp_ms)?;
    let tls_ms = mean(|probes| &probes.tls_ms)?;
    let http_ms = mean(|probes| &probes.http_ms)?;
    let foreign_rpm = MINUTE_MS / ((tcp_ms + tls_ms + http_ms) / 3.0);
    Some(Responsiveness {
        rpm: foreign_rpm,
        foreign_rpm,
        loaded_rpm: None,
        tcp_ms,
        tls_ms,
        http_ms,
        loaded_ms: None,
    })
}

/// Return the pairs of probes per second at this goodput; few while it is not known.
pub fn pairs_per_s(goodput_bps: f64) -> f64 {
    let most = goodput_bps / 8.0 * PROBES_SHARE / PAIR_BYTES;
    most.clamp(LEAST_PAIRS_PER_S, MOST_PAIRS_PER_S)
}

/// Return whether the latest results are within the tolerance of the last one. None: too few.
fn stable(figures: &[f64]) -> Option<bool> {
    let latest = figures.last_chunk::<WINDOW>()?;
    let mean = latest.iter().sum::<f64>() / WINDOW as f64;
    let variance = latest.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / WINDOW as f64;
    Some(variance.sqrt() <= TOLERANCE * latest[WINDOW - 1])
}

/// State of the measurement of one direction.
#[derive(Debug)]
pub struct Meter {
    /// Intervals in this stage; goodput and responsiveness each get at most this many to become
    /// stable.
    stage: usize,
    intervals: Vec<Interval>,
    goodput_bps: Vec<f64>,
    goodput: Confidence,
    /// Interval from which responsiveness counts.
    saturated_at: Option<usize>,
    rpm: Vec<f64>,
    responsiveness: Confidence,
}

impl Meter {
    /// Make a measurement of at most `intervals`.
    pub fn new(intervals: usize) -> Meter {
        Meter {
            stage: (intervals / 2).max(1),
            intervals: Vec::new(),
            goodput_bps: Vec::new(),
            goodput: Confidence::Low,
            saturated_at: None,
            rpm: Vec::new(),
            responsiveness: Confidence::Low,
        }
    }

    fn window(&self) -> &[Interval] {
        &self.intervals[self.intervals.len().saturating_sub(WINDOW)..]
    }

    /// Return the goodput of the latest intervals.
    pub fn goodput_bps(&self) -> f64 {
        let (bytes, seconds) = self
            .window()
            .iter()
            .fold((0, 0.0), |(bytes, seconds), one| (bytes + one.bytes, seconds + one.seconds));
        bytes as f64 * 8.0 / f64::max(seconds, 1e-6)
    }

    /// Return the responsiveness of the latest intervals.
    pub fn responsiveness(&self) -> Option<Responsiveness> {
        responsiveness(self.window().iter().map(|one| &one.probes))
            .filter(|found| found.loaded_rpm.is_some())
    }

    pub fn push(&mut self, interval: Interval) -> Decision {
        self.intervals.push(interval);
        self.goodput_bps.push(self.goodput_bps());
        match self.saturated_at {
            None => self.watch_goodput(),
            Some(begin) => self.watch_responsiveness(begin),
        }
    }

    fn watch_goodput(&mut self) -> Decision {
        // The first averages have fewer intervals than they should.
        self.goodput = match self.goodput_bps.get(WINDOW - 1..).and_then(stable) {
            None if self.intervals.len() < WINDOW => Confidence::Low,
            Some(true) => Confidence::High,
            _ => Confidence::Medium,
        };
        if self.goodput == Confidence::High || self.intervals.len() == self.stage {
            self.saturated_at = Some(self.intervals.len());
        }
        Decision::GoOn
    }

    fn watch_responsiveness(&mut self, begin: usize) -> Decision {
        if let Some(found) = self.responsiveness() {
            self.rpm.push(found.rpm);
        }
        self.responsiveness = match stable(&self.rpm) {
            None => Confidence::Low,
            Some(false) => Confidence::Medium,
            Some(true) => Confidence::High,
        };
        let over = self.intervals.len() - begin >= self.stage;
        if over || self.responsiveness == Confidence::High {
            Decision::Done
        } else {
            Decision::GoOn
        }
    }

    /// Return the confidence in goodput and in responsiveness.
    pub fn confidence(&self) -> (Confidence, Confidence) {
        (self.goodput, self.responsiveness)
    }

    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }
}
