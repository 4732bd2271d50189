// SPDX-License-Identifier: Apache-2.0
//! How many round trips a minute does a connection allow while it is busy, and is that figure stable?
//!
//! The method of draft-ietf-ippm-responsiveness without its sockets: load is added every interval, until
//! goodput is stable, then until responsiveness is. The caller moves bytes and times probes; it pushes
//! one [`Interval`] after the other and gets back whether to go on.

use serde::Serialize;

/// Intervals that a moving average looks back on (the draft's MAD).
pub const WINDOW: usize = 4;
/// Connections that may load one direction (MNP).
pub const MOST_CONNECTIONS: usize = 16;
/// Figures are stable when they vary by no more than this around the latest (SDT).
const TOLERANCE: f64 = 0.05;
/// Part of the probes that counts, from the fastest on (TMP).
const KEPT: f64 = 0.95;
/// Probes of each kind in a second: both together are the draft's 100 (MPS).
const MOST_PAIRS_PER_S: f64 = 50.0;
/// Part of the goodput that probes may take (PTC), and what one of each kind together costs.
const PROBES_SHARE: f64 = 0.05;
const PAIR_BYTES: f64 = 6000.0;
const LEAST_PAIRS_PER_S: f64 = 2.0;
const MINUTE_MS: f64 = 60_000.0;

/// Times of probes in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Probes {
    /// Foreign probes, each on a connection of its own: TCP handshake, one round trip of the TLS
    /// handshake, request and answer.
    pub tcp_ms: Vec<f64>,
    pub tls_ms: Vec<f64>,
    pub http_ms: Vec<f64>,
    /// Request and answer on a connection that carries load.
    pub loaded_ms: Vec<f64>,
}

/// Everything that happened in about a second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interval {
    pub seconds: f64,
    pub bytes: u64,
    /// Those that were answered in it.
    pub probes: Probes,
}

/// The draft's confidence in a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Too short for a whole moving average.
    Low,
    /// Not stable.
    Medium,
    High,
}

/// Whether the caller must go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// With more load, where there may be more.
    GoOn,
    Done,
}

/// Round trips a minute, and what they are made of. The loaded part is missing in an idle measurement.
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

/// The mean without the slowest twentieth (single-sided trimmed mean). None of nothing.
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.truncate((sorted.len() as f64 * KEPT).ceil() as usize);
    (!sorted.is_empty()).then(|| sorted.iter().sum::<f64>() / sorted.len() as f64)
}

/// The draft's aggregation of the probes of several intervals. None: of some kind there is none.
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

/// Pairs of probes for each second at this goodput; few while it is not known.
pub fn pairs_per_s(goodput_bps: f64) -> f64 {
    let most = goodput_bps / 8.0 * PROBES_SHARE / PAIR_BYTES;
    most.clamp(LEAST_PAIRS_PER_S, MOST_PAIRS_PER_S)
}

/// Are the latest figures within the tolerance of the last one? None: there are too few.
fn stable(figures: &[f64]) -> Option<bool> {
    let latest = figures.last_chunk::<WINDOW>()?;
    let mean = latest.iter().sum::<f64>() / WINDOW as f64;
    let variance = latest.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / WINDOW as f64;
    Some(variance.sqrt() <= TOLERANCE * latest[WINDOW - 1])
}

/// A direction while it is measured.
#[derive(Debug)]
pub struct Meter {
    /// Goodput gets at most this many intervals to become stable, and so does responsiveness.
    stage: usize,
    intervals: Vec<Interval>,
    goodput_bps: Vec<f64>,
    goodput: Confidence,
    /// The interval from which responsiveness counts.
    saturated_at: Option<usize>,
    rpm: Vec<f64>,
    responsiveness: Confidence,
}

impl Meter {
    /// A measurement that takes at most `intervals`.
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

    /// Goodput of the latest intervals.
    pub fn goodput_bps(&self) -> f64 {
        let (bytes, seconds) = self
            .window()
            .iter()
            .fold((0, 0.0), |(bytes, seconds), one| (bytes + one.bytes, seconds + one.seconds));
        bytes as f64 * 8.0 / f64::max(seconds, 1e-6)
    }

    /// Responsiveness of the latest intervals.
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
        // The first averages are those of fewer intervals than they should be.
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

    /// How sure are goodput and responsiveness?
    pub fn confidence(&self) -> (Confidence, Confidence) {
        (self.goodput, self.responsiveness)
    }

    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }
}
