// SPDX-License-Identifier: Apache-2.0
//! Invariants for any bytes that a peer can send.
//!
//! Each target takes one input and panics where an invariant breaks. The same functions run under
//! libFuzzer (`fuzz_targets/`, started by `run.sh`) and in `cargo test` (`tests/corpus.rs`). The
//! first bytes of a state machine's input define how the rest is split and how the side under test
//! decides: see [`Script`].

mod http1;
mod iperf3;
mod proxy;
mod script;
mod websocket;

pub use http1::http1;
pub use iperf3::{iperf3_client, iperf3_json, iperf3_server, udp};
pub use proxy::proxy;
pub use script::Script;
pub use websocket::{ndt7, websocket};

/// A target: panics where an invariant breaks.
pub type Target = fn(&[u8]);

/// Every target, by the name of its folder in `corpus/`.
pub const TARGETS: [(&str, Target); 8] = [
    ("iperf3_server", iperf3_server),
    ("iperf3_client", iperf3_client),
    ("iperf3_json", iperf3_json),
    ("udp", udp),
    ("http1", http1),
    ("proxy", proxy),
    ("websocket", websocket),
    ("ndt7", ndt7),
];
