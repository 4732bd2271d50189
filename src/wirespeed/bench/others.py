# SPDX-License-Identifier: Apache-2.0
"""How much CPU time did programs use that are not the bench's, and which ones?

Two looks at every process, with what its children used that have ended: then programs that came and
went between the looks count as well (a compiler's, say), by whoever waited for them. ksoftirqd is
nobody's rival: it does the kernel's share of the bench's own traffic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from wirespeed.model.cpuset import parse_list
from wirespeed.remote.interface import Runner

_TICKS_PER_S = 100  # USER_HZ
_NAMED = 3
_NO_RIVALS = "ksoftirqd/"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process had used by then, in ticks; children: those that it has waited for."""

    name: str
    parent: int
    own: int
    children: int


@dataclass(frozen=True, slots=True)
class Others:
    """CPU time in seconds; busiest: the names of those that used most, the first of all first."""

    cpu_s: float
    busiest: tuple[str, ...]


def look(runner: Runner) -> Mapping[int, Usage]:
    """Every process by its id (proc_pid_stat(5))."""
    found = runner.read_many(runner.glob("/proc/[0-9]*/stat"))
    return {
        int(path.split("/")[2]): _usage(text)
        for path, text in found.items()
        if isinstance(text, str)
    }


def _usage(stat: str) -> Usage:
    head, _, tail = stat.rpartition(")")
    fields = tail.split()
    user, system, children_user, children_system = (int(field) for field in fields[11:15])
    return Usage(
        head.partition("(")[2], int(fields[1]), user + system, children_user + children_system
    )


def others(
    runner: Runner,
    before: Mapping[int, Usage],
    after: Mapping[int, Usage],
    *,
    bench: Collection[int],
    parent: int,
    cpus: Collection[int],
) -> Others:
    """What all but the bench's processes used between two looks, where it may run on these CPUs.

    parent: the process that starts the bench's; what its children used is the bench's.
    """
    used = _used(before, after, parent)
    strange = {
        pid: ticks
        for pid, ticks in used.items()
        if ticks and pid not in bench and not after[pid].name.startswith(_NO_RIVALS)
    }
    rivals = _may_run_on(runner, strange, cpus)
    named: Counter[str] = Counter()
    for pid in rivals:
        named[after[pid].name] += strange[pid]
    busiest = tuple(name for name, ticks in named.most_common(_NAMED) if ticks > 0)
    return Others(max(0, sum(named.values())) / _TICKS_PER_S, busiest)


def _used(
    before: Mapping[int, Usage], after: Mapping[int, Usage], parent: int
) -> Mapping[int, int]:
    """Ticks by process. What one had used before, and that ended, its parent has been given."""
    used = {
        pid: _ticks(now, pid == parent) - _ticks(before.get(pid), pid == parent)
        for pid, now in after.items()
    }
    for pid, was in before.items():
        if pid in after:
            continue
        heir = was.parent
        while heir not in after and heir in before:
            heir = before[heir].parent
        if heir in used and heir != parent:
            used[heir] -= _ticks(was, alone=False)
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
        if not isinstance(text := found[path], str) or not _allowed(text).isdisjoint(cpus)
    )


def _allowed(status: str) -> set[int]:
    for line in status.splitlines():
        if line.startswith("Cpus_allowed_list:"):
            return set(parse_list(line.partition(":")[2].strip()))
    return set()
