# SPDX-License-Identifier: Apache-2.0
"""Parse foreign JSON and TOML with bounds on size, depth and integers.

Every reader of a file or an answer uses this module. Errors are ValueError, like those of json and
tomllib; their text completes "FILE: ...".
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

# A host of 1024 CPUs with an audit takes 3 MB, a cloud of 1000 hosts 20 MB. No wirespeed document
# nests deeper than 16 levels.
MAX_CHARACTERS = 128 << 20
MAX_DEPTH = 64
# A much larger integer has no floating-point value to calculate with.
MAX_INTEGER = (1 << 64) - 1


class BeyondBounds(ValueError):
    """A document exceeds the bound on size, depth or integers."""


def load_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError."""
    return _load(text, json.loads)


def load_toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text. Raises ValueError."""
    table: dict[str, Any] = _load(text, tomllib.loads)
    return table


def _load(text: Any, parse: Callable[[Any], Any]) -> Any:
    if len(text) > MAX_CHARACTERS:
        raise BeyondBounds(f"{len(text)} characters; at most {MAX_CHARACTERS} are read")
    try:
        value = parse(text)
    except RecursionError:
        raise _too_deep() from None
    _check_values(value)
    return value


def _check_values(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for container in level
            if isinstance(container, dict | list)
            for item in (container.values() if isinstance(container, dict) else container)
        ]
        if any(isinstance(item, int) and abs(item) > MAX_INTEGER for item in level):
            raise BeyondBounds("an integer in it has more than 64 bits")
        if not level:
            return
    raise _too_deep()


def _too_deep() -> BeyondBounds:
    return BeyondBounds(f"nested deeper than {MAX_DEPTH} levels; no document of wirespeed is")
