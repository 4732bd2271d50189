# SPDX-License-Identifier: Apache-2.0
"""Watch the settings of a bench and its host, so that a change under a running point is noticed.

Settings are read as the bench opens and after each trial, and never written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from wirespeed.bench.interface import Part, Poller
from wirespeed.bench.noise.cgroups import groups_of
from wirespeed.model.change import ABSENT, Change
from wirespeed.model.cpuset import format_list, parse_list
from wirespeed.remote.interface import Runner

Settings = Mapping[str, str]

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
# Of each cgroup that may limit a thread, v1 and v2.
_CGROUP_FILES = (
    "cpu.max", "cpu.cfs_quota_us", "cpu.weight", "cpu.shares", "cpuset.cpus", "cpu.idle",
)  # fmt: skip
_POLICIES = {
    os.SCHED_OTHER: "other", os.SCHED_FIFO: "fifo", os.SCHED_RR: "rr",
    os.SCHED_BATCH: "batch", os.SCHED_IDLE: "idle", 6: "deadline",
}  # fmt: skip
_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*(\S+)", re.MULTILINE)


@runtime_checkable
class Configured(Protocol):
    """A part with settings of its own that others may change while it runs."""

    def settings(self) -> Settings:
        """By names for people, without counters."""
        ...


@dataclass(slots=True)
class SettingsWatch:
    """Settings of one host and the parts on it. cpus: those that poll there; where an interrupt may
    come otherwise does not matter. host: "" where there is no other."""

    runner: Runner
    parts: Sequence[Part]
    cpus: Collection[int]
    host: str = ""
    _paths: tuple[str, ...] = ()
    _lasting: Settings = field(default_factory=dict)
    _threads: Settings = field(default_factory=dict)

    def remember(self) -> None:
        """Take the settings as they are now for those that the point asked for."""
        self._paths = self.runner.glob(*_HOST_FILES)
        self._lasting, self._threads = self._read()

    def changes(self) -> tuple[Change, ...]:
        """Settings that differ from the last reading, which this one replaces."""
        lasting, threads = self._read()
        both = self._threads.keys() & threads.keys()  # A program that was restarted has new ones.
        found = (
            *_differences(self._lasting, lasting, {**self._lasting, **lasting}),
            *_differences(self._threads, threads, both),
        )
        self._lasting, self._threads = lasting, threads
        return tuple(Change(*each, host=self.host) for each in found)

    def _read(self) -> tuple[dict[str, str], dict[str, str]]:
        lasting = _host_settings(self.runner, self._paths, self.cpus)
        for part in self.parts:
            if isinstance(part, Configured):
                lasting.update(part.settings())
        pollers = [poller for part in self.parts for poller in part.pollers()]
        return lasting, dict(_thread_settings(self.runner, pollers))


def _differences(
    before: Settings, after: Settings, names: Collection[str]
) -> Iterator[tuple[str, str, str]]:
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


def _thread_settings(runner: Runner, pollers: Sequence[Poller]) -> Iterator[tuple[str, str]]:
    """CPUs, policy, nice value and cgroups of each polling thread, by its name."""
    tids = {poller.tid: poller.name for poller in pollers}
    base = {tid: f"/proc/{tid}/task/{tid}" for tid in tids}
    groups = groups_of(runner, tids)
    directories = {directory for found in groups.values() for directory in found}
    found = runner.read_many([
        *(f"{path}/{name}" for path in base.values() for name in ("status", "stat")),
        *(f"{directory}/{name}" for directory in directories for name in _CGROUP_FILES),
    ])  # fmt: skip
    for tid, name in tids.items():
        status, stat = found[f"{base[tid]}/status"], found[f"{base[tid]}/stat"]
        if not isinstance(status, str) or not isinstance(stat, str):
            continue
        fields = stat.rpartition(")")[2].split()
        allowed = _ALLOWED.search(status)
        yield f"{name}: CPUs", allowed[1] if allowed else ""
        yield f"{name}: policy", _POLICIES.get(int(fields[38]), fields[38])
        yield f"{name}: nice", fields[16]
        yield f"{name}: real-time priority", fields[37]
        yield f"{name}: cgroups", " ".join(groups.get(tid, ())) or "none"
        for directory in groups.get(tid, ()):
            for file in _CGROUP_FILES:
                if isinstance(text := found[f"{directory}/{file}"], str):
                    yield f"{name}: {directory}/{file}", text.strip()
