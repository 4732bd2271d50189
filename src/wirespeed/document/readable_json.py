# SPDX-License-Identifier: Apache-2.0
"""Write JSON for people: a value on one line where it fits, else each part on its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

_WIDTH = 120
_STEP = 2


def readable_json(value: object) -> str:
    """Return the value as JSON of lines of at most 120 characters, but for longer texts."""
    return _text(value, 0, 0) + "\n"


def _filled(words: Iterable[str], width: int) -> Iterator[str]:
    """Yield lines of as many words as fit, with commas between them."""
    line = ""
    for word in words:
        if line and len(f"{line}, {word},") > width:
            yield line
            line = word
        else:
            line = f"{line}, {word}" if line else word
    yield line


def _text(value: object, indent: int, before: int) -> str:
    """Return a value that begins in column `indent + before`."""
    line = json.dumps(value)
    # One more for the comma.
    if indent + before + len(line) + 1 <= _WIDTH or not isinstance(value, dict | list | tuple):
        return line
    inner = indent + _STEP
    if isinstance(value, dict):
        keys = {json.dumps(key) + ": ": part for key, part in value.items()}
        parts = [key + _text(part, inner, len(key)) for key, part in keys.items()]
    elif any(isinstance(part, dict | list | tuple) for part in value):
        parts = [_text(part, inner, 0) for part in value]
    else:
        parts = list(_filled([json.dumps(part) for part in value], _WIDTH - inner))
    begin, end = "{}" if isinstance(value, dict) else "[]"
    joined = ",\n".join(" " * inner + part for part in parts)
    return f"{begin}\n{joined}\n{' ' * indent}{end}"
