# SPDX-License-Identifier: Apache-2.0
"""Faults by mechanism that a host can do to a polling thread, each by the kernel's own means."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PROGRAMS = Path(__file__).with_name("program.py")
_HOG = Path(__file__).parents[2] / "src/wirespeed/bench/fault/hog_program.py"
_PERIOD_US = 100_000
# In a cgroup the nice value counts no longer: its weight is the most there is.
_WEIGHT = 262_144
_CPU, _FREEZER = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/freezer")


@contextmanager
def limited(tid: int, cpus: float) -> Iterator[None]:
    """Hold the thread in a cgroup (v1) with a CPU quota."""
    group = _CPU / f"limited-{tid}"
    group.mkdir()
    (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
    (group / "cpu.shares").write_text(str(_WEIGHT))
    (group / "cpu.cfs_quota_us").write_text(str(round(cpus * _PERIOD_US)))
    with joined(group, _CPU, "tasks", tid):
        yield


@contextmanager
def frozen(tid: int, for_s: float) -> Iterator[None]:
    """Freeze and thaw the thread in turn by a freezer cgroup (v1)."""
    with joined(_FREEZER / f"frozen-{tid}", _FREEZER, "tasks", tid) as group:
        state = group / "freezer.state"
        with running("write", state, "FROZEN", for_s, "THAWED", for_s):
            yield
        state.write_text("THAWED")


@contextmanager
def joined(group: Path, root: Path, members: str, number: int) -> Iterator[Path]:
    """Hold a process, or a thread, in a cgroup. members: the file that lists those there."""
    group.mkdir(exist_ok=True)
    try:
        (group / members).write_text(str(number))
        yield group
    finally:
        if Path(f"/proc/{number}").exists():
            (root / members).write_text(str(number))
        group.rmdir()


@contextmanager
def traced(tid: int, for_s: float) -> Iterator[None]:
    """Interrupt the thread repeatedly by a debugger."""
    with running("trace", tid, for_s):
        yield


@contextmanager
def interrupted(cpu: int, per_s: int) -> Iterator[None]:
    """Interrupt the CPU by a profiler's timer, per_s times a second."""
    with running("interrupt", cpu, per_s):
        yield


@contextmanager
def hog(cpu: int, share: float) -> Iterator[None]:
    """Take a share of the CPU by a real-time program."""
    with running(cpu, share, 0.04, 0, path=_HOG) as program:
        os.waitid(os.P_PID, program.pid, os.WSTOPPED)
        program.send_signal(signal.SIGCONT)
        yield


@contextmanager
def running(*words: object, path: Path = _PROGRAMS) -> Iterator[subprocess.Popen[str]]:
    """Run a program with these words until the act ends; it says when it is ready."""
    with subprocess.Popen(
        [sys.executable, path, *map(str, words)], stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
            yield program
        finally:
            program.kill()


@contextmanager
def moved(tid: int, cpu: int) -> Iterator[None]:
    os.sched_setaffinity(tid, {cpu})
    yield


@contextmanager
def niced(tid: int, nice: int) -> Iterator[None]:
    os.setpriority(os.PRIO_PROCESS, tid, nice)
    yield


@contextmanager
def scheduled(tid: int, policy: int) -> Iterator[None]:
    os.sched_setscheduler(tid, policy, os.sched_param(0))
    yield
