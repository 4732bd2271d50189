// SPDX-License-Identifier: Apache-2.0
//! Bounds of one turn, for any bytes of a peer in any pieces.
//!
//! Real handlers on real sockets in a real loop, which runs in the test's thread. Their work is
//! counted from outside: bytes that left the socket's queue (of UDP, those that the stream has
//! counted), and bytes that arrived at the peer.

mod contexts;
mod watched;

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::Index;
use speedtest_net::bulk::{DatagramStream, Order, Spec, Stream};
use speedtest_net::reactor::{Address, Handler, Lanes};
use speedtest_net::sys;
use speedtest_net::turn::Work;
use speedtest_net::wire::Wire;

use crate::accept::AcceptedConnection;
use crate::config::Iperf3;
use crate::http::{self, Service};
use contexts::Contexts;
use watched::{watch, Peer, Seen};

/// Make a server without loops of its own, and one connection to it.
fn accepted() -> (Contexts, AcceptedConnection, TcpStream) {
    let contexts = Contexts::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (socket, address) = listener.accept().unwrap();
    socket.set_nonblocking(true).unwrap();
    peer.set_nonblocking(true).unwrap();
    // A piece does not wait for the acknowledgement of the one before.
    peer.set_nodelay(true).unwrap();
    let clients = &contexts.http.clients;
    let connection = clients.connect(clients.key(address.ip()), true).unwrap();
    let accepted = AcceptedConnection { socket, peer: address, connection, arrival: 1 };
    (contexts, accepted, peer)
}

/// Return the work of each turn while the peer sends these bytes in these pieces.
fn turns_of(
    make: impl FnOnce(Contexts, AcceptedConnection) -> Box<dyn Handler>,
    bytes: &[u8],
    cuts: &[Index],
) -> Vec<Seen> {
    let (contexts, accepted, peer) = accepted();
    let lanes = contexts.http.lanes.clone();
    let handler = make(contexts, accepted);
    watch(&lanes, handler, Peer::Tcp(peer), pieces(bytes, cuts), &[])
}

fn over_http(contexts: Contexts, accepted: AcceptedConnection) -> Box<dyn Handler> {
    http::accept(contexts.http, Service::Tests)(accepted).unwrap()
}

fn over_http2(contexts: Contexts, accepted: AcceptedConnection) -> Box<dyn Handler> {
    let wire = Wire::Clear(accepted.socket);
    Box::new(http::h2::Connection::new(wire, accepted.peer, accepted.connection, contexts.http))
}

fn pieces(bytes: &[u8], cuts: &[Index]) -> Vec<Vec<u8>> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|ends| bytes[ends[0]..ends[1]].to_vec()).collect()
}

fn count(haystack: &[u8], needle: &[u8]) -> u64 {
    haystack.windows(needle.len()).filter(|window| *window == needle).count() as u64
}

fn cuts() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 0..20)
}

/// Most bytes that a turn reads.
const READ_BYTES: u64 = Work::Parsed.most() + Work::Dropped.most();
/// Most space that a datagram below 200 bytes takes in the receive buffer: a block of 1 KiB and
/// the kernel's bookkeeping.
const BUFFER_OF_DATAGRAM: usize = 1280;

fn request() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => Just(b"GET /health HTTP/1.1\r\n\r\n".to_vec()),
        2 => Just(b"GET /nothing HTTP/1.1\r\nX: y\r\n\r\n".to_vec()),
        2 => (0..200usize).prop_map(|size| {
            let head = format!("POST /empty HTTP/1.1\r\nContent-Length: {size}\r\n\r\n");
            [head.into_bytes(), vec![b'x'; size]].concat()
        }),
    ]
}

fn settings_frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags, 0, 0, 0, 0]);
    bytes.extend(payload);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn http_answers_all_requests_and_no_turn_too_many(
        requests in prop::collection::vec(request(), 1..300),
        cuts in cuts(),
    ) {
        let turns = turns_of(over_http, &requests.concat(), &cuts);
        let answers = |turn: &Seen| count(&turn.sent, b"HTTP/1.1 ");
        for turn in &turns {
            prop_assert!(answers(turn) <= Work::Requests.most());
            prop_assert!(turn.read <= READ_BYTES);
        }
        prop_assert_eq!(turns.iter().map(answers).sum::<u64>(), requests.len() as u64);
    }

    #[test]
    fn http_survives_any_bytes_in_turns(
        bytes in prop::collection::vec(any::<u8>(), 0..20_000),
        cuts in cuts(),
    ) {
        for turn in turns_of(over_http, &bytes, &cuts) {
            prop_assert!(turn.read <= READ_BYTES);
        }
    }

    #[test]
    fn a_websocket_reads_no_more_frames_than_a_turn_has(
        frames in 1usize..6000,
        cuts in cuts(),
    ) {
        let upgrade = "GET /ndt/v7/upload HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n\
            Upgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: net.measurementlab.ndt.v7\r\n\r\n";
        let ping = [0x89, 0x80, 1, 2, 3, 4];
        let bytes = [upgrade.as_bytes(), &ping.repeat(frames)].concat();
        let turns = turns_of(over_http, &bytes, &cuts);
        for turn in &turns {
            // Frames after a head are read together with it.
            let head = if count(&turn.sent, b"HTTP/1.1 101") > 0 { 4096 } else { 0 };
            prop_assert!(turn.read <= head + (Work::Frames.most() + 1) * ping.len() as u64);
            prop_assert!(count(&turn.sent, &[0x8a, 0]) <= Work::Frames.most());
        }
        prop_assert_eq!(turns.iter().map(|turn| turn.read).sum::<u64>(), bytes.len() as u64);
    }

    #[test]
    fn http2_acts_on_no_more_frames_than_a_turn_has(
        frames in prop::collection::vec(prop_oneof![
            Just(settings_frame(6, 0, b"12345678")),
            Just(settings_frame(4, 0, b"")),
        ], 1..3000),
        cuts in cuts(),
    ) {
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        let all = [preface, settings_frame(4, 0, b""), frames.concat()].concat();
        let pong = settings_frame(6, 1, b"12345678");
        let turns = turns_of(over_http2, &all, &cuts);
        let answers = |turn: &Seen| count(&turn.sent, &pong);
        for turn in &turns {
            let settings = count(&turn.sent, &settings_frame(4, 1, b""));
            prop_assert!(answers(turn) + settings <= Work::Frames.most());
        }
        let pings = frames.iter().filter(|frame| frame[3] == 6).count() as u64;
        prop_assert_eq!(turns.iter().map(answers).sum::<u64>(), pings);
    }

    #[test]
    fn iperf3s_control_connection_reads_no_more_than_a_turn_has(
        bytes in prop::collection::vec(any::<u8>(), 0..100_000),
        known in any::<bool>(),
        cuts in cuts(),
    ) {
        let cookie = [b"abcdefghijklmnopqrstuvwxyz0123456789\0".as_slice(), b"\0\0\x1f\xff"].concat();
        let bytes = if known { [cookie, bytes].concat() } else { bytes };
        let accept = |contexts: Contexts, accepted| {
            crate::iperf3::accept(contexts.iperf3, Arc::new(Iperf3::at(([127, 0, 0, 1], 0).into())), None)(accepted).unwrap()
        };
        for turn in turns_of(accept, &bytes, &cuts) {
            prop_assert!(turn.read <= Work::Parsed.most());
        }
    }

    #[test]
    fn datagrams_are_counted_a_turn_at_a_time_and_none_is_lost(
        (size, many) in (1usize..200, 1usize..200),
        stop_after in any::<Index>(),
    ) {
        let (socket, peer) = datagram_pair();
        // The kernel would drop what does not fit.
        let (buffer, _) = sys::buffer_limits(socket.as_raw_fd()).unwrap();
        let many = many.min(buffer as usize / BUFFER_OF_DATAGRAM);
        let lanes = Lanes::new(1).unwrap();
        let stream = Arc::new(Stream::default());
        let spec = Spec {
            owner: Address::for_tests(9, 9),
            block_bytes: 1000,
            rate_bps: None,
            burst_blocks: 0,
            budget: None,
            zero_copy: false,
            close_at_end: false,
            omit: Duration::ZERO,
            sample_every: Duration::from_secs(1),
            moved: Arc::default(),
            loop_time: None,
        };
        let guard = Box::new(());
        let handler =
            DatagramStream::new(socket, spec, Arc::clone(&stream), false, false, guard);
        let stop_after = stop_after.index(many);
        let pieces: Vec<Vec<u8>> = vec![vec![7; size]; many];
        let sent_before_the_end = size * (stop_after + 1);
        let orders = [(0, Order::Start(Instant::now())), (stop_after + 1, Order::Stop)];
        let turns = watch(&lanes, Box::new(handler), Peer::Udp(peer, stream), pieces, &orders);
        for turn in &turns {
            prop_assert!(turn.read <= Work::Datagrams.most() * size as u64);
        }
        let counted = turns.iter().map(|turn| turn.read).sum::<u64>() as usize;
        prop_assert!(counted >= sent_before_the_end, "{counted} of {sent_before_the_end}");
    }
}

fn datagram_pair() -> (UdpSocket, UdpSocket) {
    let (one, two) =
        (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    one.connect(two.local_addr().unwrap()).unwrap();
    two.connect(one.local_addr().unwrap()).unwrap();
    one.set_nonblocking(true).unwrap();
    (one, two)
}
