# SPDX-License-Identifier: Apache-2.0
"""How does a bench look at a TCP run while it goes on, and what does each look read?

Everything of a look is read within some ms: octets, steal, run-queue waits, CPU time of competing
processes. One costs about 2.5 ms of CPU time on a small host with 100 tasks, mostly for these.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.noise.scheduler import steal_by_cpu
from wirespeed.bench.noise.tasks import TaskTimes, Wait
from wirespeed.bench.traffic.tcp.ports import PortCounters
from wirespeed.model.tcp import TcpDirection
from wirespeed.remote.interface import Runner

_STAT = "/proc/stat"


@dataclass(frozen=True, slots=True)
class Program:
    """One end of the test, or the vSwitch. pids: its processes that run before and after it."""

    name: str
    cpus: frozenset[int]
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """payload, steal_ns: so far, by direction and by CPU. The rest since the look before.

    made: how many tasks are new.
    """

    at_ns: int
    payload: Mapping[TcpDirection, int]
    steal_ns: Mapping[int, int]
    waits: tuple[Wait, ...]
    competing_ns: int
    made: int


class Sampler:
    """Looks at a run again and again. The first look is before any client has started."""

    def __init__(self, runner: Runner, programs: Sequence[Program], ports: PortCounters) -> None:
        self._runner, self._ports = runner, ports
        owners = {pid: program.name for program in programs for pid in program.pids}
        cpus = frozenset[int]().union(*(program.cpus for program in programs))
        self._tasks = TaskTimes(runner, owners, cpus)
        self.looks: list[Look] = []
        self.look()

    def started(self, program: str, pids: Sequence[int]) -> None:
        """Processes of the program that live only as long as the run."""
        self._tasks.own(dict.fromkeys(pids, program))

    def look(self) -> None:
        """Read all counters once. Nothing is noted where the ports' namespace is gone."""
        made = self._tasks.refresh()
        # Octets and steal first, in the same moment; the tasks take longer.
        at_ns = time.monotonic_ns()
        found = self._runner.read_many((*self._ports.here, _STAT, *self._tasks.paths))
        ports, stat = self._ports.text(found), found[_STAT]
        if isinstance(ports, str) and isinstance(stat, str):
            payload, steal_ns = self._ports.payload(ports), steal_by_cpu(stat)
            self.looks.append(Look(at_ns, payload, steal_ns, *self._tasks.add(found), made))
