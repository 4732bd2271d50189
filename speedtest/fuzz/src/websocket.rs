// SPDX-License-Identifier: Apache-2.0
//! Frames of either peer, and all other output of an ndt7 peer.

use speedtest_proto::ndt7::measurement::Measurement;
use speedtest_proto::ndt7::request::TestQuery;
use speedtest_proto::ndt7::token::{verify, Expected, Key};
use speedtest_proto::nq::Urls;
use speedtest_proto::websocket::endpoint::{Endpoint, Notice};
use speedtest_proto::websocket::reader::{Want, MAX_TEXT_BYTES};
use speedtest_proto::websocket::Role;

use crate::Script;

const READ_BYTES: usize = 4096;
/// Most bytes of output: a pong, a Close, and texts that were not sent.
const MOST_OUTPUT: usize = 256;
/// A point on the curve without a known private key.
const KEY: &str = r#"{"kty":"OKP","crv":"Ed25519","kid":"k1",
    "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

/// Check that any split of the bytes gives the same notices, payload and output, and that little is
/// kept.
pub fn websocket(data: &[u8]) {
    let Some(script) = Script::of(data) else { return };
    assert_eq!(play(script), play(script.whole()), "the split of the bytes made a difference");
}

fn play(script: Script<'_>) -> (Vec<Notice>, u64, Vec<u8>) {
    let role = if script.decided(0) { Role::Client } else { Role::Server };
    let (mut endpoint, mut notices) = (Endpoint::new(role, 7), Vec::new());
    script.feed(READ_BYTES, |piece| {
        let mut rest = piece;
        while !rest.is_empty() {
            match endpoint.want() {
                None => return 0,
                Some(Want::Drop(left)) => {
                    let now = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    assert!(now > 0, "wants to drop nothing");
                    endpoint.dropped(now as u64);
                    rest = &rest[now..];
                }
                Some(Want::Bytes(most)) => {
                    assert!(most > 0, "wants nothing and is not over");
                    let now = most.min(rest.len());
                    let (used, notice) = endpoint.receive(&rest[..now]);
                    assert!(used > 0 || notice.is_some(), "does not get on");
                    notices.extend(notice);
                    rest = &rest[used..];
                }
            }
        }
        READ_BYTES
    });
    for notice in &notices {
        if let Notice::Text(text) = notice {
            assert!(text.len() as u64 <= MAX_TEXT_BYTES, "a text of {} bytes", text.len());
        }
    }
    let output = endpoint.output().to_vec();
    assert!(output.len() <= MOST_OUTPUT, "{} bytes of answers", output.len());
    (notices, endpoint.binary_bytes(), output)
}

/// Check queries, measurements, keys, tokens and configurations: accepted ones survive encoding and
/// are bounded, and no token without a signature is valid.
pub fn ndt7(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(query) = TestQuery::of_query(text) {
        assert!(query.metadata.len() <= 32, "{} pairs are kept", query.metadata.len());
        let longest = query.metadata.iter().flat_map(|(name, value)| [name.len(), value.len()]);
        assert!(longest.max().unwrap_or(0) <= 256, "a long value is kept");
    }
    if let Some(measurement) = Measurement::of_text(text) {
        let again = Measurement::of_text(&measurement.to_text());
        assert_eq!(again, Some(measurement), "a measurement does not survive the wire");
    }
    let expected = Expected { issuer: "locate".into(), audience: "here".into() };
    if let Ok(key) = Key::of_json(KEY) {
        assert!(verify(&[key], &expected, text, 0.0).is_err(), "nobody signed this token");
    } else {
        unreachable!("the key above is one");
    }
    let _ = Key::of_json(text);
    let _ = Urls::of_config(text);
}
