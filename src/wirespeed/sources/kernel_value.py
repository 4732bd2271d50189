# SPDX-License-Identifier: Apache-2.0
"""Read the value of a kernel file, and compare values that the kernel formats in its own way."""

from __future__ import annotations

import re


def selected(text: str) -> str:
    """Return the value in a kernel file; of a choice such as "always [madvise] never" the chosen
    one.
    """
    chosen = re.search(r"\[(\S+)\]", text)
    return chosen[1] if chosen else text.strip()


def same_value(one: str, other: str) -> bool:
    """Return whether two values are equal but for what the kernel adds to a mask of CPUs."""
    return _plain(one) == _plain(other)


def _plain(value: str) -> str:
    """Return a value without the zeros and commas that the kernel adds to a mask of CPUs."""
    return value.replace(",", "").lstrip("0") if re.fullmatch(r"[0-9a-f,]+", value) else value
