# SPDX-License-Identifier: Apache-2.0
"""Make foreign documents with control characters in their strings."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

# OSC 52 (fills the clipboard), OSC 8 (a link), CR, CSI of C1, DEL, reordering marks, a separator.
PAYLOAD = "\x1b]52;c;QQ==\x07\x1b]8;;http://x\x1b\\\r\x9b31m\x7f\u202e\u2066\u2028"
_RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# Colours of our own, and the terminal's line ends.
_OURS = re.compile(r"\x1b\[[0-9;]*m|\r\n")


def raw(printed: str) -> str:
    """Return every control character in it except newlines, tabs and colours."""
    return "".join(_RAW.findall(_OURS.sub("", printed)))


def string_leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of one string for each place in the schema, with a list's first entry only."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from string_leaves(value, (*path, key))
    elif isinstance(document, list):
        seen: set[tuple[Any, ...]] = set()
        for number, value in enumerate(document):
            for found in string_leaves(value, (*path, number)):
                place = found[len(path) + 1 :]
                if place not in seen:
                    seen.add(place)
                    yield found
    elif isinstance(document, str):
        yield path


def poisoned(document: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy of the document with the payload appended to the string at that path."""
    found = copy.deepcopy(document)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] += PAYLOAD
    return found
