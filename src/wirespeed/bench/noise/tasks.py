# SPDX-License-Identifier: Apache-2.0
"""Read the run and wait times of each program's tasks and of competing tasks.

The times come from the scheduler in ns (/proc/PID/task/TID/schedstat); /proc/PID/stat has steps of
10 ms. The kernel updates a task's run time at its timer tick, and its wait time when the wait ends.
Both may be some ms late. The list of tasks is read again only after new tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from wirespeed.bench.noise.competing import SERVES
from wirespeed.remote.interface import Runner
from wirespeed.sources.scheduler import allowed_cpus

_ALL = "/proc/[0-9]*/task/[0-9]*/schedstat"
_COMPETES = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """Time that a program's task waited for a CPU since the last reading."""

    program: str
    task: str
    waited_ns: int


@dataclass(slots=True)
class _Task:
    """A task with its last reading."""

    owner: str
    """Name of a program, or _COMPETES."""
    ran_ns: int = 0
    waited_ns: int = 0


class TaskTimes:
    """Reader of the run and wait times of tasks.

    owners: processes of the programs, by id. Any other task that may run on `cpus` competes.
    """

    def __init__(self, runner: Runner, owners: Mapping[int, str], cpus: Collection[int]) -> None:
        self._runner, self._cpus = runner, frozenset(cpus)
        self._owners = dict(owners)
        self._tasks: dict[str, _Task | None] = {}
        self._newest = self._last_pid()
        self._find()
        self.add(runner.read_many(self.paths))

    def own(self, owners: Mapping[int, str]) -> None:
        """Add processes of the bench that started since and were not read yet."""
        self._owners.update(owners)

    @property
    def paths(self) -> tuple[str, ...]:
        """Files to read for `add`."""
        return tuple(path for path, task in self._tasks.items() if task is not None)

    def refresh(self) -> int:
        """Add new tasks; return their approximate number."""
        newest = self._last_pid()
        made = newest - self._newest
        self._newest = newest
        if made:
            self._find()
        # Ids restart after the highest one.
        return max(made, 0)

    def add(self, found: Mapping[str, str | OSError]) -> tuple[tuple[Wait, ...], int]:
        """Return the waits of the programs' tasks, and the run time of competing tasks in ns.

        Both count from the last call. An ended task is dropped.
        """
        waits, competing_ns = [], 0
        for path in self.paths:
            task, text = self._tasks[path], found.get(path)
            if task is None or not isinstance(text, str):
                del self._tasks[path]
                continue
            ran_ns, waited_ns = (int(word) for word in text.split()[:2])
            if task.owner == _COMPETES:
                competing_ns += ran_ns - task.ran_ns
            elif waited_ns > task.waited_ns:
                waits.append(Wait(task.owner, path, waited_ns - task.waited_ns))
            task.ran_ns, task.waited_ns = ran_ns, waited_ns
        return tuple(waits), competing_ns

    def _last_pid(self) -> int:
        """Return the last id given to a process or thread (proc_loadavg(5))."""
        return int(self._runner.read("/proc/loadavg").split()[-1])

    def _find(self) -> None:
        there = self._runner.glob(_ALL)
        new = [path for path in there if path not in self._tasks]
        unowned = [path for path in new if _process(path) not in self._owners]
        statuses = self._runner.read_many([_status(path) for path in unowned])
        for path in new:
            owner = self._owners.get(_process(path))
            if owner is None and self._competes(statuses[_status(path)]):
                owner = _COMPETES
            self._tasks[path] = None if owner is None else _Task(owner)
        for path in self._tasks.keys() - set(there):
            del self._tasks[path]

    def _competes(self, status: str | OSError) -> bool:
        """Return whether the task may run on these CPUs and does not do the bench's own work."""
        if not isinstance(status, str) or allowed_cpus(status).isdisjoint(self._cpus):
            return False
        return not status.partition("\n")[0].partition(":")[2].strip().startswith(SERVES)


def _process(path: str) -> int:
    return int(path.split("/")[2])


def _status(path: str) -> str:
    return path.removesuffix("schedstat") + "status"
