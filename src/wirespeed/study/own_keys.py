# SPDX-License-Identifier: Apache-2.0
"""Read the keys that a type of switch from elsewhere has, in its table sut.vswitch.NAME.

The types of this project have their tables as fields of Vswitch (model/study/spec.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from pydantic import ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails

from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.switch.interface import Factors
from wirespeed.document.validation import dotted, fault_of
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import OwnKey, Vswitch


def own_keys() -> tuple[str, ...]:
    """Return the dotted keys of all registered types of switches that are not fields of Vswitch."""
    return tuple(
        f"sut.vswitch.{factors.table}.{each.name}"
        for _, factors in _elsewhere()
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
    for name, factors in _elsewhere():
        written = table.pop(factors.table, {})
        if name == chosen:
            own, found = _read(factors, written, unknown_key)
            faults += found
        elif written:
            allowed = f'goes with sut.vswitch.kind = "{name}"'
            faults.append(Fault(f"sut.vswitch.{factors.table}", "(set)", allowed))
    return own, faults


def _elsewhere() -> Iterator[tuple[str, Factors]]:
    for kind in SWITCHES:
        if kind.factors is not None and not kind.factors.in_tree:
            yield kind.name, kind.factors


def _read(
    factors: Factors, written: object, unknown_key: Callable[[str], str]
) -> tuple[tuple[OwnKey, ...], list[Fault]]:
    tables: dict[str, Any] = {factors.table: (factors.type, ...)}
    model: Any = create_model(
        "_Own", __config__=ConfigDict(extra="forbid", allow_inf_nan=False), **tables
    )
    try:
        read = model.model_validate({factors.table: written}).model_dump(mode="json")
    except ValidationError as error:
        details = error.errors(include_url=False)
        return (), [_fault(detail, unknown_key) for detail in details]
    return tuple(read[factors.table].items()), []


def _fault(detail: ErrorDetails, unknown_key: Callable[[str], str]) -> Fault:
    key = f"sut.vswitch.{dotted(detail['loc'])}"
    found = fault_of(detail, unknown_key(key))
    return Fault(key, found.value, found.allowed)
