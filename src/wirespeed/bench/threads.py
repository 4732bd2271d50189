# SPDX-License-Identifier: Apache-2.0
"""How did the kernel treat a thread: was it taken off its CPU, did it wait for one?"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from wirespeed.remote.interface import Runner

_TICK_NS = 10_000_000  # USER_HZ is 100 on every Linux that DPDK runs on


@dataclass(frozen=True, slots=True)
class KernelView:
    """Counts since the thread started. cpu: where it ran last."""

    name: str
    cpu: int
    involuntary_switches: int
    runqueue_wait_ns: int


def threads_of(runner: Runner, pid: int, name: re.Pattern[str]) -> tuple[KernelView, ...]:
    """The process's threads whose names match, by name."""
    found: list[KernelView] = []
    for comm in runner.glob(f"/proc/{pid}/task/*/comm"):
        task = comm.removesuffix("/comm")
        try:
            if name.search(runner.read(comm)):
                found.append(_view(runner, task))
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
    return tuple(sorted(found, key=lambda t: t.name))


def _view(runner: Runner, task: str) -> KernelView:
    status = runner.read(f"{task}/status")
    switches = re.search(r"^nonvoluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)
    # schedstat: time on the CPU, time waiting for one (both ns), number of slices.
    waited = runner.read(f"{task}/schedstat").split()
    stat = runner.read(f"{task}/stat").rpartition(")")[2].split()
    return KernelView(
        name=runner.read(f"{task}/comm").strip(),
        cpu=int(stat[36]),
        involuntary_switches=int(switches[1]) if switches else 0,
        runqueue_wait_ns=int(waited[1]),
    )


def steal_ns(runner: Runner, cpus: Collection[int]) -> int:
    """Time that the hypervisor took from these CPUs since boot (proc_stat(5), 8th column)."""
    total = 0
    for line in runner.read("/proc/stat").splitlines():
        found = re.match(r"cpu(\d+)\s", line)
        if found and int(found[1]) in cpus:
            total += int(line.split()[8]) * _TICK_NS
    return total
