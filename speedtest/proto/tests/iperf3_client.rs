// SPDX-License-Identifier: Apache-2.0
//! Client and server of a control connection in one conversation.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use speedtest_proto::iperf3::{
    Client, Cookie, ErrorCode, Event, Params, ProtocolError, Reply, Results, Server, State,
    StreamResult,
};

fn results(bytes: u64) -> Results {
    let stream = StreamResult {
        id: 1,
        bytes,
        retransmits: 0,
        jitter: 0.0,
        errors: 0,
        omitted_errors: 0,
        packets: 0,
        omitted_packets: 0,
        start_time: 0.0,
        end_time: 1.0,
    };
    Results {
        cpu_util_total: 1.0,
        cpu_util_user: 0.5,
        cpu_util_system: 0.5,
        sender_has_retransmits: 1,
        congestion_used: None,
        server_output_json: None,
        server_output_text: None,
        streams: vec![stream],
    }
}

/// Move bytes from one side to the other, one at a time.
fn to_server(client: &mut Client, server: &mut Server) -> Vec<Event> {
    let bytes = client.output().to_vec();
    client.sent(bytes.len());
    bytes.iter().filter_map(|byte| server.receive(&[*byte]).unwrap()).collect()
}

fn to_client(server: &mut Server, client: &mut Client) -> Vec<Reply> {
    let bytes = server.output().to_vec();
    server.sent(bytes.len());
    bytes.iter().filter_map(|byte| client.receive(&[*byte]).unwrap()).collect()
}

#[test]
fn client_and_server_understand_each_other_to_the_end() {
    let cookie = Cookie::from_random(&[7; 36]);
    let params = Params { client_version: "x".into(), ..Params::default() };
    let (mut client, mut server) = (Client::new(&cookie, params.clone()), Server::new());
    assert_eq!(to_server(&mut client, &mut server), [Event::Cookie(cookie)]);
    server.admit();
    assert_eq!(to_client(&mut server, &mut client), []);
    assert_eq!(to_server(&mut client, &mut server), [Event::Params(Box::new(params))]);
    server.create_streams();
    assert_eq!(to_client(&mut server, &mut client), [Reply::CreateStreams]);
    server.start();
    assert_eq!(to_client(&mut server, &mut client), [Reply::Running]);
    client.end();
    assert_eq!(to_server(&mut client, &mut server), [Event::TestEnd]);
    server.exchange_results();
    assert_eq!(to_client(&mut server, &mut client), [Reply::ExchangeResults]);
    client.send_results(&results(5));
    assert_eq!(to_server(&mut client, &mut server), [Event::Results(Box::new(results(5)))]);
    server.send_results(&results(4));
    assert_eq!(to_client(&mut server, &mut client), [Reply::Results(Box::new(results(4)))]);
    assert_eq!(to_server(&mut client, &mut server), [Event::Done]);
    assert_eq!((client.wants(), server.wants()), (0, 0));
}

#[test]
fn a_servers_no_is_an_error_with_its_reason() {
    let cookie = Cookie::from_random(&[7; 36]);
    let mut client = Client::new(&cookie, Params::default());
    assert_eq!(client.receive(&[0xff]), Err(ProtocolError::Refused(State::AccessDenied)));
    let mut server = Server::new();
    server.fail(ErrorCode::TotalRate);
    let mut client = Client::new(&cookie, Params::default());
    assert_eq!(client.receive(&server.output()[..1]), Ok(None));
    assert_eq!(
        client.receive(&server.output()[1..]),
        Err(ProtocolError::ServerError { code: 27, errno: 0 })
    );
}

#[test]
fn a_servers_no_is_reported_in_words() {
    for (said, words) in [
        (vec![0xff], "busy with other tests"),
        (vec![11], "ended the test"),
        (vec![0x15], "0x15 while waiting for a state; the port does not seem to speak iperf3"),
        (vec![0xfe, 0, 0, 0, 27, 0, 0, 0, 0], "more than the server allows"),
        (vec![0xfe, 0, 0, 0, 37, 0, 0, 0, 0], "longer than the server allows"),
        (vec![0xfe, 0, 0, 0, 134, 0, 0, 0, 2], "congestion control"),
        (vec![0xfe, 0, 0, 0, 142, 0, 0, 0, 0], "authorization failed"),
        (vec![0xfe, 0, 0, 0, 101, 0, 0, 0, 5], "iperf3 error 101 (errno 5)"),
    ] {
        let mut client = Client::new(&Cookie::from_random(&[7; 36]), Params::default());
        let error = said.iter().find_map(|byte| client.receive(&[*byte]).err()).unwrap();
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// Read a whole test of the server in pieces; return the client's replies and its bytes.
fn replies(pieces: &[usize]) -> (Vec<Reply>, Vec<u8>) {
    let mut server = Server::new();
    let cookie = Cookie::from_random(&[7; 36]);
    server.receive(cookie.as_bytes()).unwrap();
    server.admit();
    server.create_streams();
    server.start();
    server.exchange_results();
    server.send_results(&results(4));
    let (mut rest, mut pieces) = (server.output(), pieces.iter().copied().cycle());
    let mut client = Client::new(&cookie, Params::default());
    let mut replies = Vec::new();
    while client.wants() > 0 {
        let size = pieces.next().unwrap().clamp(1, client.wants());
        let (now, later) = rest.split_at(size);
        rest = later;
        let reply = client.receive(now).unwrap();
        if reply == Some(Reply::ExchangeResults) {
            client.send_results(&results(5));
        }
        replies.extend(reply);
    }
    assert_eq!(rest, b"");
    (replies, client.output().to_vec())
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_replies(
        pieces in prop::collection::vec(1_usize..64, 1..40)
    ) {
        prop_assert_eq!(replies(&pieces), replies(&[4096]));
        prop_assert_eq!(replies(&[4096]).0.len(), 4);
    }
}
