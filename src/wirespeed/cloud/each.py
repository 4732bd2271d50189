# SPDX-License-Identifier: Apache-2.0
"""How is one question asked of many servers or hosts, a few of them at once?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Each(Protocol):
    """The answer of `read` for each item, in the order of the items."""

    def __call__(self, read: Callable[[T], R], items: Iterable[T]) -> list[R]: ...
