# SPDX-License-Identifier: Apache-2.0
"""Parse foreign JSON, TOML and YAML with bounds on size, depth and integers.

Every reader of a file or an answer uses this module. Errors are ValueError, like those of json and
tomllib; their text completes "FILE: ...".
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

# A host of 1024 CPUs with an audit takes 3 MB, a cloud of 1000 hosts 20 MB. No wirespeed document
# nests deeper than 16 levels.
MAX_CHARACTERS = 128 << 20
MAX_DEPTH = 64
# A much larger integer has no floating-point value to calculate with.
MAX_INTEGER = (1 << 64) - 1
# A JSON integer of more than 64 bits has at least as many digits.
_LONG: Final = re.compile(f"[0-9]{{{len(str(MAX_INTEGER))}}}")
_NULL: Final = "tag:yaml.org,2002:null"


class BeyondBounds(ValueError):
    """A document exceeds the bound on size, depth or integers."""


def load_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError."""
    _check_length(text)
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    return _parsed(text, json.loads, integers=_LONG.search(text) is not None)


def load_toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text. Raises ValueError."""
    _check_length(text)
    table: dict[str, Any] = _parsed(text, tomllib.loads, integers=True)
    return table


def load_yaml(text: str) -> Any:
    """Return the value of a YAML text of one document: scalars are strings, or None for a null.

    Raises ValueError, also for an alias, which may stand for more than memory can hold.
    """
    # A module of 20 ms, which few commands use.
    import yaml

    _check_length(text)
    loader = _yaml_loader()
    depth = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise BeyondBounds("an alias in it: none is read")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise _too_deep()
        return yaml.load(text, Loader=loader)  # noqa: S506 - it makes strings alone
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "no place is known"
        raise ValueError(f"is not YAML: {where}: {error.problem}") from None
    except yaml.YAMLError as error:
        # The next line has a position without a name of the file.
        raise ValueError(f"is not YAML: {str(error).splitlines()[0]}") from None


@cache
def _yaml_loader() -> Any:
    """Return a loader that makes strings of all scalars but nulls."""
    import yaml

    # libyaml's parser is 10 times as fast, and does not bound how deep it calls itself.
    base = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    loader: Any = type("StringsAndNulls", (base,), {})
    loader.add_implicit_resolver(_NULL, re.compile("(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
    loader.add_constructor(_NULL, lambda _loader, _node: None)
    return loader


def _check_length(text: str | bytes) -> None:
    if len(text) > MAX_CHARACTERS:
        raise BeyondBounds(f"{len(text)} characters; at most {MAX_CHARACTERS} are read")


def _parsed(text: str, parse: Callable[[str], Any], *, integers: bool) -> Any:
    try:
        value = parse(text)
    except RecursionError:
        raise _too_deep() from None
    _check_values(value, integers=integers)
    return value


def _check_values(value: Any, *, integers: bool) -> None:
    """Raise BeyondBounds for a value that nests too deep or, if asked, has too large integers.

    A trial reads a hundred thousand numbers, so types are collected a container at a time.
    """
    level: list[Iterable[Any]] = [[value]]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Iterable[Any]] = []
        for items in level:
            kinds = set(map(type, items))
            if integers and int in kinds and any(_too_large(item) for item in items):
                raise BeyondBounds("an integer in it has more than 64 bits")
            if list in kinds or dict in kinds:
                inner += [item for item in items if type(item) is list]
                inner += [item.values() for item in items if type(item) is dict]
        if not inner:
            return
        level = inner
    raise _too_deep()


def _too_large(item: Any) -> bool:
    return isinstance(item, int) and abs(item) > MAX_INTEGER


def _too_deep() -> BeyondBounds:
    return BeyondBounds(f"nested deeper than {MAX_DEPTH} levels; no document of wirespeed is")
