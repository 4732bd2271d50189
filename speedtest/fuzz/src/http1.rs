// SPDX-License-Identifier: Apache-2.0
//! Heads of HTTP requests, pipelined, with bodies between them.

use speedtest_proto::http1::{Heads, HttpError, Request, MAX_HEAD_BYTES};
use speedtest_proto::librespeed::{endpoint, garbage_bytes};

use crate::Script;

/// The longest download that LibreSpeed's cap allows.
const MOST_GARBAGE: u64 = 1 << 30;

/// Check that any split of the bytes gives the same requests, bodies and error, and that no byte
/// after a head is kept.
pub fn http1(data: &[u8]) {
    let Some(script) = Script::of(data) else { return };
    assert_eq!(play(script), play(script.whole()), "the split of the bytes made a difference");
}

fn play(script: Script<'_>) -> (Vec<Request>, Vec<u8>, Option<HttpError>) {
    let mut heads = Heads::default();
    let (mut requests, mut bodies, mut fault) = (Vec::new(), Vec::new(), None);
    let mut body_left = 0;
    script.feed(heads.wants(), |piece| {
        heads.receive(piece);
        loop {
            let body = heads.take_body(body_left);
            body_left -= body.len() as u64;
            bodies.extend(body);
            if body_left > 0 {
                break;
            }
            match heads.next_request() {
                Ok(None) => break,
                Ok(Some(request)) => {
                    check(&request);
                    body_left = request.body_bytes;
                    requests.push(request);
                }
                Err(error) => {
                    fault = Some(error);
                    return 0;
                }
            }
        }
        assert!(heads.wants() > 0, "a full buffer without a verdict on it");
        heads.wants()
    });
    (requests, bodies, fault)
}

fn check(request: &Request) {
    assert!(request.path.starts_with('/') && request.path.len() <= MAX_HEAD_BYTES);
    assert!(!request.path.contains(['\r', '\n', ' ', '?']));
    let _ = endpoint(&request.path);
    assert!((1..=MOST_GARBAGE).contains(&garbage_bytes(request.query("ckSize"))));
}
