# SPDX-License-Identifier: Apache-2.0
"""Test that hostile texts of documents are rejected, or stay values in all results."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.support.document_fuzz import Fuzz, Subject, check_texts, subjects
from wirespeed.model.errors import BadInput

RENDERED = ("host", "workload", "plan", "templates")
KINDS = (*RENDERED, "study", "lab", "pairs", "suppressions", "snapshot", "cloud")


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_texts_of_a_document_are_refused_or_stay_values(kind: str, tmp_path: Path) -> None:
    fuzz = Fuzz(tmp_path, os.environ.get("WIRESPEED_EXHAUSTIVE") == "1")
    for subject in subjects(tmp_path):
        if subject.kind == kind:
            fuzz.run(subject)
    counts = fuzz.counts[kind]
    print(f"{kind}: {dict(counts)}, 0 hits")
    # No type rejects the templates' texts.
    assert (counts["accepted"] < counts["tried"]) == (kind != "templates")
    assert (counts["renders"] > 0) == (kind in RENDERED)


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "\u2028", "\u202e", "\x00"])
def test_check_of_texts_finds_a_control_character(text: str) -> None:
    for value in ({"a": [text]}, {"a": {text: 1}}):
        with pytest.raises(AssertionError, match="accepts"):
            check_texts(value, (), "here")


def digits(value: object) -> object:
    """Reject texts that are not digits, by the names of their places; "free" takes any text."""
    assert isinstance(value, dict)
    faults = [f"  n.{i} = it: bad" for i, text in enumerate(value["n"]) if not text.isdecimal()]
    if faults:
        raise BadInput("\n".join(("document: faults", *faults)), "Correct it.")
    return value


@pytest.mark.parametrize("exhaustive", [False, True])
def test_fuzz_group_of_leaves_gets_a_verdict_for_each(tmp_path: Path, *, exhaustive: bool) -> None:
    # A text in many leaves counts for each leaf, and a hit of one leaf is found.
    original = {"n": ["1", "2", "3"], "free": ["a", "b"]}
    fuzz = Fuzz(tmp_path / "good", exhaustive)
    counts = fuzz.run(Subject("k", "n", original, digits, prose=None))
    texts = counts["tried"] // counts["leaves"]
    assert counts == Counter(
        leaves=5 if exhaustive else 2, tried=counts["leaves"] * texts,
        accepted=(2 if exhaustive else 1) * texts, documents=2 * texts, executions=0,
    )  # fmt: skip

    def unquoted(value: dict[str, list[str]]) -> dict[str, str]:
        return {"x.sh": f"echo {value['free'][1]}"}

    with pytest.raises(AssertionError):
        Fuzz(tmp_path / "hit", exhaustive).run(
            Subject("k", "n", original, digits, unquoted, prose=None)
        )


def test_fuzz_refusal_without_names_tries_each_leaf_alone(tmp_path: Path) -> None:
    def first_alone(value: dict[str, list[str]]) -> object:
        if value["free"][1] != "b":
            raise BadInput("document: two of a name", "Correct it.")
        return value

    counts = Fuzz(tmp_path, exhaustive=True).run(
        Subject("k", "n", {"free": ["a", "b"]}, first_alone, prose=None)
    )
    assert counts["accepted"] * 2 == counts["tried"]
    assert counts["documents"] * 2 == counts["tried"] * 3
