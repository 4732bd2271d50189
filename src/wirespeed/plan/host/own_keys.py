# SPDX-License-Identifier: Apache-2.0
"""Read the keys that a type of vSwitch of a deployment alone has, in its table [vswitch.NAME]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from wirespeed.document.own_table import read_own_table
from wirespeed.model.input.fault import ABSENT, Fault
from wirespeed.model.input.own_key import OwnValue
from wirespeed.model.plan.host_rules import VswitchRules
from wirespeed.model.plan.plan import Decision
from wirespeed.plan.errors import FileFaults


@dataclass(frozen=True, slots=True)
class OwnTable:
    """Table of a workload file with the keys of one type of vSwitch."""

    name: str
    """Name of the table, vswitch.NAME."""
    type: type[Any]
    """Dataclass with a default for each key."""


def own_decisions(rules: VswitchRules, table: OwnTable | None) -> Mapping[str, Decision[OwnValue]]:
    """Return the value of each key of the table, and why; empty without a table.

    Raises FileFaults for unknown keys, values out of range, and tables of another type.
    """
    faults = [
        Fault(f"vswitch.{name}", ABSENT, f'is no table of vswitch.kind = "{rules.kind}"')
        for name in rules.own
        if table is None or name != table.name
    ]
    keys: tuple[tuple[str, OwnValue], ...] = ()
    written: Mapping[str, OwnValue] = {}
    if table is not None:
        where, written = f"vswitch.{table.name}", rules.own.get(table.name, {})
        known = ", ".join(each.name for each in fields(table.type))

        def unknown_key(_key: str) -> str:
            return f"unknown key. Known are: {known}"

        keys, found = read_own_table(where, table.type, dict(written), unknown_key)
        faults += found
    if faults:
        raise FileFaults("workload", faults, "Correct or remove them in the workload file.")
    return {
        key: Decision(value, f"{where}.{key}" if key in written else f"default of {where}.{key}")
        for key, value in keys
    }
