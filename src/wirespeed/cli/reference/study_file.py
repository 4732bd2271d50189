# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/study-file.md: every section and key, from a study's types."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt

from wirespeed.bench.fault import FAULTS
from wirespeed.bench.function import FUNCTIONS
from wirespeed.bench.placement import PLACEMENTS
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.bench.topology.tcp import PATHS
from wirespeed.cli.reference.markdown import MADE, table
from wirespeed.model.frame import FrameSizes
from wirespeed.model.input.fault import show
from wirespeed.model.kinds import Kinds
from wirespeed.model.study.design import Design, Published, Quick
from wirespeed.model.study.spec import NOT_WRITTEN
from wirespeed.study.keys import without_none
from wirespeed.study.kinds.registry import Tables
from wirespeed.study.needs import CONDITIONS
from wirespeed.study.shipped import shipped_directory, shipped_names

_KINDS: dict[str, Kinds[Any]] = {
    kinds.key: kinds for kinds in (TOPOLOGIES, SWITCHES, FUNCTIONS, PLACEMENTS, PATHS, FAULTS)
}


def study_page() -> str:
    """Return every section and key of a study file."""
    lines = [
        "# Study file\n", MADE,
        "TOML. Every key is optional; an unknown key is an error. `--set section.key=value` "
        "sets a key for one run, in all its points, even where `vary` or a `case` sets it.\n",
        "| key | value | meaning |\n|---|---|---|",
        "| `title` | text | the question that the study answers |",
        "| `description` | text | what to know before running it and reading its results |",
        "| `vary` | table of lists | the study has a point for each combination of the values, "
        'e.g. `"traffic.frame" = [64, 1518]` |',
        "| `case` | list of tables | values that belong together, each table written `[[case]]`: "
        "the study has all points of `vary` for each case. Its own `vary = { KEY = [...] }` lists "
        "levels of this case alone |",
        "| `factor` | list of tables | two-level factors, each table written `[[factor]]`: `name`, "
        "and the keys that it sets where it is on; where it is off they are the study's own. "
        "`[design]` says which combinations are measured, for each case and all of `vary` |",
        "| `needs` | list | what a host must have for points to be run there: conditions of all "
        'points as text, `"cores >= 4"`, and of points with certain values as tables, '
        '`{ when = { "topology.vnfs" = 8 }, needs = ["cores >= 11"] }`. A point that this host '
        "cannot have is *not run*, with the reason; the rest is run |\n",
        "A condition is NAME >= N. "
        + "; ".join(f"`{name}`: {meaning}" for name, (meaning, _) in CONDITIONS.items()) + ".\n",
    ]  # fmt: skip
    for name, kind in {"design": Design, "quick": Quick, "published": Published}.items():
        lines += _section(name, kind)
    for name, kind in get_type_hints(Tables).items():
        lines += _section(name, without_none(kind))
    for switch in SWITCHES:
        if (factors := switch.factors) is not None and not factors.in_tree:
            lines += _section(f"sut.vswitch.{factors.table}", factors.type)
    lines += ["## Shipped studies\n"]
    for name in shipped_names():
        text = (shipped_directory() / f"{name}.toml").read_text(encoding="utf-8")
        lines += [f"### {name}\n", f"```toml\n{text.partition(chr(10))[2].strip()}\n```\n"]
    return "\n".join(lines).rstrip() + "\n"


def _section(path: str, kind: Any) -> Iterator[str]:
    words = _field_docs(kind)
    hints = get_type_hints(kind, include_extras=True)
    yield f"## [{path}]\n"
    yield f"{' '.join((kind.__doc__ or '').split())}\n"
    rows, inner = [], []
    for field in dataclasses.fields(kind):
        if field.metadata == NOT_WRITTEN:
            continue
        plain = hints[field.name]
        if dataclasses.is_dataclass(plain) and plain is not FrameSizes:
            inner.append((f"{path}.{field.name}", plain))
            continue
        default = _default(field)
        values, meaning = _type_words(plain), words.get(field.name, "")
        if (kinds := _KINDS.get(f"{path}.{field.name}")) is not None:
            values = ", ".join(f'`"{each.name}"`' for each in kinds)
            meaning += " " + "; ".join(f"{each.name}: {each.summary}" for each in kinds) + "."
        rows.append((f"`{field.name}`", values, default, meaning))
    if rows:
        yield from table(("key", "value", "default", "meaning"), rows)
    for name, section in inner:
        yield from _section(name, section)


def _field_docs(kind: Any) -> dict[str, str]:
    """Return the string below each field of a class."""
    tree = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(tree, ast.ClassDef)
    docs = {}
    for field, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr):
            assert isinstance(field.target, ast.Name)
            docs[field.target.id] = " ".join(str(ast.literal_eval(after.value)).split())
    return docs


def _type_words(kind: Any) -> str:
    """Return the type of a key as text."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return f"{_type_words(args[0])} {_bounds(args[1:])}".strip()
    if origin in (Union, types.UnionType):
        return _type_words(next(arg for arg in args if arg is not type(None)))
    if origin is tuple:
        return f"list of {_type_words(args[0])}"
    if kind is FrameSizes:
        return "integer or genome"
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return ", ".join(f'`"{member}"`' for member in kind)
    words = {int: "integer", float: "number", bool: "`true` or `false`", str: "text"}
    return "table" if origin is Mapping else words[kind]


def _bounds(metadata: tuple[Any, ...]) -> str:
    found = []
    for bound in metadata:
        match bound:
            case Ge(low):
                found.append(f"from {low:g}")
            case Gt(low):
                found.append(f"above {low:g}")
            case Le(high):
                found.append(f"to {high:.7g}")
            case Lt(high):
                found.append(f"below {high:g}")
    return " ".join(found)


def _default(field: dataclasses.Field[Any]) -> str:
    value = field.default
    if value is dataclasses.MISSING:
        assert field.default_factory is not dataclasses.MISSING
        value = field.default_factory()
    if isinstance(value, FrameSizes):
        return f"`{value.text}`"
    return "" if value is None else f"`{show(value)}`"
