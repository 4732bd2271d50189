# SPDX-License-Identifier: Apache-2.0
"""Tell things of the same name apart by a number."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count


def numbered(name: str, taken: Collection[str]) -> str:
    """Return the name, or the first of name#2, name#3 ... that is not taken."""
    if name not in taken:
        return name
    return next(other for n in count(2) if (other := f"{name}#{n}") not in taken)
