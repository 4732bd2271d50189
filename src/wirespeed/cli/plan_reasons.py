# SPDX-License-Identifier: Apache-2.0
"""Why does a plan say what it says: every decided value below its owner, with the reason?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from wirespeed.model.cpuset import format_list
from wirespeed.model.plan import Decision, HugePages, Plan

# One step from the plan to a value: the field, and which of its items where it holds several.
Step = tuple[str, str]
_OWNERS = {"hosts": "host", "guests": "guest", "flavors": "flavor"}
_ITEM_NAMES = ("host", "name", "address")


def print_reasons(plan: Plan, console: Console) -> None:
    """Every decided value with its reason, by host, guest and flavor."""
    by_owner: dict[str, list[tuple[str, Decision[Any]]]] = {}
    for steps, decision in _decisions(plan, ()):
        by_owner.setdefault(_owner(steps), []).append((_key(steps), decision))
    for owner, decisions in by_owner.items():
        console.print(Text(owner, style="bold"))
        for key, decision in decisions:
            said = Text.assemble((key, "cyan"), "  ", _value(key, decision.value))
            console.print(Padding.indent(said, 2))
            console.print(Padding.indent(Text(decision.because, style="dim"), 6))


def _decisions(value: Any, steps: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Every Decision below a value, with the steps to it."""
    if isinstance(value, Decision):
        yield steps, value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _decisions(getattr(value, field.name), (*steps, (field.name, "")))
    elif isinstance(value, tuple):
        for item in value:
            names = (getattr(item, key, None) for key in _ITEM_NAMES)
            name = next((n for n in names if isinstance(n, str)), "")
            yield from _decisions(item, (*steps[:-1], (steps[-1][0], name)))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _decisions(item, (*steps[:-1], (steps[-1][0], key)))


def _owner(steps: tuple[Step, ...]) -> str:
    return ", ".join(f"{_OWNERS[field]} {item}" for field, item in steps if field in _OWNERS)


def _key(steps: tuple[Step, ...]) -> str:
    """The rest of the way: vswitch.pmd_cpus, nics[0000:5e:00.0].driver, specs[hw:cpu_policy]."""
    rest = [step for step in steps if step[0] not in _OWNERS]
    return ".".join(f"{field}[{item}]" if item else field for field, item in rest)


def _value(key: str, value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    if value and all(isinstance(item, HugePages) for item in value):
        return ", ".join(f"node {p.node}: {p.count} x {p.size_kib} KiB" for p in value)
    if "memory" not in key and all(isinstance(item, int) for item in value):
        return format_list(value) or "none"
    return ",".join(map(str, value))
