# SPDX-License-Identifier: Apache-2.0
"""Derive the keys of a study file from the types of its tables, and from nothing else."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, get_args, get_type_hints

from wirespeed.model.frame import FrameSizes
from wirespeed.model.study.spec import NOT_WRITTEN
from wirespeed.study.kinds.registry import Tables
from wirespeed.study.own_keys import own_keys

# Tables of the study itself, in addition to those of its points.
FORM_TABLES = ("design", "quick", "published")
TOP_LEVEL = ("title", "description", "needs", "vary", "case", "factor", *FORM_TABLES)


def parameter_keys() -> tuple[str, ...]:
    """Return every dotted key of a point, e.g. "sut.impair.rate_fps", in type order.

    Keys of one type of switch are last.
    """
    return _table_keys() + own_keys()


@cache
def _table_keys() -> tuple[str, ...]:
    return tuple(_leaves(Tables, ""))


def _leaves(kind: Any, prefix: str) -> Iterable[str]:
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.metadata == NOT_WRITTEN:
            continue
        inner = without_none(hints[field.name])
        if dataclasses.is_dataclass(inner) and inner is not FrameSizes:
            yield from _leaves(inner, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}"


def without_none(kind: Any) -> Any:
    """Return the table behind an optional one: Tcp for Tcp | None."""
    given = [arg for arg in get_args(kind) if arg is not type(None)]
    return given[0] if len(given) == 1 and dataclasses.is_dataclass(given[0]) else kind


def unknown_key(key: str) -> str:
    """Return the error text for an unknown key: the nearest key, and its neighbours."""
    return _unknown_key(key, parameter_keys())


# Each point of a study has the same unknown key.
@lru_cache(maxsize=64)
def _unknown_key(key: str, known_keys: tuple[str, ...]) -> str:
    if key in TOP_LEVEL:
        return f"{key} can only be set in the file"
    if children := _children(key, known_keys):
        return f"is a table; name a key in it, e.g. {key}.{children[0]}"
    section, _, name = key.rpartition(".")
    siblings = _children(section, known_keys)
    same_name = [known for known in known_keys if known.rpartition(".")[2] == name]
    near = (
        same_name
        or difflib.get_close_matches(name, siblings, n=1)
        or difflib.get_close_matches(key, known_keys, n=1)
    )
    hint = f" Did you mean {near[0]!r}?" if near else ""
    where = f"[{section}] has" if section and siblings else "Allowed are"
    listed = siblings or _children("", known_keys)
    return f"unknown key.{hint} {where}: {', '.join(listed)}"


def _children(section: str, known_keys: tuple[str, ...]) -> list[str]:
    prefix = f"{section}." if section else ""
    names = [known[len(prefix) :] for known in known_keys if known.startswith(prefix)]
    heads = list(dict.fromkeys(name.partition(".")[0] for name in names))
    return heads if section else [*TOP_LEVEL, *heads]
