// SPDX-License-Identifier: Apache-2.0
//! The server's control connection: the whole conversation, any split of it, and bad input.

use proptest::prelude::*;
use speedtest_proto::iperf3::{
    stream_ids, Cookie, Direction, End, ErrorCode, Event, Params, ProtocolError, Results, Server,
    State, Transport,
};

const COOKIE: &[u8; 37] = b"fomyablw4eum4vqjs7g2biphuw45rzr4rjo3\0";
/// Parameters of iperf3 3.12 (`-O 1 -t 1 -b 1M --bidir --get-server-output`).
const PARAMS: &str = r#"{"tcp":true,"omit":1,"time":1,"num":0,"blockcount":0,"parallel":1,
"bidirectional":true,"len":131072,"bandwidth":1000000,"pacing_timer":1000,"get_server_output":1,
"client_version":"3.12"}"#;
const RESULTS: &str = r#"{"cpu_util_total":4.14,"cpu_util_user":0.14,"cpu_util_system":3.99,
"sender_has_retransmits":18446744073709551615,"congestion_used":"bbr","streams":[{"id":1,"bytes":131072,
"retransmits":0,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.000028},{"id":3,
"bytes":131072,"retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":0,
"start_time":0,"end_time":1.000057}]}"#;

fn framed(json: &str) -> Vec<u8> {
    let mut bytes = (json.len() as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(json.as_bytes());
    bytes
}

fn conversation() -> Vec<u8> {
    let mut bytes = COOKIE.to_vec();
    bytes.extend(framed(PARAMS));
    bytes.push(State::TestEnd.to_wire());
    bytes.extend(framed(RESULTS));
    bytes.push(State::IperfDone.to_wire());
    bytes
}

/// Run a server that accepts everything; read in pieces of the given sizes.
fn play(bytes: &[u8], pieces: &[usize]) -> (Vec<Event>, Vec<u8>, Option<ProtocolError>) {
    let (mut server, mut events, mut sent) = (Server::new(), Vec::new(), Vec::new());
    let mut pieces = pieces.iter().copied().cycle();
    let mut rest = bytes;
    while !rest.is_empty() && server.wants() > 0 {
        let size = pieces.next().unwrap_or(1).clamp(1, server.wants()).min(rest.len());
        let (now, later) = rest.split_at(size);
        rest = later;
        match server.receive(now) {
            Err(error) => return (events, sent, Some(error)),
            Ok(None) => {}
            Ok(Some(event)) => {
                match &event {
                    Event::Cookie(_) => server.admit(),
                    Event::Params(_) => {
                        server.create_streams();
                        server.start();
                    }
                    Event::TestEnd => server.exchange_results(),
                    Event::Results(results) => server.send_results(results),
                    Event::Done | Event::Terminated => {}
                }
                events.push(event);
            }
        }
        sent.extend_from_slice(server.output());
        server.sent(server.output().len());
    }
    (events, sent, None)
}

#[test]
fn a_whole_test_as_iperf3_speaks_it() {
    let (events, sent, error) = play(&conversation(), &[4096]);
    assert_eq!(error, None);
    assert_eq!(events[0], Event::Cookie(Cookie::from_wire(*COOKIE)));
    let Event::Params(params) = &events[1] else { panic!("{events:?}") };
    assert_eq!(params.direction, Direction::Bidirectional);
    assert_eq!((params.end, params.omit_s, params.rate_bps), (End::Seconds(1), 1, Some(1_000_000)));
    assert_eq!((params.transport, params.total_streams()), (Transport::Tcp, 2));
    assert!(!params.server_sends(0) && params.server_sends(1));
    assert_eq!(events[2], Event::TestEnd);
    let Event::Results(results) = &events[3] else { panic!("{events:?}") };
    assert_eq!((results.sender_has_retransmits, results.streams[1].retransmits), (-1, -1));
    assert_eq!(events[4], Event::Done);
    assert_eq!(sent[..5], [9, 10, 1, 2, 13]);
    let length = u32::from_be_bytes(sent[5..9].try_into().unwrap()) as usize;
    assert_eq!(Results::parse(&sent[9..9 + length]).unwrap(), **results);
    assert_eq!(sent[9 + length..], [14]);
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_events(
        pieces in prop::collection::vec(1_usize..64, 1..40)
    ) {
        prop_assert_eq!(play(&conversation(), &pieces), play(&conversation(), &[4096]));
    }

    #[test]
    fn garbage_never_panics_and_never_makes_the_server_want_much(
        garbage in prop::collection::vec(any::<u8>(), 0..512),
        valid in 0_usize..700,
    ) {
        let mut bytes = conversation();
        bytes.truncate(valid);
        bytes.extend(garbage);
        let (events, _, _) = play(&bytes, &[7, 1, 64]);
        prop_assert!(events.len() <= 5);
    }

    #[test]
    fn parameters_survive_the_wire(
        streams in 1_u32..=128, block in 1_u32..=(1 << 20), rate in proptest::option::of(1_u64..1 << 40),
        bytes in 1_u64..1 << 50, window in proptest::option::of(1_u32..1 << 29),
    ) {
        let params = Params {
            streams, block_bytes: block, rate_bps: rate, end: End::Bytes(bytes),
            window_bytes: window, direction: Direction::Reverse, ..Params::default()
        };
        prop_assert_eq!(Params::parse(&params.to_json()).unwrap(), params);
    }
}

#[test]
fn an_oversized_announcement_is_refused_before_it_is_read() {
    let mut bytes = COOKIE.to_vec();
    bytes.extend(u32::MAX.to_be_bytes());
    let (_, _, error) = play(&bytes, &[64]);
    assert_eq!(error, Some(ProtocolError::TooLong { got: u32::MAX, most: 8192 }));
}

#[test]
fn parameters_out_of_range_name_the_key_the_value_and_the_range() {
    let cases = [
        (
            r#"{"tcp":true,"parallel":129,"client_version":"x"}"#,
            "parallel is 129; allowed are 1 to 128",
        ),
        (r#"{"tcp":true,"len":2000000}"#, "len is 2000000"),
        (r#"{"udp":true,"len":8}"#, "len is 8; allowed are 16 to"),
        (r#"{"tcp":true,"reverse":true,"bidirectional":true}"#, "reverse and bidirectional"),
        (r#"{"sctp":true}"#, "sctp"),
        (r#"{"parallel":-1}"#, "-1"),
        ("[]", "parameters"),
    ];
    for (json, words) in cases {
        let error = Params::parse(json.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(words), "{json}: {error}");
    }
}

#[test]
fn wrong_states_end_the_conversation() {
    let mut bytes = COOKIE.to_vec();
    bytes.extend(framed(PARAMS));
    bytes.push(99);
    let (_, _, error) = play(&bytes, &[64]);
    assert_eq!(error, Some(ProtocolError::UnexpectedState { byte: 99, expected: "TEST_END" }));
    bytes.pop();
    bytes.push(State::ClientTerminate.to_wire());
    let (events, _, _) = play(&bytes, &[64]);
    assert_eq!(events.last(), Some(&Event::Terminated));
}

#[test]
fn refusals_speak_the_clients_language() {
    let mut server = Server::new();
    server.receive(COOKIE).unwrap();
    server.refuse();
    assert_eq!((server.output(), server.wants()), (&[0xff][..], 0));
    let mut server = Server::new();
    server.fail(ErrorCode::Authentication);
    assert_eq!(server.output(), [0xfe, 0, 0, 0, 142, 0, 0, 0, 0]);
}

#[test]
fn streams_are_numbered_as_iperf3_does() {
    assert_eq!(stream_ids().take(5).collect::<Vec<_>>(), [1, 3, 4, 5, 6]);
}
