# SPDX-License-Identifier: Apache-2.0
"""Watch the settings of a bench and its host, so that a change under a running point is noticed.

Settings are read as the bench opens and after each trial, and never written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, runtime_checkable

from wirespeed.bench.interface import Part
from wirespeed.bench.noise import cgroups
from wirespeed.bench.noise.cgroups import Cgroups
from wirespeed.bench.noise.program_settings import (
    ThreadSettings,
    huge_pages_kib,
    program_settings,
    thread_names,
    thread_settings,
)
from wirespeed.model.cpuset import format_list, parse_list
from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.change import ABSENT, Change
from wirespeed.remote.interface import Runner

Settings = Mapping[str, str]
K = TypeVar("K", bound=Hashable)

# Of the host: what its audit looks at and a trial's speed or loss may depend on.
_HOST_FILES = (
    "/proc/sys/kernel/numa_balancing", "/proc/sys/kernel/sched_rt_runtime_us",
    "/proc/sys/kernel/sched_autogroup_enabled", "/proc/sys/kernel/nmi_watchdog",
    "/proc/sys/kernel/timer_migration", "/proc/sys/vm/stat_interval",
    "/proc/sys/net/core/netdev_max_backlog", "/proc/sys/net/core/netdev_budget",
    "/proc/sys/net/core/rmem_max", "/proc/sys/net/core/wmem_max",
    "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/mm/ksm/run",
    "/sys/kernel/mm/hugepages/*/nr_hugepages", "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/smt/control", "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
    "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_m[ai][xn]_freq",
    "/proc/irq/[0-9]*/smp_affinity_list",
)  # fmt: skip
_INTERRUPT = re.compile(r"/proc/irq/\d+/smp_affinity_list")
# Other programs take and give back pages of the pool; those that are mapped stay.
_PAGE_POOL = re.compile(r"/sys/kernel/mm/hugepages/[^/]+/nr_hugepages")


@runtime_checkable
class Configured(Protocol):
    """A part with settings of its own that others may change while it runs."""

    def settings(self) -> Settings:
        """Return them by names for people, without counters.

        Raises WirespeedError, OSError or ValueError where the part does not answer as it should.
        """
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the settings found. unknown: what could not be read, a sentence each."""

    changes: tuple[Change, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(slots=True)
class _Known:
    """Settings as read last, by who has them. pages_kib: huge pages that the bench's programs have
    mapped."""

    owned: dict[str, Settings] = field(default_factory=dict)
    threads: ThreadSettings = field(default_factory=dict)
    pages_kib: int = 0


@dataclass(slots=True)
class SettingsWatch:
    """Settings of one host and the parts on it. cpus: those that poll there; where an interrupt may
    come otherwise does not matter. host: "" where there is no other."""

    runner: Runner
    parts: Sequence[Part]
    cpus: Collection[int]
    host: str = ""
    _paths: tuple[str, ...] = ()
    _known: _Known = field(default_factory=_Known)

    def remember(self) -> None:
        """Take the settings as they are now for those that the point asked for."""
        self._paths = self.runner.glob(*_HOST_FILES)
        self._known, _ = self._read(cgroups.read(self.runner, watched(self.parts)))

    def look(self, groups: Cgroups) -> Look:
        """Compare with the last reading, which this one replaces. groups: of the threads watched,
        as the traffic ended.

        What cannot be read is taken for what it was last.
        """
        before, (now, unknown) = self._known, self._read(groups)
        self._known = now
        found: list[tuple[str, str, str]] = []
        for owner, are in now.owned.items():
            were = before.owned.get(owner, are)
            found += _differences(were, are, {**were, **are})
        both = before.threads.keys() & now.threads.keys()
        differing = _differences(before.threads, now.threads, both)
        found += [(name, was, is_now) for (_, name), was, is_now in differing]
        own_pages = before.pages_kib != now.pages_kib
        changes = tuple(
            Change(*each, self.host, own_pages or not _PAGE_POOL.fullmatch(each[0]))
            for each in found
        )
        return Look(changes, unknown)

    def _read(self, groups: Cgroups) -> tuple[_Known, tuple[str, ...]]:
        owned, unknown = dict(self._known.owned), []
        for part in self.parts:
            if isinstance(part, Configured):
                try:
                    owned[part.name] = part.settings()
                except (WirespeedError, OSError, ValueError) as error:
                    unknown.append(f"settings of {part.name} are not known: {error}")
        owned["host"] = _host_settings(self.runner, self._paths, self.cpus)
        owned["programs"] = program_settings(self.runner, self.parts)
        known = _Known(
            owned,
            thread_settings(self.runner, thread_names(self.runner, self.parts), groups),
            huge_pages_kib(self.runner, self.parts),
        )
        return known, tuple(unknown)


def watched(parts: Sequence[Part]) -> list[int]:
    """Return whose cgroups tell: polling threads and the programs themselves, by id."""
    pollers = (poller.tid for part in parts for poller in part.pollers())
    return list(dict.fromkeys((*pollers, *(pid for part in parts for pid in part.programs))))


def _differences(
    before: Mapping[K, str], after: Mapping[K, str], names: Collection[K]
) -> Iterator[tuple[K, str, str]]:
    for name in names:
        was, now = before.get(name, ABSENT), after.get(name, ABSENT)
        if was != now:
            yield name, was, now


def _host_settings(runner: Runner, paths: Sequence[str], cpus: Collection[int]) -> dict[str, str]:
    """Of an interrupt, which of these CPUs it may come to."""
    found = {p: t.strip() for p, t in runner.read_many(paths).items() if isinstance(t, str)}
    for path, text in found.items():
        if _INTERRUPT.fullmatch(path):
            found[path] = format_list(set(parse_list(text)).intersection(cpus)) or "no polling CPU"
    return found
