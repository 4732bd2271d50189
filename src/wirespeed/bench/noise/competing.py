# SPDX-License-Identifier: Apache-2.0
"""Measure the CPU time of competing processes, which are not the bench's, and name them.

Each of two readings covers all processes and their ended children. So a program that started and
ended between the readings, e.g. a compiler, counts for the parent that waited for it. ksoftirqd
does not compete, because it carries the bench's own traffic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from wirespeed.model.result.observation import Competitor
from wirespeed.remote.interface import Runner
from wirespeed.sources.scheduler import allowed_cpus

_TICKS_PER_S = 100  # USER_HZ
_NAMED = 3
# Prefix of kernel threads that process network traffic for all programs.
SERVES = "ksoftirqd/"


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU time that a process has used, in ticks."""

    name: str
    parent: int
    own: int
    children: int
    """Time of ended children that it has waited for."""
    cpu: int = -1
    """CPU on which it ran last."""
    started: int = 0
    """Start time in ticks since boot."""


@dataclass(frozen=True, slots=True)
class Competing:
    """CPU time of competing processes."""

    cpu_s: float
    """Sum in seconds."""
    busiest: tuple[str, ...]
    """Names of the processes that used most, most first."""


def look(runner: Runner) -> Mapping[int, Usage]:
    """Return every process by its id (proc_pid_stat(5))."""
    return _look(runner, "/proc/[0-9]*/stat")


def look_at_tasks(runner: Runner, pids: Collection[int]) -> Mapping[int, Usage]:
    """Return every thread of these processes by its id."""
    found = _look(runner, *(f"/proc/{pid}/task/[0-9]*/stat" for pid in pids))
    # The kernel reports the time of ended children for each thread of their parent.
    return {tid: replace(usage, children=0) for tid, usage in found.items()}


def _look(runner: Runner, *patterns: str) -> Mapping[int, Usage]:
    found = runner.read_many(runner.glob(*patterns))
    return {
        int(path.split("/")[-2]): _usage(text)
        for path, text in found.items()
        if isinstance(text, str)
    }


def _usage(stat: str) -> Usage:
    head, _, tail = stat.rpartition(")")
    fields = tail.split()
    user, system, children_user, children_system = (int(field) for field in fields[11:15])
    return Usage(
        head.partition("(")[2], int(fields[1]), user + system, children_user + children_system,
        int(fields[36]), int(fields[19]),
    )  # fmt: skip


def competing(
    runner: Runner,
    before: Mapping[int, Usage],
    after: Mapping[int, Usage],
    *,
    bench: Collection[int],
    parent: int,
    cpus: Collection[int],
) -> Competing:
    """Return the CPU time of processes that may run on these CPUs and are not the bench's.

    parent: process that starts the bench's processes; time of its children is the bench's.
    """
    used = _used(before, after, parent)
    foreign = {
        pid: ticks
        for pid, ticks in used.items()
        if ticks and pid not in bench and not after[pid].name.startswith(SERVES)
    }
    found = _may_run_on(runner, foreign, cpus)
    named: Counter[str] = Counter()
    for pid in found:
        named[after[pid].name] += foreign[pid]
    busiest = tuple(name for name, ticks in named.most_common(_NAMED) if ticks > 0)
    return Competing(max(0, sum(named.values())) / _TICKS_PER_S, busiest)


def by_cpu(
    before: Mapping[int, Usage],
    after: Mapping[int, Usage],
    *,
    bench: Collection[int],
    us: int,
    cpus: Collection[int],
    elapsed_s: float,
    host: str = "",
    booted_s: float = 0.0,
) -> tuple[Competitor, ...]:
    """Return the other programs on each of these CPUs with their time shares, most first.

    Processes of one name are summed, with the PID of the one that used most. A process counts on
    the CPU where it ran last, with its children that ended between the readings. bench: processes
    to ignore, with their children. us: this process, ignored without its children, which may
    compete on purpose. booted_s: see booted_at.
    """
    used: Counter[tuple[str, int]] = Counter()
    most: dict[tuple[str, int], tuple[int, int]] = {}
    ran_by = _used(before, after, us)
    for pid, now in after.items():
        ours = pid == us or pid in bench or now.parent in bench or now.name.startswith(SERVES)
        if not ours and now.cpu in cpus:
            ran = ran_by[pid]
            used[now.name, now.cpu] += ran
            most[now.name, now.cpu] = max(most.get((now.name, now.cpu), (-1, 0)), (ran, pid))
    ticks = elapsed_s * _TICKS_PER_S
    return tuple(
        Competitor(
            name, cpu, min(1.0, ran / ticks), host, pid=most[name, cpu][1],
            started=booted_s + after[most[name, cpu][1]].started / _TICKS_PER_S,
        )
        for (name, cpu), ran in used.most_common(_NAMED)
        if ran > 0 and ticks > 0
    )  # fmt: skip


def booted_at(runner: Runner) -> float:
    """Return the host's boot time in s since the epoch (proc_stat(5), btime)."""
    lines = (line.split() for line in runner.read("/proc/stat").splitlines())
    return next((float(words[1]) for words in lines if words[:1] == ["btime"]), 0.0)


def _used(
    before: Mapping[int, Usage], after: Mapping[int, Usage], parent: int
) -> Mapping[int, int]:
    """Return the ticks of each process.

    All ticks of an ended process were added to its parent, so earlier ticks are subtracted there.
    """
    used = {
        pid: _ticks(now, pid == parent) - _ticks(before.get(pid), pid == parent)
        for pid, now in after.items()
    }
    for pid, was in before.items():
        if pid in after:
            continue
        ancestor = was.parent
        while ancestor not in after and ancestor in before:
            ancestor = before[ancestor].parent
        if ancestor in used and ancestor != parent:
            used[ancestor] -= _ticks(was, alone=False)
    return used


def _ticks(usage: Usage | None, alone: bool) -> int:
    if usage is None:
        return 0
    return usage.own if alone else usage.own + usage.children


def _may_run_on(runner: Runner, pids: Collection[int], cpus: Collection[int]) -> tuple[int, ...]:
    """Return the processes that may run on these CPUs, and those that have just ended."""
    statuses = {f"/proc/{pid}/status": pid for pid in pids}
    found = runner.read_many(tuple(statuses))
    return tuple(
        pid
        for path, pid in statuses.items()
        if not isinstance(text := found[path], str) or not allowed_cpus(text).isdisjoint(cpus)
    )
