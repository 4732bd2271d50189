// SPDX-License-Identifier: Apache-2.0
//! Request heads: as browsers and curl send them, in any pieces, and as attackers do.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use speedtest_proto::http1::{Heads, HttpError, Method, Request, MAX_HEAD_BYTES};

const UPLOAD: &[u8] = b"POST /backend/empty.php?r=0.5&cors=true HTTP/1.1\r\nHost: a\r\n\
Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhelloGET /garbage?ckSize=2 HTTP/1.1\r\n\
Connection: close\r\n\r\n";

fn play(bytes: &[u8], pieces: &[usize]) -> Result<(Vec<Request>, Vec<u8>), HttpError> {
    let (mut heads, mut requests, mut bodies) = (Heads::default(), Vec::new(), Vec::new());
    let (mut rest, mut body_left) = (bytes, 0);
    let mut pieces = pieces.iter().copied().cycle();
    while !rest.is_empty() {
        let size = pieces.next().unwrap().clamp(1, rest.len()).min(heads.wants());
        heads.receive(&rest[..size]);
        rest = &rest[size..];
        loop {
            let body = heads.take_body(body_left);
            body_left -= body.len() as u64;
            bodies.extend(body);
            if body_left > 0 {
                break;
            }
            let Some(request) = heads.next_request()? else { break };
            body_left = request.body_bytes;
            requests.push(request);
        }
    }
    Ok((requests, bodies))
}

fn one(head: &str) -> Result<Request, HttpError> {
    play(head.as_bytes(), &[4096]).map(|(requests, _)| requests[0].clone())
}

#[test]
fn requests_and_bodies_come_apart() {
    let (requests, bodies) = play(UPLOAD, &[4096]).unwrap();
    assert_eq!(
        (requests[0].method, requests[0].path.as_str()),
        (Method::Post, "/backend/empty.php")
    );
    assert_eq!((requests[0].query("cors"), requests[0].query("c")), (Some("true"), None));
    assert!(requests[0].keep_alive && requests[0].expects_continue);
    assert_eq!((requests[1].query("ckSize"), requests[1].keep_alive), (Some("2"), false));
    assert_eq!(bodies, b"hello");
}

#[test]
fn a_head_that_could_hide_a_second_request_is_refused() {
    let cases = [
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", HttpError::LengthRequired),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", HttpError::Malformed),
        ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", HttpError::Malformed),
        ("POST / HTTP/1.1\r\nContent-Length : 1\r\n\r\n", HttpError::Malformed),
        ("GET / HTTP/1.1\r\n folded: x\r\n\r\n", HttpError::Malformed),
        ("GET / HTTP/2.0\r\n\r\n", HttpError::Malformed),
        ("GET /a\nb HTTP/1.1\r\n\r\n", HttpError::Malformed),
        ("GET / HTTP/1.1\r\nX: a\nContent-Length: 9\r\n\r\n", HttpError::Malformed),
        ("GET / HTTP/1.1\r\nX: a\rY: b\r\n\r\n", HttpError::Malformed),
        ("GET http://other/ HTTP/1.1\r\n\r\n", HttpError::Malformed),
        ("BREW / HTTP/1.1\r\n\r\n", HttpError::Method),
    ];
    for (head, expected) in cases {
        assert_eq!(one(head), Err(expected), "{head:?}");
    }
}

#[test]
fn an_endless_head_is_cut_off() {
    let head = format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(MAX_HEAD_BYTES));
    assert_eq!(one(&head), Err(HttpError::TooLong));
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_requests(
        pieces in prop::collection::vec(1_usize..64, 1..40)
    ) {
        prop_assert_eq!(play(UPLOAD, &pieces), play(UPLOAD, &[4096]));
    }

    #[test]
    fn garbage_never_panics(garbage in prop::collection::vec(any::<u8>(), 1..4096)) {
        let _ = play(&garbage, &[64, 7]);
    }
}
