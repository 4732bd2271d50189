# SPDX-License-Identifier: Apache-2.0
"""Test that hosts' answers are kept as far as they fit their types, and the rest is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wirespeed.cli.reference.pages import DOCUMENT_KINDS
from wirespeed.document.kind import DocumentKind
from wirespeed.document.sift import NotOfItsForm, sift
from wirespeed.host.file import HOST_FILE
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.plan.workload.file import parse_workload
from wirespeed.study.lab import load_lab

EXAMPLE = Path(__file__).parents[3] / "examples" / "s1-bng" / "host.json"
FACTS = HOST_FILE.parse(EXAMPLE.read_text(encoding="utf-8"), str(EXAMPLE))


def sifted(facts: HostFacts) -> tuple[HostFacts, dict[str, list[str]]]:
    told: dict[str, list[str]] = {}
    kept = sift(facts, lambda field, why: told.setdefault(field, []).append(why))
    return kept, told


def test_sift_facts_of_their_types_stays_the_same_object() -> None:
    kept, told = sifted(FACTS)
    assert kept is FACTS
    assert told == {}


def test_sift_device_with_a_command_for_an_address_is_excluded_and_reported() -> None:
    bad = replace(FACTS.pci[0], address="$(touch x)")
    kept, told = sifted(replace(FACTS, pci=(bad, *FACTS.pci[1:])))
    assert kept.pci == FACTS.pci[1:]
    assert told.keys() == {"pci"}
    assert 'address: "$(touch x)" is not a PCI address' in told["pci"][0]


def test_sift_optional_text_of_another_form_becomes_unknown() -> None:
    kept, told = sifted(replace(FACTS, default_route_interface="-rf\n"))
    assert kept.default_route_interface is None
    assert told.keys() == {"default_route_interface"}


def test_sift_free_text_shows_its_control_characters() -> None:
    kept, told = sifted(replace(FACTS, cpu_model="Xeon\x1b[2J\n"))
    assert kept.cpu_model == "Xeon\\x1b[2J\\x0a"
    assert told == {}


def test_sift_host_without_a_host_name_is_refused() -> None:
    with pytest.raises(NotOfItsForm, match=r"host: .* is not a host name"):
        sifted(replace(FACTS, host="../../etc/x"))


@pytest.mark.parametrize("kind", DOCUMENT_KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "[" * 100 + "]" * 100])
def test_document_nested_too_deep_is_refused(kind: DocumentKind[object], text: str) -> None:
    with pytest.raises(BadInput, match=r"nested deeper than 64 levels"):
        kind.parse(text, "deep.json")


def test_toml_nested_too_deep_is_refused(tmp_path: Path) -> None:
    deep = "a = " + "[" * 200_000
    with pytest.raises(BadInput, match="nested deeper than 64 levels"):
        parse_workload(deep, "w.toml")
    file = tmp_path / "lab.toml"
    file.write_text(deep, encoding="utf-8")
    with pytest.raises(BadInput, match="nested deeper than 64 levels"):
        load_lab(file)
