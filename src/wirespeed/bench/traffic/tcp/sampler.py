# SPDX-License-Identifier: Apache-2.0
"""Sample the counters of a TCP run while it goes on.

Each look reads octets, steal, run-queue waits and CPU time of competing processes within some ms.
It costs about 2.5 ms of CPU time on a small host with 100 tasks, mostly for the processes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.noise.tasks import TaskTimes, Wait
from wirespeed.remote.interface import Runner
from wirespeed.sources.scheduler import steal_by_cpu

_STAT = "/proc/stat"


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the test, or the vSwitch."""

    name: str
    cpus: frozenset[int]
    pids: tuple[int, ...] = ()
    """Processes that run before and after the test."""


@dataclass(frozen=True, slots=True)
class Look:
    """Counters at one moment; waits, competing time and new tasks are since the previous look."""

    at_ns: int
    payload: Mapping[str, int]
    """Counts so far, by name: octets by direction."""
    steal_ns: Mapping[int, int]
    """Steal so far, by CPU."""
    waits: tuple[Wait, ...]
    competing_ns: int
    made: int
    """Number of new tasks."""


class Counters(Protocol):
    """Counters of what a test moves, read together with those of noise."""

    @property
    def here(self) -> tuple[str, ...]:
        """Return files to read on the bench's host for `text`."""
        ...

    def text(self, found: Mapping[str, str | OSError]) -> str | OSError:
        """Return the counters as text. found: files that were read on the bench's host."""
        ...

    def payload(self, text: str) -> Mapping[str, int]:
        """Return the counts in that text, by name."""
        ...


class Sampler:
    """Looks at a run repeatedly, first before any client has started."""

    def __init__(self, runner: Runner, programs: Sequence[Program], counters: Counters) -> None:
        self._runner, self._counters = runner, counters
        owners = {pid: program.name for program in programs for pid in program.pids}
        cpus = frozenset[int]().union(*(program.cpus for program in programs))
        self._tasks = TaskTimes(runner, owners, cpus)
        self.looks: list[Look] = []
        self.look()

    def started(self, program: str, pids: Sequence[int]) -> None:
        """Add processes of the program that live only as long as the run."""
        self._tasks.own(dict.fromkeys(pids, program))

    def look(self) -> None:
        """Read all counters once. Record nothing if the ports' namespace is gone."""
        made = self._tasks.refresh()
        # Octets and steal first, at the same moment; reading the tasks takes longer.
        at_ns = time.monotonic_ns()
        found = self._runner.read_many((*self._counters.here, _STAT, *self._tasks.paths))
        ports, stat = self._counters.text(found), found[_STAT]
        if isinstance(ports, str) and isinstance(stat, str):
            payload, steal_ns = self._counters.payload(ports), steal_by_cpu(stat)
            self.looks.append(Look(at_ns, payload, steal_ns, *self._tasks.add(found), made))
