# SPDX-License-Identifier: Apache-2.0
"""Write a model type as JSON and read it back.

Fields of newer versions have defaults, and dropped fields are ignored, so that old records stay
readable.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode(value: object) -> Any:
    """Return the value as JSON types: objects, lists, text, numbers."""
    kind: Any = type(value)
    return _adapter(kind).dump_python(value, mode="json")


def decode(kind: type[T], data: Any) -> T:
    """Return the value of that type. Raises pydantic's ValidationError for a damaged record."""
    adapter: TypeAdapter[T] = _adapter(kind)  # type: ignore[arg-type]
    return adapter.validate_python(data)
