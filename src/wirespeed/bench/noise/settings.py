# SPDX-License-Identifier: Apache-2.0
"""Detect changes to the settings of a bench and its host while a point is measured.

Settings are read when the bench opens and after each trial. They are never written.
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

# Settings of the host that the audit checks and that may affect a trial's rate or loss.
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
# Other programs take pages from the pool and return them; mapped pages stay.
_PAGE_POOL = re.compile(r"/sys/kernel/mm/hugepages/[^/]+/nr_hugepages")


@runtime_checkable
class Configured(Protocol):
    """A component whose settings other programs may change while it runs."""

    def settings(self) -> Settings:
        """Return the settings by their names for people, without counters.

        Raises WirespeedError, OSError or ValueError if the component gives no valid answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """Result of one reading."""

    changes: tuple[Change, ...] = ()
    unknown: tuple[str, ...] = ()
    """Settings that could not be read, one sentence each."""


@dataclass(slots=True)
class _Known:
    """Last reading of the settings."""

    owned: dict[str, Settings] = field(default_factory=dict)
    """Settings of components, host and programs, by owner."""
    threads: ThreadSettings = field(default_factory=dict)
    pages_kib: int = 0
    """Huge page memory that the bench's programs have mapped."""


@dataclass(slots=True)
class SettingsWatch:
    """Settings of one host and of the components on it."""

    runner: Runner
    parts: Sequence[Part]
    cpus: Collection[int]
    """Polling CPUs of the host; interrupt affinity to other CPUs is ignored."""
    host: str = ""
    """Name of the host; "" if it is the only one."""
    _paths: tuple[str, ...] = ()
    _known: _Known = field(default_factory=_Known)

    def remember(self) -> None:
        """Read the settings and keep them as those that the point requested."""
        self._paths = self.runner.glob(*_HOST_FILES)
        self._known, _ = self._read(cgroups.read(self.runner, watched(self.parts)))

    def look(self, groups: Cgroups) -> Look:
        """Compare the settings with the last reading, and replace it.

        groups: cgroups of the watched threads at the end of the traffic. Settings that cannot be
        read count as unchanged.
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
                except (LookupError, TypeError) as error:
                    # The program's answer has another form than this version knows.
                    unknown.append(f"settings of {part.name} are not known: {error!r}")
        owned["host"] = _host_settings(self.runner, self._paths, self.cpus)
        owned["programs"] = program_settings(self.runner, self.parts)
        known = _Known(
            owned,
            thread_settings(self.runner, thread_names(self.runner, self.parts), groups),
            huge_pages_kib(self.runner, self.parts),
        )
        return known, tuple(unknown)


def watched(parts: Sequence[Part]) -> list[int]:
    """Return the ids of polling threads and programs, whose cgroups are watched."""
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
    """Read the host's settings; the affinity of an interrupt is reduced to these CPUs."""
    found = {p: t.strip() for p, t in runner.read_many(paths).items() if isinstance(t, str)}
    for path, text in found.items():
        if _INTERRUPT.fullmatch(path):
            found[path] = format_list(set(parse_list(text)).intersection(cpus)) or "no polling CPU"
    return found
