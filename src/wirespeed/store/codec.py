# SPDX-License-Identifier: Apache-2.0
"""How is a model type written as JSON and read back?

Fields that a newer version added have defaults and fields that it dropped are ignored, so that old
records stay readable.
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
    """The value as JSON types: objects, lists, text, numbers."""
    kind: Any = type(value)
    return _adapter(kind).dump_python(value, mode="json")


def decode(kind: type[T], data: Any) -> T:
    """The value of that type. Raises pydantic's ValidationError when the record is damaged."""
    adapter: TypeAdapter[T] = _adapter(kind)  # type: ignore[arg-type]
    return adapter.validate_python(data)
