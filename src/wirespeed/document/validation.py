# SPDX-License-Identifier: Apache-2.0
"""Translate pydantic's report of one key into wirespeed's words."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from wirespeed.model.input.fault import ABSENT, Fault

# pydantic's error types; a key of a dataclass is an argument to it.
UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
MISSING = frozenset({"missing", "missing_argument"})
NO_TABLE = frozenset({"dataclass_type", "dataclass_exact_type", "model_type", "dict_type"})
NO_LIST = frozenset({"tuple_type", "list_type", "set_type", "frozen_set_type"})
# Words for what a value must be; pydantic's are Python's ("a valid tuple").
MUST_BE = {
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "float_parsing": "a number",
} | dict.fromkeys(NO_LIST, "a list, [...]")


def dotted(location: tuple[int | str, ...]) -> str:
    """Return a location in a document, e.g. "cpus.3.node"; items of lists count from 0."""
    return ".".join(map(str, location))


def faults_of(error: ValidationError, *, outer: int = 0) -> list[str]:
    """Return everything that pydantic reports, a sentence for each key."""
    return [str(fault_of(each, outer=outer)) for each in error.errors(include_url=False)]


def fault_of(detail: ErrorDetails, unknown: str = "unknown key", *, outer: int = 0) -> Fault:
    """Return the error of one key.

    unknown: the message for an unknown key. outer: number of leading parts of the location that the
    message leaves out.
    """
    key = dotted(detail["loc"][outer:])
    if detail["type"] == "json_invalid":
        return Fault(key or "its text", ABSENT, f"is not JSON: {detail['ctx']['error']}")
    if detail["type"] in MISSING:
        return Fault(key, ABSENT, "is missing")
    if detail["type"] in UNKNOWN:
        return Fault(key, detail["input"], unknown)
    # pydantic calls any value that was not JSON a dictionary; here it was TOML, a table.
    if detail["type"] in NO_TABLE and "dictionary" in detail["msg"]:
        return Fault(key, detail["input"], f"must be a table, written [{key}]")
    if detail["type"] in MUST_BE:
        return Fault(key, detail["input"], f"must be {MUST_BE[detail['type']]}")
    message = detail["msg"].removeprefix("Value error, ").replace("Input should", "must", 1)
    return Fault(key, detail["input"], message)
