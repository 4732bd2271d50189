# SPDX-License-Identifier: Apache-2.0
"""A hostile text at any place of any document is refused, or stays a value in all that follows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.document.fuzz import Fuzz, check_texts, subjects

RENDERED = ("host", "workload")
KINDS = (*RENDERED, "study", "lab", "pairs", "suppressions", "snapshot", "cloud")


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_texts_of_a_document_are_refused_or_stay_values(kind: str, tmp_path: Path) -> None:
    fuzz = Fuzz(tmp_path, os.environ.get("WIRESPEED_EXHAUSTIVE") == "1")
    for subject in subjects(tmp_path):
        if subject.kind == kind:
            fuzz.run(subject)
    counts = fuzz.counts[kind]
    print(f"{kind}: {dict(counts)}, 0 hits")
    assert counts["accepted"] < counts["tried"]
    assert (counts["renders"] > 0) == (kind in RENDERED)


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "\u2028", "\u202e", "\x00"])
def test_check_of_texts_finds_a_control_character(text: str) -> None:
    for value in ({"a": [text]}, {"a": {text: 1}}):
        with pytest.raises(AssertionError, match="accepts"):
            check_texts(value, (), "here")
