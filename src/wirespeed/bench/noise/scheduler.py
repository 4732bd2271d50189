# SPDX-License-Identifier: Apache-2.0
"""How did the kernel treat a thread: was it taken off its CPU, did it wait for one?"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from wirespeed.remote.interface import Runner

# The names of polling threads: Open vSwitch's, and DPDK's workers before, in and since 22.11.
_POLLERS = re.compile(r"^(pmd-|(lcore|rte|dpdk)-worker)")

_FILES = ("status", "schedstat", "stat")
_STAT = "/proc/stat"
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
    found = runner.read_many(runner.glob(f"/proc/{pid}/task/*/comm"))
    threads = (
        Thread(int(path.split("/")[-2]), text.strip())
        for path, text in found.items()
        if isinstance(text, str) and _POLLERS.search(text)
    )
    return tuple(sorted(threads, key=lambda thread: thread.name))


def kernel_threads(runner: Runner, names: Collection[str]) -> tuple[Thread, ...]:
    """The kernel's threads of these names, e.g. "ksoftirqd/1"."""
    found = runner.read_many(runner.glob("/proc/[0-9]*/comm"))
    threads = (
        Thread(int(path.split("/")[2]), text.strip())
        for path, text in found.items()
        if isinstance(text, str)
    )
    return tuple(thread for thread in threads if thread.name in names)


def on_cpu_ns(runner: Runner, tid: int) -> int:
    """How long a thread has had a CPU since it started."""
    return int(runner.read(f"/proc/{tid}/task/{tid}/schedstat").split()[0])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the kernel has counted so far: by thread, and the time that the hypervisor took."""

    threads: Mapping[int, Treatment]
    steal_ns: int


def snapshot(runner: Runner, tids: Collection[int], cpus: Collection[int]) -> Snapshot:
    """Of these threads and CPUs, all in one reading. Raises OSError when a thread has ended."""
    paths = [f"/proc/{tid}/task/{tid}/{name}" for tid in tids for name in _FILES]
    found: dict[str, str] = {}
    for path, text in runner.read_many([*paths, _STAT]).items():
        if isinstance(text, OSError):
            raise text
        found[path] = text
    stolen = steal_by_cpu(found[_STAT])
    threads = {
        tid: _treatment(*(found[f"/proc/{tid}/task/{tid}/{name}"] for name in _FILES))
        for tid in tids
    }
    return Snapshot(threads, sum(stolen.get(cpu, 0) for cpu in cpus))


def _treatment(status: str, schedstat: str, stat: str) -> Treatment:
    switches = re.search(r"^nonvoluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)
    return Treatment(
        cpu=int(stat.rpartition(")")[2].split()[36]),
        involuntary_switches=int(switches[1]) if switches else 0,
        # Time on the CPU, time waiting for one (both ns), number of slices.
        runqueue_wait_ns=int(schedstat.split()[1]),
    )


def steal_by_cpu(stat: str) -> dict[int, int]:
    """Time that the hypervisor took from each CPU since boot, in ns, from the content of /proc/stat
    (proc_stat(5), 8th column)."""
    lines = (re.match(r"cpu(\d+)((?:\s+\d+){8})", line) for line in stat.splitlines())
    return {int(found[1]): int(found[2].split()[7]) * _TICK_NS for found in lines if found}
