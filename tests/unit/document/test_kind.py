# SPDX-License-Identifier: Apache-2.0
"""Test that documents are read back, and that all errors are reported at once, by key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import jsonschema
import pytest

from wirespeed.document.kind import DocumentKind
from wirespeed.model.errors import BadInput


class Media(StrEnum):
    COPPER = "copper"
    FIBRE = "fibre"


@dataclass(frozen=True, slots=True)
class Port:
    name: str
    mtu: int = 1500
    media: Media | None = None


@dataclass(frozen=True, slots=True)
class Cabling:
    ports: tuple[Port, ...]
    rates: dict[int, float]


def same_names(cabling: Cabling) -> list[str]:
    names = [port.name for port in cabling.ports]
    return [f"ports: {name} twice" for name in dict.fromkeys(names) if names.count(name) > 1]


CABLING = DocumentKind(
    Cabling, "cabling", "cables", "2.3", "cabling file", "Plug them in again.", same_names
)
EAST = {"name": "east", "mtu": 9000, "media": "fibre"}
GOOD = {"schema_version": "2.3", "ports": [EAST], "rates": {"7": 2.5}}


def error_of(**changed: object) -> str:
    with pytest.raises(BadInput) as caught:
        CABLING.parse(json.dumps(GOOD | changed), "c.json")
    assert caught.value.next_step == "Plug them in again."
    return caught.value.what


def test_a_written_document_is_read_back_and_fits_the_schema() -> None:
    value = Cabling((Port("east", 9000, Media.FIBRE),), {7: 2.5})
    assert json.loads(json.dumps(CABLING.document(value))) == GOOD
    assert CABLING.parse(json.dumps(GOOD), "c.json") == value
    jsonschema.Draft202012Validator(CABLING.json_schema()).validate(GOOD)


def test_a_key_with_a_default_may_be_absent_and_the_minor_version_another() -> None:
    older = {"schema_version": "2.0", "ports": [{"name": "east"}], "rates": {}}
    assert CABLING.parse(json.dumps(older), "c.json") == Cabling((Port("east"),), {})
    jsonschema.Draft202012Validator(CABLING.json_schema()).validate(older)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"colour": "red"}, 'colour = "red": unknown key'),
        ({"ports": [EAST, EAST | {"up": True}]}, "ports.1.up = true: unknown key"),
        ({"ports": [{"mtu": 1500}]}, "ports.0.name: is missing"),
        ({"ports": [EAST | {"mtu": "9000"}]}, 'ports.0.mtu = "9000": must be a valid integer'),
        ({"ports": [EAST | {"mtu": None}]}, "ports.0.mtu = null: must be a valid integer"),
        ({"ports": [EAST | {"media": "air"}]}, "ports.0.media = \"air\": must be 'copper' or"),
        ({"ports": 3}, "ports = 3: must be a list, [...]"),
        ({"ports": [3]}, "ports.0 = 3: must be an object"),
        ({"rates": 3}, "rates = 3: must be an object"),
        ({"ports": [EAST, EAST]}, "ports: east twice"),
    ],
)
def test_a_fault_says_which_key_its_value_and_what_would_be_right(
    changed: dict[str, Any], fault: str
) -> None:
    assert error_of(**changed).startswith(f"cabling file c.json: 1 error\n  {fault}")


def test_all_faults_are_reported_but_a_contradiction_only_where_the_types_are_right() -> None:
    said = error_of(ports=[EAST, EAST, {}], rates=3)
    assert "2 errors" in said
    assert "twice" not in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cabling file c.json is not JSON"),
        ("[]", "cabling file c.json holds no JSON object"),
        ("{}", "cabling file c.json has no schema_version; this wirespeed reads 2.x"),
        ('{"schema_version": "3.0"}', 'cabling file c.json has schema_version "3.0"'),
    ],
)
def test_a_text_that_is_no_such_document_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadInput) as caught:
        CABLING.parse(text, "c.json")
    assert caught.value.what.startswith(why)


def test_a_document_of_another_kind_is_reported_as_such_and_not_by_each_of_its_keys() -> None:
    other = {"schema_version": "2.0", "racks": 1, "rows": 2, "doors": 3, "lamps": 4}
    with pytest.raises(BadInput) as caught:
        CABLING.parse(json.dumps(other), "c.json")
    assert caught.value.what == (
        "cabling file c.json: another kind of file: no ports, rates in it, "
        "but racks, rows, doors and 1 more"
    )
    assert caught.value.next_step == "Plug them in again."


def test_a_document_that_has_one_required_key_is_of_its_kind() -> None:
    other = {"schema_version": "2.0", "ports": [], "rows": 2, "doors": 3, "lamps": 4}
    with pytest.raises(BadInput, match="rates: is missing"):
        CABLING.parse(json.dumps(other), "c.json")
