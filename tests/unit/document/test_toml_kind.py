# SPDX-License-Identifier: Apache-2.0
"""Check that a TOML file's errors come at once, in one spelling, with its name and advice."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from wirespeed.document.toml_kind import TomlKind
from wirespeed.model.errors import BadInput
from wirespeed.model.input.fault import Fault


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    size: int = 1


KIND = TomlKind(_File.model_validate, "See the manual.")


def test_toml_kind_valid_tables_become_the_model() -> None:
    tables = KIND.tables('name = "a"\nsize = 3\n', "a.toml")
    assert KIND.parse(tables, "a.toml") == _File(name="a", size=3)


def test_toml_kind_other_text_is_rejected_with_file_and_line() -> None:
    with pytest.raises(BadInput, match=r"a\.toml: not TOML: .*line 2") as caught:
        KIND.tables('name = "a"\nsize = ?', "a.toml")
    assert caught.value.next_step == "See the manual."


def test_toml_kind_wrong_keys_are_reported_at_once() -> None:
    with pytest.raises(BadInput) as caught:
        KIND.parse({"size": "many", "colour": "red"}, "a.toml")
    assert caught.value.what.splitlines() == [
        "a.toml: 3 errors",
        "  name: is missing",
        '  size = "many": must be a whole number',
        '  colour = "red": unknown key',
    ]
    assert caught.value.next_step == "See the manual."


def test_toml_kind_errors_are_added_to_those_already_found() -> None:
    found = [Fault("first", 1, "is wrong")]
    assert KIND.read({}, found) is None
    assert [fault.key for fault in found] == ["first", "name"]
