# SPDX-License-Identifier: Apache-2.0
"""Expand a study into its points, each with an ID."""

from __future__ import annotations

import dataclasses
import itertools
import json
from copy import deepcopy
from typing import Any

from wirespeed.bench.switch import SWITCHES
from wirespeed.model.frame import FrameSizes
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import NOT_WRITTEN, Vswitch, Workload
from wirespeed.model.study.study import Point, short_hash
from wirespeed.study.keys import parameter_keys, unknown_key
from wirespeed.study.kinds.registry import kind_of
from wirespeed.study.validate import validate_point

MAX_POINTS = 10_000


def expand(base: dict[str, Any], vary: dict[str, Any]) -> tuple[tuple[Point, ...], list[Fault]]:
    """Return the cartesian product of `vary` over `base`, first key slowest, and all errors."""
    faults = _vary_faults(vary)
    if faults:
        return (), faults + validate_point(base)[1]
    points: dict[str, Point] = {}
    for values in itertools.product(*vary.values()):
        chosen = dict(zip(vary, values, strict=True))
        raw = deepcopy(base)
        for key, value in chosen.items():
            set_key(raw, key, value)
        spec, found = validate_point(raw)
        faults += found
        if spec is not None:
            plain = parameters(spec)
            identity = point_id(plain)
            points.setdefault(identity, Point(identity, _label(spec, chosen), spec, plain))
    return (() if faults else tuple(points.values())), faults


def _vary_faults(vary: dict[str, Any]) -> list[Fault]:
    faults = []
    count = 1
    for key, values in vary.items():
        if key not in parameter_keys():
            faults.append(Fault(f'vary."{key}"', values, unknown_key(key)))
        elif not isinstance(values, list) or not values:
            faults.append(Fault(f'vary."{key}"', values, "must be a list of at least one value"))
        else:
            count *= len(values)
    if count > MAX_POINTS:
        faults.append(Fault("vary", f"{count} points", f"at most {MAX_POINTS} points in one study"))
    return faults


def set_key(raw: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key and create missing tables. Raises TypeError if one is not a table."""
    *sections, name = key.split(".")
    for section in sections:
        raw = raw.setdefault(section, {})
        if not isinstance(raw, dict):
            raise TypeError(section)
    raw[name] = value


def parameters(workload: Workload) -> dict[str, Any]:
    """Return the point as nested tables of plain values, in the spelling of a study file.

    Tables that the point does not use are omitted.
    """
    return {name: _plain(table) for name, table in kind_of(workload).tables().items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, FrameSizes):
        return value.written
    if dataclasses.is_dataclass(value):
        return _fields(value) | (_own(value) if isinstance(value, Vswitch) else {})
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _fields(value: Any) -> dict[str, Any]:
    return {
        each.name: _plain(getattr(value, each.name))
        for each in dataclasses.fields(value)
        if each.metadata != NOT_WRITTEN
    }


def _own(vswitch: Vswitch) -> dict[str, Any]:
    """Return the table of the keys that this type of switch alone has, outside of Vswitch."""
    factors = SWITCHES[vswitch.kind].factors
    return {} if factors is None or factors.in_tree else {factors.table: dict(vswitch.own)}


def point_id(parameters: dict[str, Any]) -> str:
    """Return 12 hexadecimal digits that depend on the parameters alone."""
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    return short_hash(canonical)


def _label(workload: Workload, chosen: dict[str, Any]) -> str:
    """Return the point's label.

    It has the kind's heading, then all that the study varies.
    """
    kind = kind_of(workload)
    parts = list(kind.heading)
    for key, value in chosen.items():
        if key == "tcp.wire_bps":
            parts.append(f"{value / 1e9:g} Gbps wire")
        elif key not in kind.in_heading:
            parts.append(f"{key.rpartition('.')[2]} {_word(value)}")
    return ", ".join(parts)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
