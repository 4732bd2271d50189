# SPDX-License-Identifier: Apache-2.0
"""Read the kernel's accounting of threads: time on a CPU, waiting, and blocked."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.model.cpuset import parse_list
from wirespeed.model.result.thread_time import ThreadTime
from wirespeed.remote.interface import Runner

# Names of polling threads: Open vSwitch's PMD threads; DPDK's workers before, in and since 22.11.
_POLLERS = re.compile(r"^(pmd-|(lcore|rte|dpdk)-worker)")

_FILES = ("status", "schedstat", "stat")
_STAT = "/proc/stat"
TICK_NS = 10_000_000  # USER_HZ is 100 on every Linux that DPDK runs on


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of a process."""

    tid: int
    """Kernel thread id."""
    name: str


@dataclass(frozen=True, slots=True)
class Treatment:
    """Counters of a thread since it started."""

    cpu: int
    """CPU on which it ran last."""
    involuntary_switches: int
    voluntary_switches: int
    on_cpu_ns: int
    runqueue_wait_ns: int
    state: str
    """State as in /proc, e.g. "R (running)"."""
    tracer: int
    """PID of the tracing program; 0 without one."""
    kernel_ns: int = 0
    """Part of on_cpu_ns in the kernel, in steps of a tick."""
    minor_faults: int = 0
    major_faults: int = 0


def pollers_of(runner: Runner, pid: int) -> tuple[Thread, ...]:
    """Return the polling threads of a process, sorted by name."""
    found = _polling(runner, f"/proc/{pid}/task/*/comm")
    return tuple(sorted((thread for _, thread in found), key=lambda thread: thread.name))


def all_pollers(runner: Runner) -> tuple[tuple[str, Thread], ...]:
    """Return the name of the program and the thread, for every polling thread of the host."""
    found = _polling(runner, "/proc/[0-9]*/task/[0-9]*/comm")
    programs = runner.read_many([f"/proc/{pid}/comm" for pid in {pid for pid, _ in found}])
    named = (
        (programs[f"/proc/{pid}/comm"], thread)
        for pid, thread in sorted(found, key=lambda each: (each[0], each[1].name))
    )
    return tuple((name.strip(), thread) for name, thread in named if isinstance(name, str))


def _polling(runner: Runner, pattern: str) -> list[tuple[int, Thread]]:
    """Return the process and the thread, for each polling thread whose comm matches."""
    return [
        (int(path.split("/")[2]), Thread(int(path.split("/")[-2]), text.strip()))
        for path, text in runner.read_many(runner.glob(pattern)).items()
        if isinstance(text, str) and _POLLERS.search(text)
    ]


def kernel_threads(runner: Runner, names: Collection[str]) -> tuple[Thread, ...]:
    """Return the kernel threads with these names, e.g. "ksoftirqd/1"."""
    found = runner.read_many(runner.glob("/proc/[0-9]*/comm"))
    threads = (
        Thread(int(path.split("/")[2]), text.strip())
        for path, text in found.items()
        if isinstance(text, str)
    )
    return tuple(thread for thread in threads if thread.name in names)


def on_cpu_ns(runner: Runner, tid: int) -> int:
    """Return the CPU time of a thread since it started, in ns."""
    return int(runner.read(f"/proc/{tid}/task/{tid}/schedstat").split()[0])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The kernel's counters by thread, and the steal time."""

    threads: Mapping[int, Treatment]
    steal_ns: int
    at_ns: int = 0
    """Time of the reading, on our monotonic clock."""
    softirq_ns: Mapping[int, int] = field(default_factory=dict)
    """Time in softirqs, by CPU."""
    busy_ns: Mapping[int, int] = field(default_factory=dict)
    """Time that was neither idle nor stolen, by CPU."""


def snapshot(runner: Runner, tids: Collection[int], cpus: Collection[int]) -> Snapshot:
    """Read these threads and CPUs in one pass. Raises OSError if a thread has ended."""
    at_ns = time.monotonic_ns()
    found = _read_all(runner, [*_paths(tids), _STAT])
    stolen = steal_by_cpu(found[_STAT])
    steal_ns = sum(stolen.get(cpu, 0) for cpu in cpus)
    stat = found[_STAT]
    return Snapshot(
        _treatments(found, tids), steal_ns, at_ns, softirq_by_cpu(stat), busy_by_cpu(stat)
    )


def treatments(runner: Runner, tids: Collection[int]) -> Mapping[int, Treatment]:
    """Read these threads in one pass. Raises OSError if a thread has ended."""
    return _treatments(_read_all(runner, _paths(tids)), tids)


def _paths(tids: Collection[int]) -> list[str]:
    return [f"/proc/{tid}/task/{tid}/{name}" for tid in tids for name in _FILES]


def _read_all(runner: Runner, paths: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path, text in runner.read_many(paths).items():
        if isinstance(text, OSError):
            raise text
        found[path] = text
    return found


def _treatments(found: Mapping[str, str], tids: Collection[int]) -> Mapping[int, Treatment]:
    return {
        tid: _treatment(*(found[f"/proc/{tid}/task/{tid}/{name}"] for name in _FILES))
        for tid in tids
    }


_STATUS = re.compile(r"^(\w+):\s*(.*?)\s*$", re.MULTILINE)


def _treatment(status: str, schedstat: str, stat: str) -> Treatment:
    said = dict(_STATUS.findall(status))
    # Time on the CPU, time waiting for one (both ns), number of slices.
    on_cpu, waited, _ = schedstat.split()
    fields = stat.rpartition(")")[2].split()  # from the third field of proc_pid_stat(5) on
    return Treatment(
        cpu=int(fields[36]),
        involuntary_switches=int(said.get("nonvoluntary_ctxt_switches", 0)),
        voluntary_switches=int(said.get("voluntary_ctxt_switches", 0)),
        on_cpu_ns=int(on_cpu),
        runqueue_wait_ns=int(waited),
        state=said.get("State", ""),
        tracer=int(said.get("TracerPid", 0)),
        kernel_ns=int(fields[12]) * TICK_NS,
        minor_faults=int(fields[7]),
        major_faults=int(fields[9]),
    )


def time_between(before: Snapshot, after: Snapshot, tid: int, tracer: str = "") -> ThreadTime:
    """Account for a thread's time between two snapshots that both have it.

    The kernel adds a wait when it ends. A thread that is ready and has not left its CPU voluntarily
    was still waiting for the missing time.
    """
    was, now = before.threads[tid], after.threads[tid]
    elapsed_ns = after.at_ns - before.at_ns
    on_cpu_ns = now.on_cpu_ns - was.on_cpu_ns
    waiting_ns = now.runqueue_wait_ns - was.runqueue_wait_ns
    missing_ns = max(0, elapsed_ns - on_cpu_ns - waiting_ns)
    left_cpu = now.voluntary_switches - was.voluntary_switches
    if not left_cpu and now.state.startswith("R"):
        waiting_ns, missing_ns = waiting_ns + missing_ns, 0
    return ThreadTime(
        elapsed_ns, on_cpu_ns, waiting_ns, missing_ns, left_cpu, now.state, tracer,
        kernel_ns=min(on_cpu_ns, now.kernel_ns - was.kernel_ns),
        minor_faults=now.minor_faults - was.minor_faults,
        major_faults=now.major_faults - was.major_faults,
    )  # fmt: skip


def steal_by_cpu(stat: str) -> dict[int, int]:
    """Return the steal time of each CPU since boot in ns.

    stat: content of /proc/stat (proc_stat(5), 8th column).
    """
    return _time_by_cpu(stat, 7)


def softirq_by_cpu(stat: str) -> dict[int, int]:
    """Return the softirq time of each CPU since boot in ns (proc_stat(5), 7th column)."""
    return _time_by_cpu(stat, 6)


def busy_by_cpu(stat: str) -> dict[int, int]:
    """Return the time of each CPU since boot that was neither idle nor stolen, in ns.

    Programs, the kernel, interrupts and softirqs (proc_stat(5)).
    """
    return {
        cpu: user + nice + system + irq + softirq
        for cpu, (user, nice, system, _, _, irq, softirq, _) in times_by_cpu(stat).items()
    }


def _time_by_cpu(stat: str, column: int) -> dict[int, int]:
    return {cpu: columns[column] for cpu, columns in times_by_cpu(stat).items()}


_CPU_LINE = re.compile(r"cpu(\d+)((?:\s+\d+){8})")


def times_by_cpu(stat: str) -> dict[int, tuple[int, ...]]:
    """Return the first eight columns of each CPU in ns (proc_stat(5)).

    stat: content of /proc/stat; the lines of CPUs begin it.
    """
    found: dict[int, tuple[int, ...]] = {}
    for line in stat.splitlines():
        if not line.startswith("cpu"):
            break
        if match := _CPU_LINE.match(line):
            found[int(match[1])] = tuple(int(ticks) * TICK_NS for ticks in match[2].split())
    return found


def allowed_cpus(status: str) -> set[int]:
    """Return the CPUs that a process may use, from its status (proc_pid_status(5))."""
    for line in status.splitlines():
        if line.startswith("Cpus_allowed_list:"):
            return set(parse_list(line.partition(":")[2].strip()))
    return set()
