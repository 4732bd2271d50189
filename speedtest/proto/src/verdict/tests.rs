// SPDX-License-Identifier: Apache-2.0
use super::*;

fn stream() -> Summary {
    Summary {
        wall_us: 10e6,
        mean_rtt_us: 100.0,
        min_rtt_us: 80.0,
        segments_out: 863_000,
        segments_in: 863_000,
        mean_snd_wnd_bytes: 3e6,
        max_snd_wnd_bytes: 3e6,
        max_rcv_wnd_bytes: 60e6,
        ..Summary::default()
    }
}

fn evidence(server_sends: bool, stream: Summary) -> Evidence {
    Evidence {
        server_sends,
        rate_bps: 1e9,
        bytes: 1_250_000_000,
        streams: vec![stream],
        ..Evidence::default()
    }
}

fn limiter(evidence: &Evidence) -> Limiter {
    judge(evidence).limited_by
}

#[test]
fn a_sender_is_judged_by_where_its_time_went() {
    let busy = Summary { busy_us: 9.9e6, ..stream() };
    let cases = [
        (Summary { rwnd_limited_us: 9e6, ..busy }, Limiter::ReceiveWindow),
        (Summary { rwnd_limited_us: 9e6, mean_snd_wnd_bytes: 1e4, ..busy }, Limiter::Client),
        (Summary { sndbuf_limited_us: 9e6, ..busy }, Limiter::SendBuffer),
        (Summary { retransmits: 5000, ..busy }, Limiter::Path),
        (Summary { mean_rtt_us: 40e3, min_rtt_us: 10e3, ..busy }, Limiter::Path),
        (busy, Limiter::Path),
        (Summary { busy_us: 1e6, ..stream() }, Limiter::Client),
    ];
    for (stream, expected) in cases {
        assert_eq!(limiter(&evidence(true, stream)), expected, "{stream:?}");
    }
}

#[test]
fn a_window_that_never_grew_is_small_even_if_a_segment_waits_in_it() {
    let busy = Summary { busy_us: 9.9e6, rwnd_limited_us: 9e6, ..stream() };
    // SO_RCVBUF of 16 KiB offers 27 KiB; a slow reader's window has been megabytes before it closed.
    let small = Summary { mean_snd_wnd_bytes: 13e3, max_snd_wnd_bytes: 27e3, ..busy };
    assert_eq!(limiter(&evidence(true, small)), Limiter::ReceiveWindow);
    let unread = Summary { mean_snd_wnd_bytes: 5e3, ..small };
    assert_eq!(limiter(&evidence(true, unread)), Limiter::Client);
    let closed = Summary { mean_snd_wnd_bytes: 1.3e6, max_snd_wnd_bytes: 2.7e6, ..busy };
    assert_eq!(limiter(&evidence(true, closed)), Limiter::Client);
}

#[test]
fn a_full_core_explains_missing_data_but_not_loss() {
    let full = Load { running: 0.5, waiting: 0.45 };
    let idle =
        Evidence { server_load: full, ..evidence(true, Summary { busy_us: 1e6, ..stream() }) };
    assert_eq!(limiter(&idle), Limiter::ServerCpu);
    let lossy = Summary { busy_us: 9.9e6, retransmits: 5000, ..stream() };
    let lossy = Evidence { server_load: full, ..evidence(true, lossy) };
    assert_eq!(limiter(&lossy), Limiter::Path);
    let receiving = Evidence { server_load: full, ..evidence(false, stream()) };
    assert_eq!(limiter(&receiving), Limiter::ServerCpu);
}

#[test]
fn a_core_kept_busy_by_a_small_window_is_not_the_limit_unless_others_want_it_too() {
    let dry = Summary { busy_us: 1e6, ..stream() };
    let small = Summary { mean_snd_wnd_bytes: 13e3, max_snd_wnd_bytes: 27e3, ..dry };
    let running = Load { running: 0.86, waiting: 0.02 };
    let shared = Load { running: 0.5, waiting: 0.4 };
    for (stream, server_load, expected) in [
        (small, running, Limiter::ReceiveWindow),
        (small, shared, Limiter::ServerCpu),
        (dry, running, Limiter::ServerCpu),
        // Observed through veth: the window of 27 KiB was full or on its way all the time.
        (
            Summary { busy_us: 9.9e6, rwnd_limited_us: 3.6e6, ..small },
            running,
            Limiter::ReceiveWindow,
        ),
    ] {
        let evidence = Evidence { server_load, ..evidence(true, stream) };
        assert_eq!(limiter(&evidence), expected, "{stream:?} {server_load:?}");
    }
}

#[test]
fn a_receiver_rules_out_one_cause_after_the_other() {
    let lossy = Evidence { client_retransmits: Some(5000), ..evidence(false, stream()) };
    assert_eq!(limiter(&lossy), Limiter::Path);
    let queued = Summary { mean_rtt_us: 10e3, mean_rcv_rtt_us: 60e3, ..stream() };
    let queued = Evidence { loaded_rtt_us: Some(50e3), ..evidence(false, queued) };
    assert_eq!(limiter(&queued), Limiter::Path);
    let paused = Evidence { loaded_rtt_us: Some(10e3), ..queued };
    assert_eq!(limiter(&paused), Limiter::Client);
    let small = Summary { max_rcv_wnd_bytes: 14_000.0, ..stream() };
    assert_eq!(limiter(&evidence(false, small)), Limiter::ReceiveWindow);
    let busy_client = Evidence { client_cpu: Some(0.99), ..evidence(false, stream()) };
    assert!(judge(&busy_client).because[0].contains("99 %"));
    assert_eq!(limiter(&evidence(false, stream())), Limiter::Client);
}

#[test]
fn a_queue_that_runs_dry_between_wake_ups_is_blamed_on_what_is_narrowest() {
    // Observed on a veth pair: round trips of 30 µs, half of the time nothing in flight.
    let dry = Summary { busy_us: 4.5e6, mean_cwnd_bytes: 60e3, ..stream() };
    let small_buffer = Summary { last_sndbuf_bytes: 32_768.0, ..dry };
    assert_eq!(limiter(&evidence(true, small_buffer)), Limiter::SendBuffer);
    let in_flight = Summary { busy_us: 9.9e6, ..small_buffer };
    assert_eq!(limiter(&evidence(true, in_flight)), Limiter::SendBuffer);
    let roomy = Summary { last_sndbuf_bytes: 4e6, ..dry };
    let small_window = Summary { mean_snd_wnd_bytes: 20e3, max_snd_wnd_bytes: 24e3, ..roomy };
    assert_eq!(limiter(&evidence(true, small_window)), Limiter::ReceiveWindow);
    let closed = Summary { max_snd_wnd_bytes: 200e3, ..small_window };
    assert_eq!(limiter(&evidence(true, closed)), Limiter::Client);
    assert_eq!(limiter(&evidence(true, roomy)), Limiter::Client);
    let full = Load { running: 0.1, waiting: 0.85 };
    let starved = Evidence { server_load: full, ..evidence(true, small_buffer) };
    assert_eq!(limiter(&starved), Limiter::ServerCpu);
}

#[test]
fn loss_that_would_allow_a_much_higher_rate_is_not_what_limits() {
    let few = Summary { busy_us: 9.9e6, retransmits: 600, mean_rtt_us: 30.0, ..stream() };
    let full = Load { running: 0.3, waiting: 0.6 };
    let busy = Evidence { server_load: full, ..evidence(true, few) };
    assert_eq!(limiter(&busy), Limiter::ServerCpu);
    let far = Summary { mean_rtt_us: 600.0, ..few };
    let busy = Evidence { server_load: full, ..evidence(true, far) };
    assert_eq!(limiter(&busy), Limiter::Path);
}

#[test]
fn a_window_is_full_sooner_when_the_kernel_may_not_enlarge_it() {
    let fixed = Summary {
        max_rcv_wnd_bytes: 60e3,
        first_rcvbuf_bytes: 9e4,
        last_rcvbuf_bytes: 9e4,
        ..stream()
    };
    assert_eq!(limiter(&evidence(false, fixed)), Limiter::ReceiveWindow);
    let waiting = Summary { mean_move_bytes: 31e3, mean_rtt_us: 20.0, ..fixed };
    assert_eq!(limiter(&evidence(false, waiting)), Limiter::ReceiveWindow);
    let read_early = Summary { mean_move_bytes: 20e3, ..waiting };
    assert_eq!(limiter(&evidence(false, read_early)), Limiter::Client);
    let grown = Summary { last_rcvbuf_bytes: 6e6, ..fixed };
    assert_eq!(limiter(&evidence(false, grown)), Limiter::Client);
}

#[test]
fn a_limit_that_was_reached_is_the_answer_whatever_else_is_seen() {
    let lossy = Summary { busy_us: 9.9e6, retransmits: 5000, ..stream() };
    let at_limit = Evidence { policy_bps: Some(1.02e9), ..evidence(true, lossy) };
    assert_eq!(limiter(&at_limit), Limiter::Policy);
    let far_below = Evidence { policy_bps: Some(5e9), ..at_limit };
    assert_eq!(limiter(&far_below), Limiter::Path);
    let held_seldom = Evidence { held_back: 0.4, ..far_below };
    assert_eq!(limiter(&held_seldom), Limiter::Path);
    let held_mostly = Evidence { held_back: 0.6, ..held_seldom };
    let judged = judge(&held_mostly);
    assert_eq!(judged.limited_by, Limiter::Policy);
    assert!(judged.because[1].contains("60 % of the time"), "{:?}", judged.because);
    let no_limit = Evidence { policy_bps: None, ..held_mostly };
    assert_eq!(limiter(&no_limit), Limiter::Path);
}

#[test]
fn nothing_transferred_says_nothing() {
    assert_eq!(limiter(&Evidence::default()), Limiter::Unknown);
}
