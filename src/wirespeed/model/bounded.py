# SPDX-License-Identifier: Apache-2.0
"""Parse JSON and TOML that others wrote: bounded in size, depth and integers.

Every reader of a file or an answer goes through here. Errors are ValueError, as those of json and
tomllib are; their text completes "FILE: ...".
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

# A host of 1024 CPUs with an audit is 3 MB, a cloud of 1000 hosts 20 MB; no document of ours nests
# deeper than 16.
MAX_CHARACTERS = 128 << 20
MAX_DEPTH = 64
# As much as 64 bits hold. A much larger one has no floating-point value to calculate with.
MAX_INTEGER = (1 << 64) - 1


class BeyondBounds(ValueError):
    """A document larger or deeper than any that is read, or with a larger integer."""


def load_json(text: str | bytes) -> Any:
    """The value in a JSON text."""
    return _load(text, json.loads)


def load_toml(text: str) -> dict[str, Any]:
    """The table in a TOML text."""
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
