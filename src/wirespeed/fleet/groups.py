# SPDX-License-Identifier: Apache-2.0
"""Group hosts of the same hardware, and find the outliers of a group and their attributes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirespeed.fleet.attributes import Attributes, attributes
from wirespeed.fleet.hardware import hardware_lines
from wirespeed.fleet.verdicts import Verdicts, verdicts
from wirespeed.model.host.snapshot import HostSnapshot, Member

ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Host:
    """The part of a snapshot that is compared; the facts themselves are not kept."""

    member: Member
    collected_at: str
    hardware: str
    lines: tuple[str, ...]
    attributes: Attributes
    verdicts: Verdicts
    wirespeed: str

    @property
    def name(self) -> str:
        return self.member.name


@dataclass(frozen=True, slots=True)
class Difference:
    """An attribute that is not the same on all hosts of a group."""

    trait: str
    usual: str | None
    """Value of more than half of the hosts; None where no value is."""
    count: int
    """Number of hosts with the usual value."""
    others: tuple[tuple[str, tuple[str, ...]], ...]
    """Every other value with its hosts, the rarest first."""


@dataclass(frozen=True, slots=True)
class Group:
    """Hosts of the same hardware."""

    hardware: str
    lines: tuple[str, ...]
    hosts: tuple[Host, ...]
    differences: tuple[Difference, ...]
    apart: str = ""
    """Difference from a larger group with the same CPUs; "" where there is none."""


def host_of(snapshot: HostSnapshot) -> Host:
    """Return the part of a snapshot that is compared."""
    return Host(
        snapshot.member,
        snapshot.collected_at,
        snapshot.hardware,
        hardware_lines(snapshot.facts),
        attributes(snapshot.facts),
        verdicts(snapshot.audit),
        snapshot.versions.get("wirespeed", ""),
    )


def groups(hosts: Iterable[Host]) -> tuple[Group, ...]:
    """Group hosts by hardware, the largest group first."""
    by_hardware: dict[str, list[Host]] = defaultdict(list)
    for host in hosts:
        by_hardware[host.hardware].append(host)
    ordered = sorted(by_hardware.items(), key=lambda item: (-len(item[1]), item[0]))
    found: list[Group] = []
    for hardware, alike in ordered:
        alike.sort(key=lambda host: host.name)
        lines = alike[0].lines
        found.append(Group(hardware, lines, tuple(alike), differences(alike), _apart(lines, found)))
    return tuple(found)


def differences(hosts: list[Host]) -> tuple[Difference, ...]:
    """Return the attributes that differ, those with the fewest outliers first.

    A single outlier is an error more often than half of the hosts are.
    """
    names = dict.fromkeys(name for host in hosts for name in host.attributes)
    found = [
        difference for name in names if (difference := _difference(name, _values(hosts, name)))
    ]
    return tuple(sorted(found, key=lambda one: sum(len(names) for _, names in one.others)))


def _values(hosts: list[Host], name: str) -> dict[str, str]:
    """Return the attribute's value on each host."""
    return {host.name: host.attributes.get(name, ABSENT) for host in hosts}


def _difference(trait: str, values: Mapping[str, str]) -> Difference | None:
    counts = Counter(values.values())
    if len(counts) == 1:
        return None
    most, count = counts.most_common(1)[0]
    usual = most if count * 2 > len(values) else None
    holders: dict[str, list[str]] = defaultdict(list)
    for name, value in values.items():
        if value != usual:
            holders[value].append(name)
    others = sorted(holders.items(), key=lambda item: (len(item[1]), item[0]))
    return Difference(
        trait, usual, count if usual is not None else 0,
        tuple((value, tuple(names)) for value, names in others),
    )  # fmt: skip


def _apart(lines: tuple[str, ...], larger: list[Group]) -> str:
    """Describe the difference from the most similar larger group with the same CPUs."""
    same = [group for group in larger if group.lines[0] == lines[0]]
    if not same:
        return ""
    nearest = min(same, key=lambda group: len(set(group.lines) ^ set(lines)))
    here = ", ".join(line for line in lines if line not in nearest.lines)
    there = ", ".join(line for line in nearest.lines if line not in lines)
    return f"{here or 'nothing'} where {nearest.hardware} has {there or 'nothing'}"
