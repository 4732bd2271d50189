# SPDX-License-Identifier: Apache-2.0
"""Print a plan's decided values, each with its reason."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.padding import Padding

from wirespeed.cli.console import Text
from wirespeed.model.cpuset import format_list
from wirespeed.model.plan.kubelet import NodeMemory
from wirespeed.model.plan.plan import Decision, HugePages, Plan
from wirespeed.plan.decisions import Step, decisions, dotted

_OWNERS = {"hosts": "host", "guests": "guest", "flavors": "flavor"}


def print_reasons(plan: Plan, console: Console) -> None:
    """Print every decided value with its reason, by host, guest and flavor."""
    by_owner: dict[str, list[tuple[str, Decision[Any]]]] = {}
    for steps, decision in decisions(plan):
        by_owner.setdefault(_owner(steps), []).append((_key(steps), decision))
    for owner, decided in by_owner.items():
        console.print(Text(owner, style="bold"))
        for key, decision in decided:
            text = Text.assemble((key, "cyan"), "  ", _value(key, decision.value))
            console.print(Padding.indent(text, 2))
            console.print(Padding.indent(Text(decision.because, style="dim"), 6))


def _owner(steps: tuple[Step, ...]) -> str:
    return ", ".join(f"{_OWNERS[field]} {item}" for field, item in steps if field in _OWNERS)


def _key(steps: tuple[Step, ...]) -> str:
    """Return the path below the owner, as in vswitch.pmd_cpus or nics[0000:5e:00.0].driver."""
    return dotted(tuple(step for step in steps if step[0] not in _OWNERS))


def _value(key: str, value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    if value and all(isinstance(item, HugePages) for item in value):
        return ", ".join(f"node {p.node}: {p.count} x {p.size_kib} KiB" for p in value)
    if value and all(isinstance(item, NodeMemory) for item in value):
        return ", ".join(f"node {m.node}: {m.bytes >> 20} MiB" for m in value)
    if "memory" not in key and all(isinstance(item, int) for item in value):
        return format_list(value) or "none"
    return ",".join(map(str, value))
