# SPDX-License-Identifier: Apache-2.0
"""Read the cgroups of threads: CPU time limits, throttling counters and freezers.

Supports cgroup v1 (cpu.cfs_quota_us, throttled_time in ns, freezer.state) and v2 (cpu.max,
throttled_usec, cgroup.events). Limits of an ancestor apply to a thread as well
(Documentation/admin-guide/cgroup-v2.rst).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from wirespeed.model.result.thread_time import Throttle
from wirespeed.remote.interface import Runner

# Writable settings of v1 and v2.
_SETTINGS = (
    "cpu.max", "cpu.cfs_quota_us", "cpu.weight", "cpu.shares", "cpuset.cpus", "cpu.idle",
    "freezer.state", "cgroup.freeze",
)  # fmt: skip
_FILES = (*_SETTINGS, "cpu.stat", "cpu.cfs_period_us", "cgroup.events", "cgroup.stat.local")
_CONTROLLERS = frozenset({"cpu", "cpuset", "freezer"})
_MOUNT = re.compile(r"^\S+ (?P<at>/\S+) (?P<kind>cgroup2?) (?P<options>\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cgroup:
    """One cgroup with the content of its files."""

    directory: str
    path: str
    """Path within its hierarchy, e.g. "/system.slice"."""
    files: Mapping[str, str] = field(default_factory=dict)

    def settings(self) -> Iterator[tuple[str, str]]:
        """Yield the writable settings, by path of the file."""
        for name in _SETTINGS:
            if name in self.files:
                yield f"{self.directory}/{name}", self.files[name]

    @property
    def throttle(self) -> Throttle | None:
        """Quota with its counters since creation; None without a quota."""
        if "cpu.stat" not in self.files:
            return None
        quota, period = self._quota()
        if quota in ("max", "-1"):
            return None
        counted = self._counters("cpu.stat")
        throttled_ns = counted.get("throttled_time", 1000 * counted.get("throttled_usec", 0))
        times = counted.get("nr_throttled", 0)
        return Throttle(self.path, int(quota), int(period), times, throttled_ns)

    def _quota(self) -> tuple[str, str]:
        second = self.files.get("cpu.max", "").split()
        if len(second) == 2:
            return second[0], second[1]
        return self.files.get("cpu.cfs_quota_us", "max"), self.files.get("cpu.cfs_period_us", "0")

    @property
    def frozen(self) -> bool:
        """A freezer stops its threads now."""
        first = self.files.get("freezer.state", "").startswith("FR")  # FREEZING or FROZEN
        return first or bool(self._counters("cgroup.events").get("frozen", 0))

    @property
    def frozen_us(self) -> int:
        """Total frozen time in µs; 0 before Linux 6.18, which does not report it."""
        return self._counters("cgroup.stat.local").get("frozen_usec", 0)

    def _counters(self, name: str) -> Mapping[str, int]:
        words = self.files.get(name, "").split()
        return dict(zip(words[::2], map(int, words[1::2]), strict=False))


@dataclass(frozen=True, slots=True)
class Cgroups:
    """Cgroups of some threads at one moment, innermost first, without the roots."""

    by_thread: Mapping[int, tuple[Cgroup, ...]]

    def throttled_since(self, before: Cgroups, tid: int) -> Throttle | None:
        """Return the limit that throttled the thread longest between two readings.

        Returns None if no limit was reached.
        """
        then = {each.directory: each.throttle for each in before.by_thread.get(tid, ())}
        reached = [
            _difference(now, then.get(each.directory))
            for each in self.by_thread.get(tid, ())
            if (now := each.throttle) is not None
        ]
        return max((t for t in reached if t.times), key=lambda t: t.throttled_ns, default=None)

    def frozen_since(self, before: Cgroups, tid: int) -> str:
        """Return the path of a cgroup of the thread that is or was frozen; "" if none.

        Only Linux 6.18 and later report a cgroup that was thawed between the readings.
        """
        then = {each.directory: each.frozen_us for each in before.by_thread.get(tid, ())}
        for each in self.by_thread.get(tid, ()):
            if each.frozen or each.frozen_us > then.get(each.directory, 0):
                return each.path
        return ""


def read(runner: Runner, tids: Collection[int]) -> Cgroups:
    """Read the cgroups of these threads; an ended thread has none."""
    paths = {f"/proc/{tid}/task/{tid}/cgroup": tid for tid in tids}
    texts = runner.read_many((*paths, "/proc/mounts"))
    mounts = list(_mounts(texts.pop("/proc/mounts")))
    bare = {
        paths[path]: tuple(_of(text, mounts))
        for path, text in texts.items()
        if isinstance(text, str)
    }
    wanted = dict.fromkeys(each.directory for found in bare.values() for each in found)
    files = runner.read_many([f"{directory}/{name}" for directory in wanted for name in _FILES])
    return Cgroups({
        tid: tuple(Cgroup(e.directory, e.path, _files_of(files, e.directory)) for e in found)
        for tid, found in bare.items()
    })  # fmt: skip


def _files_of(files: Mapping[str, str | OSError], directory: str) -> Mapping[str, str]:
    found = {name: files[f"{directory}/{name}"] for name in _FILES}
    return {name: text.strip() for name, text in found.items() if isinstance(text, str)}


def _mounts(text: str | OSError) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each cgroup mount point with its controllers; no controllers mean version 2."""
    for found in _MOUNT.finditer(text if isinstance(text, str) else ""):
        second = found["kind"] == "cgroup2"
        controllers = _CONTROLLERS.intersection(found["options"].split(","))
        if second or controllers:
            yield found["at"], frozenset() if second else controllers


def _of(text: str, mounts: Collection[tuple[str, frozenset[str]]]) -> Iterator[Cgroup]:
    """Yield each cgroup of a thread and its ancestors, from proc_pid_cgroup(5)."""
    for line in text.splitlines():
        number, names, path = line.split(":", 2)
        controllers = _CONTROLLERS.intersection(names.split(","))
        for at, mounted in mounts:
            if mounted == controllers and (controllers or number == "0"):
                within = PurePosixPath(path)
                ancestors = (within, *within.parents)
                yield from (Cgroup(f"{at}{e}", str(e)) for e in ancestors if str(e) != "/")


def _difference(now: Throttle, before: Throttle | None) -> Throttle:
    if before is None:
        return now
    return Throttle(
        now.cgroup, now.quota_us, now.period_us, now.times - before.times,
        now.throttled_ns - before.throttled_ns,
    )  # fmt: skip
