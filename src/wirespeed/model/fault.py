# SPDX-License-Identifier: Apache-2.0
"""What is wrong with one key of a file?"""

from __future__ import annotations

from dataclasses import dataclass

# The value of a key that is not there.
ABSENT = object()


@dataclass(frozen=True, slots=True)
class Fault:
    """One wrong key. `value` is as written, or ABSENT; `allowed` says what would be right."""

    key: str
    value: object
    allowed: str

    def __str__(self) -> str:
        if self.value is ABSENT:
            return f"{self.key}: {self.allowed}"
        return f"{self.key} = {show(self.value)}: {self.allowed}"


def show(value: object) -> str:
    """The value in TOML's spelling (or JSON's null), shortened to one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        text = '"' + value.replace('"', '\\"') + '"'
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(show(item) for item in value) + "]"
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{key} = {show(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, float):
        text = f"{value:.12g}"
    else:
        text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
