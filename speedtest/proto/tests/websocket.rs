// SPDX-License-Identifier: Apache-2.0
//! WebSocket frames: as clients send them, in any pieces, and as they must not.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use speedtest_proto::websocket::endpoint::{Endpoint, Notice};
use speedtest_proto::websocket::header::{apply_mask, Header, Opcode};
use speedtest_proto::websocket::reader::{Event, Reader, Want, MAX_MESSAGE_BYTES, MAX_TEXT_BYTES};
use speedtest_proto::websocket::writer::Writer;
use speedtest_proto::websocket::{Role, Violation};

const MASK: [u8; 4] = [1, 2, 3, 250];

fn frame(fin: bool, opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let payload_bytes = payload.len() as u64;
    Header { fin, opcode, payload_bytes, mask: Some(MASK) }.write(&mut bytes);
    let at = bytes.len();
    bytes.extend_from_slice(payload);
    apply_mask(&mut bytes[at..], MASK, 0);
    bytes
}

/// Read these bytes in such pieces as a server; drop pieces of binary payload.
fn play(bytes: &[u8], pieces: &[usize]) -> (Vec<Event>, u64, Option<Violation>) {
    let (mut reader, mut events) = (Reader::new(Role::Client), Vec::new());
    let mut rest = bytes;
    let mut pieces = pieces.iter().copied().cycle();
    while !rest.is_empty() {
        let size = pieces.next().unwrap().clamp(1, rest.len());
        if let Want::Drop(left) = reader.want() {
            let size = size.min(usize::try_from(left).unwrap());
            reader.dropped(size as u64);
            rest = &rest[size..];
            continue;
        }
        match reader.receive(&rest[..size]) {
            Ok((used, event)) => {
                events.extend(event);
                rest = &rest[used..];
            }
            Err(violation) => return (events, reader.binary_bytes(), Some(violation)),
        }
    }
    (events, reader.binary_bytes(), None)
}

fn violation(bytes: &[u8]) -> Option<Violation> {
    play(bytes, &[4096]).2
}

fn conversation() -> Vec<u8> {
    [
        frame(true, Opcode::Binary, &[7; 70_000]),
        frame(true, Opcode::Text, "{\"AppInfo\":\"ä\"}".as_bytes()),
        frame(false, Opcode::Text, b"in "),
        frame(true, Opcode::Ping, b"are you there"),
        frame(true, Opcode::Continuation, b"pieces"),
        frame(false, Opcode::Binary, &[8; 300]),
        frame(true, Opcode::Pong, b""),
        frame(false, Opcode::Continuation, b""),
        frame(true, Opcode::Continuation, &[9; 100]),
        frame(true, Opcode::Binary, b""),
        frame(true, Opcode::Close, &[3, 232, b'o', b'k']),
    ]
    .concat()
}

#[test]
fn texts_pings_and_the_end_come_out_and_binary_is_counted() {
    let (events, bytes, violation) = play(&conversation(), &[4096]);
    let expected = [
        Event::Text("{\"AppInfo\":\"ä\"}".into()),
        Event::Ping(b"are you there".to_vec()),
        Event::Text("in pieces".into()),
        Event::Pong,
        Event::Close(Some(1000)),
    ];
    assert_eq!((events.as_slice(), bytes, violation), (expected.as_slice(), 70_400, None));
}

#[test]
fn a_frame_that_the_rfc_forbids_is_a_violation_with_its_code() {
    let text = |payload: &[u8]| frame(true, Opcode::Text, payload);
    let mut unmasked = Vec::new();
    Header { fin: true, opcode: Opcode::Text, payload_bytes: 0, mask: None }.write(&mut unmasked);
    let open = frame(false, Opcode::Binary, b"a");
    let cases: [(&str, Vec<u8>, Violation, u16); 16] = [
        ("reserved bit", vec![0xc2, 0x80], Violation::ReservedBit, 1002),
        ("opcode", vec![0x83, 0x80], Violation::Opcode(3), 1002),
        ("not masked", unmasked, Violation::Masking, 1002),
        ("long ping", vec![0x89, 0xfe, 0, 126], Violation::Control, 1002),
        ("fragmented ping", vec![0x09, 0x80], Violation::Control, 1002),
        ("long form", vec![0x82, 0xfe, 0, 125], Violation::Length, 1002),
        (
            "longer form",
            [&[0x82, 0xff][..], &[0; 6], &[255, 255]].concat(),
            Violation::Length,
            1002,
        ),
        ("2^63", [&[0x82, 0xff, 0x80][..], &[0; 7]].concat(), Violation::Length, 1002),
        ("continuation first", frame(true, Opcode::Continuation, b""), Violation::Fragment, 1002),
        ("text inside", [open.clone(), text(b"a")].concat(), Violation::Fragment, 1002),
        ("binary inside", [open.clone(), open].concat(), Violation::Fragment, 1002),
        ("not UTF-8", text(&[0xff]), Violation::Utf8, 1007),
        ("half a code", frame(true, Opcode::Close, &[3]), Violation::CloseCode, 1002),
        ("reserved code", frame(true, Opcode::Close, &[3, 237]), Violation::CloseCode, 1002),
        ("long text", text(&vec![b'a'; MAX_TEXT_BYTES as usize + 1]), Violation::TooBig, 1009),
        (
            "long message",
            [&[0x82, 0xff][..], &(MAX_MESSAGE_BYTES + 1).to_be_bytes(), &MASK].concat(),
            Violation::TooBig,
            1009,
        ),
    ];
    for (name, bytes, expected, code) in cases {
        assert_eq!(violation(&bytes), Some(expected), "{name}");
        assert_eq!(expected.close_code(), code, "{name}");
    }
    let largest = [&[0x82, 0xff][..], &MAX_MESSAGE_BYTES.to_be_bytes(), &MASK].concat();
    assert_eq!(violation(&largest), None);
}

#[test]
fn fragments_of_one_text_are_bounded_together() {
    let first = frame(false, Opcode::Text, &vec![b'a'; MAX_TEXT_BYTES as usize]);
    let second = frame(true, Opcode::Continuation, b"a");
    assert_eq!(violation(&[first, second].concat()), Some(Violation::TooBig));
}

#[test]
fn an_endpoint_answers_the_last_ping_and_the_close() {
    let mut server = Endpoint::new(Role::Server, 1);
    let pings: Vec<u8> = (0..50).flat_map(|n| frame(true, Opcode::Ping, &[n])).collect();
    assert_eq!(server.receive(&pings), (pings.len(), None));
    assert_eq!(server.output(), [0x8a, 1, 49]);
    server.sent(3);
    assert!(!server.has_output());
    server.say("hi");
    let close = frame(true, Opcode::Close, &[3, 233]);
    let (used, notice) = server.receive(&[close.clone(), vec![1, 2, 3]].concat());
    assert_eq!((used, notice), (close.len(), Some(Notice::Closed(Some(1001)))));
    server.say("too late");
    assert_eq!(server.output(), [0x81, 2, b'h', b'i', 0x88, 2, 3, 233]);
    assert!(!server.over() && server.want().is_none());
    server.sent(8);
    assert!(server.over());
}

#[test]
fn a_violation_is_reported_and_ends_the_reading() {
    let mut server = Endpoint::new(Role::Server, 1);
    let (_, notice) = server.receive(&[0x83, 0x80]);
    assert_eq!(notice, Some(Notice::Broken(Violation::Opcode(3))));
    assert_eq!(server.output(), [0x88, 2, 3, 234]);
    assert_eq!(server.want(), None);
}

#[test]
fn both_ends_understand_each_other() {
    let (mut client, mut server) = (Endpoint::new(Role::Client, 7), Endpoint::new(Role::Server, 7));
    let mut writer = Writer::new(Role::Client);
    client.say("hello");
    let mut wire = client.output().to_vec();
    writer.begin(70_000, client.next_mask());
    let (header, payload) = writer.rest();
    wire.extend_from_slice(header);
    let header_bytes = header.len();
    wire.resize(wire.len() + payload as usize, 0x55);
    assert_eq!((writer.sent(5), writer.sent(header_bytes - 5 + 10)), (0, 10));
    assert!(!writer.between_frames());
    assert_eq!(writer.sent(69_990), 69_990);
    assert!(writer.between_frames());
    let said = client.output().len();
    client.sent(said);
    client.close(1000);
    wire.extend_from_slice(client.output());
    let (used, notice) = server.receive(&wire);
    assert_eq!(notice, Some(Notice::Text("hello".into())));
    let (_, notice) = server.receive(&wire[used..]);
    assert_eq!((notice, server.binary_bytes()), (Some(Notice::Closed(Some(1000))), 70_000));
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_events(
        pieces in prop::collection::vec(1_usize..3000, 1..40)
    ) {
        let bytes = conversation();
        prop_assert_eq!(play(&bytes, &pieces), play(&bytes, &[1]));
    }

    #[test]
    fn garbage_never_panics_and_never_makes_the_reader_keep_much(
        garbage in prop::collection::vec(any::<u8>(), 1..4096),
        pieces in prop::collection::vec(1_usize..64, 1..8),
    ) {
        let (events, ..) = play(&garbage, &pieces);
        for event in events {
            if let Event::Text(text) = event {
                prop_assert!(text.len() as u64 <= MAX_TEXT_BYTES);
            }
        }
    }
}
