# SPDX-License-Identifier: Apache-2.0
"""Check the requirements of a study's points against a host.

A study's list `needs` holds conditions as text, for every point, or tables for points with certain
values: { when = { KEY = VALUE }, needs = [CONDITION] }. The module is pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.study import Point, flat
from wirespeed.study.keys import parameter_keys, unknown_key

_GIB_KIB, _PAGE_1G_KIB = 1 << 20, 1 << 20


def _cores(facts: HostFacts) -> int:
    usable = [cpu.id for cpu in facts.cpus if cpu.online and cpu.allowed]
    return len({facts.siblings(cpu) for cpu in usable})


# Quantities that a condition may require, and the host's amount; None: the testbed file decides.
CONDITIONS: Mapping[str, tuple[str, Callable[[HostFacts], int] | None]] = {
    "cores": ("physical cores that wirespeed may use", _cores),
    "numa_nodes": ("NUMA nodes", lambda facts: len(facts.nodes)),
    "memory_gib": (
        "GiB of memory", lambda facts: sum(node.memory_kib for node in facts.nodes) // _GIB_KIB,
    ),
    "pages_1g": (
        "NUMA nodes whose kernel has huge pages of 1 GiB",
        lambda facts: sum(node.pool(_PAGE_1G_KIB) is not None for node in facts.nodes),
    ),
    "nics": (
        "physical functions of NICs",
        lambda facts: sum(d.is_nic and d.physical_function is None for d in facts.pci),
    ),
    "sriov_nics": (
        "NICs with SR-IOV", lambda facts: sum(d.is_nic and d.sriov_total > 0 for d in facts.pci),
    ),
    "lab_hosts": ("hosts of a testbed file, --lab FILE", None),
}  # fmt: skip
_CONDITION = re.compile(r"(\w+) >= (\d+)")


@dataclass(frozen=True, slots=True)
class Needs:
    """Conditions of the points with these values, by dotted key; without values, of all points."""

    when: Mapping[str, Any]
    conditions: tuple[str, ...]


def read_needs(written: object, found: list[Fault]) -> tuple[Needs, ...]:
    """Return a study's list `needs`; errors are added to `found`."""
    if not isinstance(written, list):
        found.append(Fault("needs", written, 'must be a list, e.g. ["cores >= 4"]'))
        return ()
    entries = [each if isinstance(each, dict) else {"needs": [each]} for each in written]
    faults = [fault for entry in entries for fault in _faults(entry)]
    found += faults
    if faults:
        return ()
    return tuple(Needs(flat(_when(entry)), tuple(entry["needs"])) for entry in entries)


def _when(entry: Mapping[str, Any]) -> dict[str, Any]:
    return dict(entry.get("when", {}))


def _faults(entry: Mapping[str, Any]) -> Iterator[Fault]:
    when, conditions = entry.get("when", {}), entry.get("needs")
    if (
        not isinstance(when, dict)
        or not isinstance(conditions, list)
        or entry.keys() - {"when", "needs"}
    ):
        allowed = 'must be a condition or { when = { KEY = VALUE }, needs = ["CONDITION"] }'
        yield Fault("needs", dict(entry), allowed)
        return
    for key in flat(when):
        if key not in parameter_keys():
            yield Fault("needs.when", key, unknown_key(key))
    for condition in conditions:
        match = _CONDITION.fullmatch(condition) if isinstance(condition, str) else None
        if match is None or match[1] not in CONDITIONS:
            yield Fault(
                "needs", condition, f"must be NAME >= N, NAME one of {', '.join(CONDITIONS)}"
            )


def needs_of_point(needs: Sequence[Needs], parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the conditions of a point with these parameters."""
    values = flat(dict(parameters))
    conditions = (
        condition
        for each in needs
        if all(values.get(key) == value for key, value in each.when.items())
        for condition in each.conditions
    )
    return tuple(dict.fromkeys(conditions))


def lacking(conditions: Sequence[str], facts: HostFacts, lab_hosts: int = 0) -> str | None:
    """Return the unmet conditions in one sentence; None if the host meets all.

    lab_hosts: number of hosts in the testbed file.
    """
    short = []
    for condition in conditions:
        match = _CONDITION.fullmatch(condition)
        assert match is not None
        meaning, of = CONDITIONS[match[1]]
        has = lab_hosts if of is None else of(facts)
        if has < int(match[2]):
            whose = "there is no testbed file" if not lab_hosts else f"the testbed file has {has}"
            whose = whose if of is None else f"{facts.host} has {has}"
            short.append(f"{condition} ({meaning}; {whose})")
    return f"needs {' and '.join(short)}" if short else None


def without_lab(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the points that require no hosts of a testbed file; others need one."""
    return tuple(
        point
        for point in points
        if not any(CONDITIONS[condition.split()[0]][1] is None for condition in point.needs)
    )
