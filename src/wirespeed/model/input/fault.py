# SPDX-License-Identifier: Apache-2.0
"""Define an error in one key of a file."""

from __future__ import annotations

from dataclasses import dataclass

# Value of a missing key.
ABSENT = object()


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in one key."""

    key: str
    value: object
    """Value as written, or ABSENT."""
    allowed: str
    """Allowed values, completing the error message."""

    def __str__(self) -> str:
        if self.value is ABSENT:
            return f"{self.key}: {self.allowed}"
        return f"{self.key} = {show(self.value)}: {self.allowed}"


def show(value: object) -> str:
    """Return the value in TOML's spelling (None as JSON's null), shortened to 80 characters."""
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
