# SPDX-License-Identifier: Apache-2.0
"""Sample the counters of a TCP run while it goes on.

Each look reads octets, steal, run-queue waits and CPU time of competing processes within some ms.
It costs about 2.5 ms of CPU time on a small host with 100 tasks, mostly for the processes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.noise.tasks import TaskTimes, Wait
from wirespeed.bench.traffic.tcp.ports import PortCounters
from wirespeed.model.study.tcp import TcpDirection
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
    payload: Mapping[TcpDirection, int]
    """Octets so far, by direction."""
    steal_ns: Mapping[int, int]
    """Steal so far, by CPU."""
    waits: tuple[Wait, ...]
    competing_ns: int
    made: int
    """Number of new tasks."""


class Sampler:
    """Looks at a run repeatedly, first before any client has started."""

    def __init__(self, runner: Runner, programs: Sequence[Program], ports: PortCounters) -> None:
        self._runner, self._ports = runner, ports
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
        found = self._runner.read_many((*self._ports.here, _STAT, *self._tasks.paths))
        ports, stat = self._ports.text(found), found[_STAT]
        if isinstance(ports, str) and isinstance(stat, str):
            payload, steal_ns = self._ports.payload(ports), steal_by_cpu(stat)
            self.looks.append(Look(at_ns, payload, steal_ns, *self._tasks.add(found), made))
