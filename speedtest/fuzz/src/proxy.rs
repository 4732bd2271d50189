// SPDX-License-Identifier: Apache-2.0
//! Head with which a proxy names its client.

use speedtest_proto::proxy::{Named, ProxyError, ProxyHead};

use crate::Script;

/// Section 2.2: signature, version and family, and a length that is bounded.
const MOST_BYTES: usize = 16 + 4096;

/// Check that any split of the bytes gives the same client or error, and that nothing after the
/// head is taken.
pub fn proxy(data: &[u8]) {
    let Some(script) = Script::of(data) else { return };
    assert_eq!(play(script), play(script.whole()), "the split of the bytes made a difference");
}

fn play(script: Script<'_>) -> (Option<Result<Named, ProxyError>>, usize) {
    let (mut head, mut told, mut taken) = (ProxyHead::default(), None, 0);
    script.feed(head.wants(), |piece| {
        taken += piece.len();
        assert!(taken <= MOST_BYTES, "a head without end");
        told = head.receive(piece).transpose();
        match told {
            Some(_) => 0,
            None => {
                assert!(head.wants() > 0, "an unfinished head wants nothing");
                head.wants()
            }
        }
    });
    // The bytes read of a rejected head depend on its pieces.
    let taken = if matches!(told, Some(Ok(_))) { taken } else { 0 };
    (told, taken)
}
