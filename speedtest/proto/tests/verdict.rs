// SPDX-License-Identifier: Apache-2.0
//! Evidence of a verdict is possible for any measurement and any report of a client.

use proptest::prelude::*;
use speedtest_proto::series::{Sample, Series, Summary};
use speedtest_proto::verdict::{judge, Evidence, Load, OtherLoad};

/// Return any value, often 0: kernels omit what they do not know.
fn figure(most: f64) -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 4 => 0.0..most]
}

/// Return a count that mostly is 0.
fn seldom() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(0), 1 => any::<u32>()]
}

prop_compose! {
    fn summary()(
        rtts in (figure(1e6), figure(1e6), figure(1e6)),
        windows in (figure(4e9), figure(1.0), figure(4e9), figure(1e7)),
        buffers in (figure(1e8), figure(1e8), figure(1e8)),
        moved in figure(2e10),
        unsent_share in 0.0..1.0,
        counts in (0..u32::MAX, seldom(), 0..u32::MAX, seldom()),
        tuned in any::<bool>(),
        times in (2e4..1e7, 0.0..1.2, 0.0..1.2, 0.0..1.2),
    ) -> Summary {
        Summary {
            mean_rtt_us: rtts.0,
            min_rtt_us: rtts.1.min(rtts.0),
            mean_rcv_rtt_us: rtts.2,
            max_snd_wnd_bytes: windows.0,
            mean_snd_wnd_bytes: windows.0 * windows.1,
            max_rcv_wnd_bytes: windows.2,
            mean_cwnd_bytes: windows.3,
            first_rcvbuf_bytes: buffers.0,
            last_rcvbuf_bytes: if tuned { buffers.1 } else { buffers.0 },
            last_sndbuf_bytes: buffers.2,
            mean_move_bytes: moved,
            unsent_share,
            segments_out: counts.0,
            retransmits: counts.1,
            segments_in: counts.2,
            out_of_order: counts.3,
            wall_us: times.0,
            busy_us: times.0 * times.1,
            rwnd_limited_us: times.0 * times.2,
            sndbuf_limited_us: times.0 * times.3,
            ..Summary::default()
        }
    }
}

prop_compose! {
    fn evidence()(
        server_sends in any::<bool>(),
        rate_bps in 1.0..1e11,
        load in (0.0..1.0, 0.0..1.0),
        others in (0.0..1.0, 0.0..1.0, 0.0..1.0),
        client_retransmits in proptest::option::of(any::<u64>()),
        client_cpu in proptest::option::of(figure(4.0)),
        loaded_rtt_us in proptest::option::of(figure(1e6)),
        streams in proptest::collection::vec(summary(), 1..4),
    ) -> Evidence {
        let other_load = OtherLoad {
            own_loop_share: others.0,
            loop_share: (1.0 - others.0) * others.1,
            bytes_share: others.2,
            ..OtherLoad::default()
        };
        Evidence {
            server_sends,
            rate_bps,
            bytes: rate_bps as u64,
            server_load: Load { running: load.0, waiting: load.1 * (1.0 - load.0) },
            other_load,
            client_retransmits,
            client_cpu,
            loaded_rtt_us,
            streams,
            ..Evidence::default()
        }
    }
}

/// Return the numbers of a sentence, amounts in bytes.
fn numbers(sentence: &str) -> Vec<f64> {
    let words: Vec<&str> = sentence.split([' ', ',', ';', '(', ')']).collect();
    let unit = |word: Option<&&str>| match word {
        Some(&"KiB") => 1024.0,
        Some(&"MiB") => 1024.0 * 1024.0,
        Some(&"GiB") => 1024.0 * 1024.0 * 1024.0,
        Some(&"TiB") => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => 1.0,
    };
    let read = |(at, word): (usize, &&str)| {
        word.parse::<f64>().ok().map(|number| number * unit(words.get(at + 1)))
    };
    words.iter().enumerate().filter_map(read).collect()
}

/// Return whether this sentence is possible. Rounding may add a little.
fn is_possible(sentence: &str) -> bool {
    let found = numbers(sentence);
    let said = |what: &str| sentence.contains(what);
    if said("NaN") || said("inf") {
        return false;
    }
    if said("of the time: ") {
        return found.len() == 4 && (found.iter().sum::<f64>() - 100.0).abs() <= 2.0;
    }
    if said("had to be sent again") {
        return found[0] <= found[1] && found[2] <= 100.0;
    }
    if said("of a window of") || said("the congestion window allows") {
        return found[0] <= found[1] * 1.05;
    }
    if said("offered a window") || said("round trip grew") {
        return found[0] <= found[1] * 1.05;
    }
    if said("arrived in each round trip") {
        return found[0] <= found[2] * 1.05;
    }
    if said("is full after") {
        return found[1] <= found[2] + 1.0;
    }
    if said("loop") {
        return found[0] + found[1] <= 101.0;
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn evidence_is_possible(evidence in evidence()) {
        let verdict = judge(&evidence);
        for sentence in &verdict.because {
            prop_assert!(is_possible(sentence), "{sentence:?} of {evidence:?}");
        }
    }
}

/// Reproduce a bug: a series whose reads were not counted had all bytes of the test in one read,
/// and the verdict reported "16532480.0 KiB of a window of 6208.0 KiB".
#[test]
fn bytes_whose_reads_were_not_counted_are_not_one_read() {
    let mut series = Series::default();
    for at in 0..10 {
        let bytes = at * 1_881_077_191;
        series.push(Sample { at_us: at * 1_000_000, bytes, ..Sample::default() });
    }
    assert_eq!(series.summary().mean_move_bytes, 0.0);
    series.moved(3000);
    series.moved(5000);
    assert_eq!(series.summary().mean_move_bytes, 4000.0);
}
