# SPDX-License-Identifier: Apache-2.0
"""Parse tables of OVSDB as `ovs-vsctl --format=json` prints them (RFC 7047, 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wirespeed.model.input.bounded import load_json

# A row of a table: plain values, sets as lists, maps as dicts, references as their UUID.
Row = Mapping[str, Any]


def parse_table(text: str) -> list[Row]:
    """Return the rows of a table. Raises ValueError, KeyError, TypeError for another text."""
    table = load_json(text)
    return [dict(zip(table["headings"], map(_value, row), strict=True)) for row in table["data"]]


def _value(raw: Any) -> Any:
    match raw:
        case ["set", list(items)]:
            return [_value(item) for item in items]
        case ["map", list(items)]:
            return {str(key): str(_value(value)) for key, value in items}
        case ["uuid", str(uuid)]:
            return uuid
    return raw
