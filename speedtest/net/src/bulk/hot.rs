// SPDX-License-Identifier: Apache-2.0
//! Hot buffer: the bytes that tests send, and calls that send many of them at once.

use std::io::{self, IoSlice};
use std::sync::LazyLock;

use crate::turn::{Turn, Work};
use crate::wire::{unless_blocked, Wire};

const HOT_BYTES: usize = speedtest_proto::iperf3::MAX_BLOCK_BYTES as usize;
/// Part of the hot buffer that is sent repeatedly, in bytes: it stays in a core's cache.
const CHUNK: usize = 128 << 10;
/// Chunks in one call, 1 MiB: fewer calls, and with BIG TCP fewer and larger segments.
const MOST_CHUNKS: usize = 8;

/// Test data: random, so that nothing on the path can compress it.
pub static HOT: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    let mut bytes = vec![0; HOT_BYTES].into_boxed_slice();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for word in bytes.chunks_exact_mut(8) {
        // xorshift64: fast, and its output cannot be compressed.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word.copy_from_slice(&state.to_le_bytes());
    }
    bytes
});

/// Send the start of `head` and of `payload` bytes of the hot buffer after it. Return how many
/// bytes of both were sent. None: the socket takes no more for now.
pub fn send_hot(
    wire: &mut Wire,
    head: &[u8],
    payload: u64,
    turn: &mut Turn,
) -> io::Result<Option<usize>> {
    let mut parts = [IoSlice::new(&[]); MOST_CHUNKS + 1];
    parts[0] = IoSlice::new(head);
    let payload = payload.min(turn.left(Work::Copied));
    let (mut left, mut count) = (usize::try_from(payload).unwrap_or(usize::MAX), 1);
    while left > 0 && count < parts.len() {
        let bytes = left.min(CHUNK);
        parts[count] = IoSlice::new(&HOT[..bytes]);
        left -= bytes;
        count += 1;
    }
    unless_blocked(wire.send_parts(&parts[..count], turn))
}
