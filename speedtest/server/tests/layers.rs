// SPDX-License-Identifier: Apache-2.0
//! Layers of the server's modules: none uses, directly or through others, one that uses it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Uses = BTreeMap<String, BTreeSet<String>>;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// Return the module names after `crate::`, also in braces.
fn named(text: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let used = text.match_indices("crate::").flat_map(|(at, found)| {
        let rest = &text[at + found.len()..];
        match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or("").split(',').collect::<Vec<_>>(),
            None => vec![rest],
        }
    });
    used.map(|rest| word(rest.trim())).filter(|name: &String| !name.is_empty()).collect()
}

fn uses() -> Uses {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut uses = Uses::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let mut names = named(&std::fs::read_to_string(&file).unwrap());
        names.remove(module);
        uses.entry(module.to_owned()).or_default().extend(names);
    }
    uses
}

/// Remove modules that use nothing that is left, until none can be removed: the rest is in cycles.
fn in_circles(mut uses: Uses) -> Uses {
    loop {
        let free: BTreeSet<String> = uses
            .iter()
            .filter(|(_, names)| !names.iter().any(|name| uses.contains_key(name)))
            .map(|(module, _)| module.clone())
            .collect();
        if free.is_empty() {
            return uses;
        }
        uses.retain(|module, _| !free.contains(module));
    }
}

#[test]
fn no_module_uses_one_that_uses_it() {
    let uses = uses();
    assert!(uses["serve"].contains("http") && uses["http"].contains("ndt7"), "{uses:?}");
    assert_eq!(in_circles(uses), Uses::new());
}

#[test]
fn a_circle_is_found() {
    let name = |text: &str| text.to_owned();
    let circle = Uses::from([
        (name("a"), named("use crate::{b, c};")),
        (name("b"), named("use crate::d::Thing;")),
        (name("c"), BTreeSet::new()),
        (name("d"), named("crate::a::make()")),
    ]);
    let left: Vec<_> = in_circles(circle).into_keys().collect();
    assert_eq!(left, ["a", "b", "d"]);
}
