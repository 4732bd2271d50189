# SPDX-License-Identifier: Apache-2.0
"""Drop values of a host's or cloud's answer that are not of the model's types.

Control characters of a free text are escaped. A value that is not of its form is dropped: an
optional field becomes None, an item leaves its tuple or table. An object that requires the value is
dropped with it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from wirespeed.model.input.fault import show
from wirespeed.model.input.text import LINE, PROSE, Form, printable

T = TypeVar("T")
# Called for each dropped value: its field, and why it is not of its form.
Report = Callable[[str, str], None]
_ABSENT = object()


class NotOfItsForm(ValueError):
    """Raised for a required value that is not of its form."""


def sift(value: T, report: Report) -> T:
    """Return the value of a dataclass without values that are not of their types.

    `report` gets the field of `value` and a sentence for each dropped value. Raises NotOfItsForm
    where a required field is dropped.
    """
    kind: Any = type(value)
    hints, changed = _hints(kind), {}
    for field in fields(value):  # type: ignore[arg-type]
        said: list[str] = []
        kept = _kept(getattr(value, field.name), hints[field.name], said.append)
        if kept is _ABSENT:
            raise NotOfItsForm(f"{field.name}: {'; '.join(said)}")
        for sentence in said:
            report(field.name, sentence)
        if kept is not getattr(value, field.name):
            changed[field.name] = kept
    return replace(value, **changed) if changed else value  # type: ignore[type-var]


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _kept(value: Any, hint: Any, say: Callable[[str], None]) -> Any:
    """Return the value as its type allows it, or _ABSENT where it must be dropped.

    Returns the same object where nothing changes.
    """
    origin, of = get_origin(hint), get_args(hint)
    if origin is Annotated:
        form = next((each for each in of[1:] if isinstance(each, Form)), None)
        return value if form is None else _text(value, form, say)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        inner = next(each for each in of if each is not type(None))
        kept = _kept(value, inner, say)
        return None if kept is _ABSENT and type(None) in of else kept
    if is_dataclass(value):
        return _dataclass(value, say)
    kept = value
    if isinstance(value, tuple):
        kept = tuple(_items(value, of, say))
    elif isinstance(value, Mapping):
        kept = dict(_pairs(value, of, say))
    return value if kept == value else kept


def _text(value: Any, form: Form, say: Callable[[str], None]) -> Any:
    if form.fits(value):
        return value
    if form in (LINE, PROSE) and isinstance(value, str):
        return printable(value, form.longest)
    say(f"{printable(show(value))} is not {form.wanted}")
    return _ABSENT


def _dataclass(value: Any, say: Callable[[str], None]) -> Any:
    try:
        return sift(value, lambda field, sentence: say(f"{field}: {sentence}"))
    except NotOfItsForm as fault:
        say(str(fault))
        return _ABSENT


def _items(
    value: tuple[Any, ...], of: tuple[Any, ...], say: Callable[[str], None]
) -> Iterator[Any]:
    hints = of if of and of[-1] is not Ellipsis else of[:1] * len(value)
    for item, hint in zip(value, hints, strict=True):
        if (kept := _kept(item, hint, say)) is not _ABSENT:
            yield kept


def _pairs(
    value: Mapping[Any, Any], of: tuple[Any, ...], say: Callable[[str], None]
) -> Iterator[tuple[Any, Any]]:
    for key, item in value.items():
        pair = _kept(key, of[0], say), _kept(item, of[1], say)
        if _ABSENT not in pair:
            yield pair
