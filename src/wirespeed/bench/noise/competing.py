# SPDX-License-Identifier: Apache-2.0
"""How much CPU time did competing processes use, which are not the bench's, and which were they?

Two looks at every process, with what its children used that have ended: then programs that came and
went between the looks count as well (a compiler's, say), by whoever waited for them. ksoftirqd does
not compete: it does the kernel's share of the bench's own traffic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from wirespeed.model.cpuset import parse_list
from wirespeed.model.result.observation import Competitor
from wirespeed.remote.interface import Runner

_TICKS_PER_S = 100  # USER_HZ
_NAMED = 3
# It serves the network for whoever sends and receives.
SERVES = "ksoftirqd/"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process had used by then, in ticks; children: those that it has waited for. cpu: where
    it ran last. started: in ticks since boot."""

    name: str
    parent: int
    own: int
    children: int
    cpu: int = -1
    started: int = 0


@dataclass(frozen=True, slots=True)
class Competing:
    """CPU time in seconds; busiest: the names of those that used most, the first of all first."""

    cpu_s: float
    busiest: tuple[str, ...]


def look(runner: Runner) -> Mapping[int, Usage]:
    """Every process by its id (proc_pid_stat(5))."""
    return _look(runner, "/proc/[0-9]*/stat")


def look_at_tasks(runner: Runner, pids: Collection[int]) -> Mapping[int, Usage]:
    """Every thread of these processes by its id."""
    return _look(runner, *(f"/proc/{pid}/task/[0-9]*/stat" for pid in pids))


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
    """What all but the bench's processes used between two looks, where they may run on these CPUs.

    parent: the process that starts the bench's; what its children used is the bench's.
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
    """Who else used each of these CPUs, and for which share of the time, most first.

    Processes of one name count together, with the PID of the one that used most. A process counts
    where it ran last, with its children that ended between the looks. bench: processes that are
    not told, with their children; us: we, without ours, since what we start on purpose may compete.
    booted_s: see booted_at.
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
    """Return when the host was booted, in s since the epoch (proc_stat(5), btime)."""
    lines = (line.split() for line in runner.read("/proc/stat").splitlines())
    return next((float(words[1]) for words in lines if words[:1] == ["btime"]), 0.0)


def _used(
    before: Mapping[int, Usage], after: Mapping[int, Usage], parent: int
) -> Mapping[int, int]:
    """Ticks by process. Of one that has ended its parent was given all, earlier ticks as well."""
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
    """Those of the processes that these CPUs are open to; one that has just ended counts."""
    statuses = {f"/proc/{pid}/status": pid for pid in pids}
    found = runner.read_many(tuple(statuses))
    return tuple(
        pid
        for path, pid in statuses.items()
        if not isinstance(text := found[path], str) or not allowed_cpus(text).isdisjoint(cpus)
    )


def allowed_cpus(status: str) -> set[int]:
    """The CPUs that a process may use, from its status (proc_pid_status(5))."""
    for line in status.splitlines():
        if line.startswith("Cpus_allowed_list:"):
            return set(parse_list(line.partition(":")[2].strip()))
    return set()
