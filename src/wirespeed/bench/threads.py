# SPDX-License-Identifier: Apache-2.0
"""How did the kernel treat a thread: was it taken off its CPU, did it wait for one?"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from wirespeed.remote.interface import Runner

# The names of polling threads: Open vSwitch's, and DPDK's workers before, in and since 22.11.
_POLLERS = re.compile(r"^(pmd-|(lcore|rte|dpdk)-worker)")

_TICK_NS = 10_000_000  # USER_HZ is 100 on every Linux that DPDK runs on


@dataclass(frozen=True, slots=True)
class Thread:
    """tid: the kernel's id of it."""

    tid: int
    name: str


@dataclass(frozen=True, slots=True)
class Treatment:
    """Counts since the thread started. cpu: where it ran last."""

    cpu: int
    involuntary_switches: int
    runqueue_wait_ns: int


def pollers_of(runner: Runner, pid: int) -> tuple[Thread, ...]:
    """The process's polling threads, by name."""
    found: list[Thread] = []
    for comm in runner.glob(f"/proc/{pid}/task/*/comm"):
        try:
            name = runner.read(comm).strip()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        if _POLLERS.search(name):
            found.append(Thread(int(comm.split("/")[-2]), name))
    return tuple(sorted(found, key=lambda t: t.name))


def treatment(runner: Runner, tid: int) -> Treatment:
    """Raises FileNotFoundError or ProcessLookupError when the thread has ended."""
    task = f"/proc/{tid}/task/{tid}"
    status = runner.read(f"{task}/status")
    switches = re.search(r"^nonvoluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)
    # schedstat: time on the CPU, time waiting for one (both ns), number of slices.
    waited = runner.read(f"{task}/schedstat").split()
    stat = runner.read(f"{task}/stat").rpartition(")")[2].split()
    return Treatment(
        cpu=int(stat[36]),
        involuntary_switches=int(switches[1]) if switches else 0,
        runqueue_wait_ns=int(waited[1]),
    )


def steal_ns(runner: Runner, cpus: Collection[int]) -> int:
    """Time that the hypervisor took from these CPUs since boot."""
    by_cpu = steal_by_cpu(runner.read("/proc/stat"))
    return sum(by_cpu.get(cpu, 0) for cpu in cpus)


def steal_by_cpu(stat: str) -> dict[int, int]:
    """The same of each CPU, from the content of /proc/stat (proc_stat(5), 8th column)."""
    lines = (re.match(r"cpu(\d+)((?:\s+\d+){8})", line) for line in stat.splitlines())
    return {int(found[1]): int(found[2].split()[7]) * _TICK_NS for found in lines if found}
