// SPDX-License-Identifier: Apache-2.0
//! Responsiveness: its results, their stability, and the end of a measurement.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use speedtest_proto::responsiveness::{
    pairs_per_s, responsiveness, trimmed_mean, Confidence, Decision, Interval, Meter, Probes,
    WINDOW,
};

fn probes(ms: f64) -> Probes {
    let some = vec![ms; 20];
    Probes { tcp_ms: some.clone(), tls_ms: some.clone(), http_ms: some.clone(), loaded_ms: some }
}

fn interval(bytes: u64, ms: f64) -> Interval {
    Interval { seconds: 1.0, bytes, probes: probes(ms) }
}

/// Push intervals until the meter is done; return their number.
fn run(meter: &mut Meter, mut next: impl FnMut(usize) -> Interval) -> usize {
    (0..).find(|at| meter.push(next(*at)) == Decision::Done).unwrap() + 1
}

#[test]
fn the_drafts_formula() {
    let times = Probes {
        tcp_ms: vec![10.0],
        tls_ms: vec![20.0],
        http_ms: vec![30.0],
        loaded_ms: vec![100.0],
    };
    let found = responsiveness([&times].into_iter()).unwrap();
    assert_eq!((found.foreign_rpm, found.loaded_rpm), (3000.0, Some(600.0)));
    assert_eq!(found.rpm, 1800.0);
    let idle = Probes { loaded_ms: Vec::new(), ..times.clone() };
    assert_eq!(responsiveness([&idle].into_iter()).unwrap().rpm, 3000.0);
    let no_handshake = Probes { tls_ms: Vec::new(), ..times };
    assert_eq!(responsiveness([&no_handshake].into_iter()), None);
}

#[test]
fn the_slowest_twentieth_does_not_count() {
    let mut times = vec![1.0; 19];
    times.push(1000.0);
    assert_eq!(trimmed_mean(&times), Some(1.0));
    times.push(1000.0);
    assert!(trimmed_mean(&times).unwrap() > 1.0);
    assert_eq!(trimmed_mean(&[]), None);
}

#[test]
fn a_steady_path_is_measured_with_high_confidence_and_no_longer_than_needed() {
    let mut meter = Meter::new(40);
    // Four averages of four intervals each, then as many responsivenesses.
    assert_eq!(run(&mut meter, |_| interval(1_000_000, 20.0)), 2 * WINDOW - 1 + WINDOW);
    assert_eq!(meter.confidence(), (Confidence::High, Confidence::High));
    assert_eq!(meter.goodput_bps(), 8e6);
    assert_eq!(meter.responsiveness().unwrap().rpm.round(), 3000.0);
}

#[test]
fn an_unstable_rate_ends_with_low_confidence_at_its_time_limit() {
    let mut meter = Meter::new(30);
    assert_eq!(run(&mut meter, |at| interval(1000 << at, (at * at) as f64 + 1.0)), 30);
    assert_eq!(meter.confidence(), (Confidence::Medium, Confidence::Medium));
    let mut short = Meter::new(4);
    assert_eq!(run(&mut short, |_| interval(1000, 5.0)), 4);
    assert_eq!(short.confidence(), (Confidence::Low, Confidence::Low));
}

#[test]
fn the_result_is_that_of_the_latest_intervals() {
    let mut meter = Meter::new(40);
    let ramp = |at: usize| if at < 3 { interval(1000, 500.0) } else { interval(1_000_000, 10.0) };
    run(&mut meter, ramp);
    assert_eq!(meter.goodput_bps(), 8e6);
    assert_eq!(meter.responsiveness().unwrap().rpm.round(), 6000.0);
}

#[test]
fn without_answers_there_is_no_responsiveness() {
    let mut meter = Meter::new(8);
    let silent = Interval { seconds: 1.0, bytes: 1000, probes: Probes::default() };
    assert_eq!(run(&mut meter, |_| silent.clone()), 8);
    assert_eq!(meter.responsiveness(), None);
    assert_eq!(meter.confidence().1, Confidence::Low);
}

#[test]
fn probes_leave_a_slow_path_to_the_load() {
    assert_eq!(pairs_per_s(10e9), 50.0);
    // 5 % of 5 Mbit/s are 31250 bytes, five pairs and a bit.
    assert_eq!(pairs_per_s(5e6).floor(), 5.0);
    assert_eq!(pairs_per_s(0.0), 2.0);
}

proptest! {
    #[test]
    fn a_trimmed_mean_lies_between_the_least_and_the_mean(
        times in prop::collection::vec(0.001_f64..1e5, 1..200)
    ) {
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let trimmed = trimmed_mean(&times).unwrap();
        prop_assert!(least <= trimmed * (1.0 + 1e-9) && trimmed <= mean * (1.0 + 1e-9));
    }

    #[test]
    fn slower_probes_never_make_a_path_more_responsive(
        times in prop::collection::vec(0.001_f64..1e4, 1..100), slower in 1.0_f64..10.0
    ) {
        let of = |factor: f64| {
            let all: Vec<f64> = times.iter().map(|time| time * factor).collect();
            let probes = Probes {
                tcp_ms: all.clone(), tls_ms: all.clone(), http_ms: all.clone(), loaded_ms: all,
            };
            responsiveness([&probes].into_iter()).unwrap().rpm
        };
        prop_assert!(of(slower) <= of(1.0) * (1.0 + 1e-9));
    }

    #[test]
    fn every_measurement_ends_within_its_intervals(
        most in 1_usize..60,
        bytes in prop::collection::vec(0_u64..1 << 40, 1..60),
        times in prop::collection::vec(0.0_f64..1e5, 1..60),
    ) {
        let mut meter = Meter::new(most);
        let took = run(&mut meter, |at| {
            let ms = times[at % times.len()];
            let probes = if ms < 1.0 { Probes::default() } else { probes(ms) };
            Interval { seconds: 1.0, bytes: bytes[at % bytes.len()], probes }
        });
        prop_assert!(took <= most.max(2));
    }
}
