# SPDX-License-Identifier: Apache-2.0
"""Read which cgroups limit the CPU time of threads, and how often each limit was reached.

cgroup v1 (cpu.cfs_quota_us, throttled_time in ns) and v2 (cpu.max, throttled_usec); a limit of any
ancestor holds for a thread as well (Documentation/admin-guide/cgroup-v2.rst).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from wirespeed.model.thread_time import Throttle
from wirespeed.remote.interface import Runner

_FILES = ("cpu.stat", "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us")
_MOUNT = re.compile(r"^\S+ (?P<at>/\S+) (?P<kind>cgroup2?) (?P<options>\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CpuLimits:
    """Limits of some threads at one moment: by thread, the counters of each cgroup with a quota."""

    by_thread: Mapping[int, Mapping[str, Throttle]]

    def since(self, before: CpuLimits, tid: int) -> Throttle | None:
        """The limit that stopped the thread's cgroup longest between two readings.

        None where no limit was reached.
        """
        reached = [
            _difference(now, before.by_thread.get(tid, {}).get(path))
            for path, now in self.by_thread.get(tid, {}).items()
        ]
        return max((t for t in reached if t.times), key=lambda t: t.throttled_ns, default=None)


def cpu_limits(runner: Runner, tids: Collection[int]) -> CpuLimits:
    """Read the limits of these threads; a thread that has ended has none."""
    mounts = list(_mounts(runner))
    groups = {tid: tuple(_directories(text, mounts)) for tid, text in _groups(runner, tids).items()}
    wanted = {directory for found in groups.values() for directory, _ in found}
    files = runner.read_many([f"{directory}/{name}" for directory in wanted for name in _FILES])
    return CpuLimits({
        tid: {path: t for directory, path in found if (t := _throttle(files, directory, path))}
        for tid, found in groups.items()
    })  # fmt: skip


def groups_of(runner: Runner, tids: Collection[int]) -> Mapping[int, tuple[str, ...]]:
    """Directories of the cgroups that may limit the CPU time of each thread, innermost first."""
    mounts = list(_mounts(runner))
    return {
        tid: tuple(directory for directory, _ in _directories(text, mounts))
        for tid, text in _groups(runner, tids).items()
    }


def _groups(runner: Runner, tids: Collection[int]) -> Mapping[int, str]:
    paths = {f"/proc/{tid}/task/{tid}/cgroup": tid for tid in tids}
    found = runner.read_many(tuple(paths))
    return {paths[path]: text for path, text in found.items() if isinstance(text, str)}


def _mounts(runner: Runner) -> Iterator[tuple[str, bool]]:
    """Yield where cgroups with a cpu controller may be mounted, and whether as version 2."""
    for found in _MOUNT.finditer(runner.read("/proc/mounts")):
        second = found["kind"] == "cgroup2"
        if second or "cpu" in found["options"].split(","):
            yield found["at"], second


def _directories(text: str, mounts: Collection[tuple[str, bool]]) -> Iterator[tuple[str, str]]:
    """The directory and the path of each cgroup of a thread and its ancestors; not of the root."""
    for line in text.splitlines():
        number, controllers, path = line.split(":", 2)
        second = number == "0"
        if not second and "cpu" not in controllers.split(","):
            continue
        within = PurePosixPath(path)
        for at, is_second in mounts:
            if is_second is second:
                ancestors = (within, *within.parents)
                yield from ((f"{at}{each}", str(each)) for each in ancestors if str(each) != "/")


def _throttle(files: Mapping[str, str | OSError], directory: str, path: str) -> Throttle | None:
    """The counters of a cgroup; None where it has no quota."""
    read = {name: files.get(f"{directory}/{name}") for name in _FILES}
    words = {name: text.split() for name, text in read.items() if isinstance(text, str)}
    quota, period = words.get("cpu.max") or [
        *words.get("cpu.cfs_quota_us", ["-1"]), *words.get("cpu.cfs_period_us", ["100000"]),
    ]  # fmt: skip
    if quota in ("max", "-1"):
        return None
    counts = words.get("cpu.stat", [])
    counted = dict(zip(counts[::2], map(int, counts[1::2]), strict=False))
    throttled_ns = counted.get("throttled_time", 1000 * counted.get("throttled_usec", 0))
    times = counted.get("nr_throttled", 0)
    return Throttle(path, int(quota), int(period), times, throttled_ns)


def _difference(now: Throttle, before: Throttle | None) -> Throttle:
    if before is None:
        return now
    return Throttle(
        now.cgroup, now.quota_us, now.period_us, now.times - before.times,
        now.throttled_ns - before.throttled_ns,
    )  # fmt: skip
