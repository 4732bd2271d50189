// SPDX-License-Identifier: Apache-2.0
//! Both ends of iperf3's control connection, its JSON and its datagrams.

use speedtest_proto::iperf3::udp::{is_connect, Arrivals, Header, HEADER_BYTES};
use speedtest_proto::iperf3::{
    Client, Cookie, ErrorCode, Event, Params, ProtocolError, Reply, Results, Server,
    MAX_BLOCK_BYTES, MAX_STREAMS,
};

use crate::Script;

/// Most bytes that a server may want from a peer at once, or keep of it.
const MOST_OF_A_CLIENT: usize = (64 << 10) + 4;
const MOST_OF_A_SERVER: usize = (4 << 20) + 4;

type Outcome<T> = (Vec<T>, Vec<u8>, Option<ProtocolError>);

/// Check that any split of the bytes gives the same events, output and error, and that wants stay
/// bounded.
pub fn iperf3_server(data: &[u8]) {
    let Some(script) = Script::of(data) else { return };
    let pieces = serve(script);
    assert_eq!(pieces, serve(script.whole()), "the split of the bytes made a difference");
    assert!(pieces.0.len() <= 5, "more events than a conversation has");
}

fn serve(script: Script<'_>) -> Outcome<Event> {
    let mut server = Server::new();
    let (mut events, mut sent, mut fault) = (Vec::new(), Vec::new(), None);
    script.feed(server.wants(), |piece| {
        match server.receive(piece) {
            Ok(None) => {}
            Ok(Some(event)) => {
                answer(&mut server, &event, script);
                events.push(event);
            }
            Err(error) => {
                fault = Some(error);
                assert_eq!(server.wants(), 0, "wants more after an error");
                server.fail(ErrorCode::Message);
            }
        }
        sent.extend_from_slice(server.output());
        server.sent(server.output().len());
        assert!(server.wants() <= MOST_OF_A_CLIENT, "wants {} bytes", server.wants());
        server.wants()
    });
    (events, sent, fault)
}

/// Decide for this side; the script's four decisions are the ways to refuse.
fn answer(server: &mut Server, event: &Event, script: Script<'_>) {
    match event {
        Event::Cookie(_) if script.decided(0) => server.refuse(),
        Event::Cookie(_) => server.admit(),
        Event::Params(_) if script.decided(1) => server.fail(ErrorCode::Authentication),
        Event::Params(params) => {
            check(params);
            server.create_streams();
            if !script.decided(2) {
                server.start();
            }
        }
        Event::TestEnd if script.decided(3) => server.terminate(),
        Event::TestEnd => server.exchange_results(),
        Event::Results(results) => server.send_results(results),
        Event::Done | Event::Terminated => {}
    }
}

/// Check the invariants that the server's loops rely on.
fn check(params: &Params) {
    assert!((1..=MAX_STREAMS).contains(&params.streams));
    assert!((1..=MAX_BLOCK_BYTES).contains(&params.block_bytes));
    assert!(params.total_streams() <= 2 * MAX_STREAMS);
    assert!(params.window_bytes != Some(0) && params.rate_bps != Some(0));
    let again = Params::parse(&params.to_json());
    assert_eq!(again.as_ref(), Ok(params), "parameters do not survive the wire");
}

/// Check the same with a client that tests until it is asked to stop.
pub fn iperf3_client(data: &[u8]) {
    let Some(script) = Script::of(data) else { return };
    assert_eq!(test(script), test(script.whole()), "the split of the bytes made a difference");
}

fn test(script: Script<'_>) -> Outcome<Reply> {
    let mut client = Client::new(&Cookie::from_random(&[7; 36]), Params::default());
    let (mut replies, mut sent, mut fault) = (Vec::new(), Vec::new(), None);
    script.feed(client.wants(), |piece| {
        match client.receive(piece) {
            Ok(None) => {}
            Ok(Some(reply)) => {
                match &reply {
                    Reply::Running => client.end(),
                    Reply::ExchangeResults => client.send_results(&results()),
                    Reply::CreateStreams | Reply::Results(_) => {}
                }
                replies.push(reply);
            }
            Err(error) => {
                fault = Some(error);
                assert_eq!(client.wants(), 0, "wants more after an error");
            }
        }
        sent.extend_from_slice(client.output());
        client.sent(client.output().len());
        assert!(client.wants() <= MOST_OF_A_SERVER, "wants {} bytes", client.wants());
        client.wants()
    });
    (replies, sent, fault)
}

fn results() -> Results {
    Results {
        cpu_util_total: 1.0,
        cpu_util_user: 0.5,
        cpu_util_system: 0.5,
        sender_has_retransmits: -1,
        congestion_used: None,
        server_output_json: None,
        server_output_text: None,
        streams: Vec::new(),
    }
}

/// Check JSON without the state machine around it: the fuzzer gets deeper into the values.
pub fn iperf3_json(data: &[u8]) {
    if let Ok(params) = Params::parse(data) {
        check(&params);
    }
    if let Ok(results) = Results::parse(data) {
        let again = Results::parse(&results.to_json());
        let streams = again.map(|again| again.streams.len());
        assert_eq!(streams, Ok(results.streams.len()), "results do not survive the wire");
    }
}

/// Check datagrams in any order and with any numbers: counters stay within the announced ones.
pub fn udp(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let wide = first & 1 == 1;
    let mut arrivals = Arrivals::default();
    let mut arrived_us = 0;
    for datagram in rest.chunks(HEADER_BYTES) {
        let Some(header) = datagram.first_chunk::<HEADER_BYTES>() else {
            let _ = is_connect(datagram);
            return;
        };
        let decoded = Header::decode(header, wide);
        let encoded = Header::decode(&decoded.encode(wide), wide);
        assert_eq!(encoded.number, decoded.number, "a number does not survive the wire");
        arrivals.count(decoded, arrived_us);
        arrived_us += 1000;
        assert!(arrivals.lost <= arrivals.packets, "more lost than sent: {arrivals:?}");
        assert!(arrivals.jitter_s >= 0.0 && arrivals.jitter_s.is_finite(), "{arrivals:?}");
    }
}
