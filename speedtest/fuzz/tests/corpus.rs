// SPDX-License-Identifier: Apache-2.0
//! Short form of fuzzing: every input of the corpus, then mutations of them, and random bytes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use speedtest_fuzz::{Target, TARGETS};

/// Target with the inputs of its folder.
type Folder = (&'static str, Target, Vec<Vec<u8>>);
static CORPUS: LazyLock<Vec<Folder>> =
    LazyLock::new(|| TARGETS.map(|(name, target)| (name, target, inputs(name))).to_vec());

fn inputs(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let files = std::fs::read_dir(folder).unwrap();
    let mut inputs: Vec<_> =
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    inputs.sort();
    inputs
}

#[test]
fn every_input_of_the_corpus_keeps_the_invariants() {
    for (name, target, inputs) in CORPUS.iter() {
        assert!(!inputs.is_empty(), "corpus/{name} has no inputs");
        inputs.iter().for_each(|input| target(input));
    }
}

/// Return changes to an input: position and new byte.
fn mutations() -> impl Strategy<Value = Vec<(Index, u8, u8)>> {
    prop::collection::vec((any::<Index>(), 0_u8..4, any::<u8>()), 1..12)
}

fn mutated(input: &[u8], mutations: &[(Index, u8, u8)]) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for (index, how, value) in mutations {
        if bytes.is_empty() {
            break;
        }
        let at = index.index(bytes.len());
        match how {
            0 => bytes[at] = *value,
            1 => bytes[at] ^= 1 << (value % 8),
            2 => bytes.insert(at, *value),
            _ => drop(bytes.drain(at..(at + usize::from(*value)).min(bytes.len()))),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        // An input that breaks an invariant belongs into the corpus, where both forms find it.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutations_of_the_corpus_keep_the_invariants(
        which in any::<Index>(), mutations in mutations()
    ) {
        for (_, target, inputs) in CORPUS.iter() {
            target(&mutated(which.get::<Vec<u8>>(inputs), &mutations));
        }
    }

    #[test]
    fn noise_keeps_the_invariants(noise in prop::collection::vec(any::<u8>(), 0..600)) {
        TARGETS.iter().for_each(|(_, target)| target(&noise));
    }
}
