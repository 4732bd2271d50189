# SPDX-License-Identifier: Apache-2.0
"""Check that a schema defines each form of a text once, and accepts what it accepted."""

from __future__ import annotations

from dataclasses import dataclass

import jsonschema
import pytest

from wirespeed.document.kind import DocumentKind
from wirespeed.document.schema import with_forms
from wirespeed.model.input.text import HostName, Line, OptionalName


@dataclass(frozen=True, slots=True)
class Cable:
    ends: tuple[HostName, HostName]
    """Hosts that it joins."""
    colour: OptionalName = ""
    note: Line | None = None


KIND = DocumentKind(Cable, "cable", "a cable", "1.0", "cable file", "Plug it in.")
VALIDATOR = jsonschema.Draft202012Validator(KIND.json_schema())


def test_schema_forms_are_defined_once_and_referred_to() -> None:
    schema = KIND.json_schema()
    end = {"$ref": "#/$defs/HostName"}
    assert schema["properties"]["ends"]["prefixItems"] == [end, end]
    assert schema["properties"]["colour"] == {"$ref": "#/$defs/OptionalName", "default": ""}
    assert sorted(schema["$defs"]) == ["HostName", "Line", "OptionalName"]
    assert schema["$defs"]["Line"]["description"] == "One line without control characters."


def test_schema_has_no_titles_but_its_own() -> None:
    assert str(KIND.json_schema()).count("'title'") == 1


@pytest.mark.parametrize(
    ("changed", "valid"),
    [
        ({}, True),
        ({"note": "two\nlines"}, False),
        ({"note": None, "colour": "red"}, True),
        ({"colour": "r e d"}, False),
        ({"ends": ["a", "b\u2028"]}, False),
    ],
)
def test_schema_with_forms_accepts_texts_of_their_form_alone(
    changed: dict[str, object], valid: bool
) -> None:
    document = {"schema_version": "1.0", "ends": ["a", "b"], **changed}
    assert VALIDATOR.is_valid(document) is valid


def test_schema_type_with_the_name_of_a_form_is_refused() -> None:
    line = {"type": "string", "pattern": "^(?:[a-z])$", "maxLength": 1}
    assert with_forms({"Line": line}) == {"Line": line}
    used = KIND.json_schema()["$defs"]["Line"]
    with pytest.raises(ValueError, match="Line: a type has the name of a form of a text"):
        with_forms({"Line": {"type": "object", "properties": {"note": used}}})
