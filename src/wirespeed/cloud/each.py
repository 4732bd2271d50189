# SPDX-License-Identifier: Apache-2.0
"""Define how to read many servers or hosts, several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Each(Protocol):
    """Returns the result of `read` for each item, in the order of the items."""

    def __call__(self, read: Callable[[T], R], items: Iterable[T]) -> list[R]: ...
