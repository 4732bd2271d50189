# SPDX-License-Identifier: Apache-2.0
"""Read the keys that one type of switch has, in its table sut.vswitch.NAME.

Open vSwitch's own keys are a field of Vswitch instead (model/study/vswitch.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.switch.interface import Factors
from wirespeed.document.own_table import read_own_table
from wirespeed.model.input.fault import Fault
from wirespeed.model.input.own_key import OwnKey
from wirespeed.model.study.spec import Vswitch


def own_keys() -> tuple[str, ...]:
    """Return the dotted keys of all registered types of switches that are not fields of Vswitch."""
    return tuple(
        f"sut.vswitch.{factors.table}.{each.name}"
        for _, factors in _with_tables()
        for each in fields(factors.type)
    )


def take_own(
    raw: dict[str, Any], unknown_key: Callable[[str], str]
) -> tuple[tuple[OwnKey, ...], list[Fault]]:
    """Take these tables out of `raw`; return the keys of the point's switch, and all errors.

    unknown_key: text of the error for a key that does not exist.
    """
    sut = raw.get("sut")
    table = sut.get("vswitch", {}) if isinstance(sut, dict) else {}
    own: tuple[OwnKey, ...] = ()
    faults: list[Fault] = []
    if not isinstance(table, dict):
        return own, faults
    if "own" in table:
        faults.append(Fault("sut.vswitch.own", table.pop("own"), unknown_key("sut.vswitch.own")))
    chosen = table.get("kind", Vswitch().kind)
    for name, factors in _with_tables():
        written = table.pop(factors.table, {})
        if name == chosen:
            where = f"sut.vswitch.{factors.table}"
            own, found = read_own_table(where, factors.type, written, unknown_key)
            faults += found
        elif written:
            allowed = f'goes with sut.vswitch.kind = "{name}"'
            faults.append(Fault(f"sut.vswitch.{factors.table}", "(set)", allowed))
    return own, faults


def _with_tables() -> Iterator[tuple[str, Factors]]:
    for kind in SWITCHES:
        if kind.factors is not None and not kind.factors.in_tree:
            yield kind.name, kind.factors
