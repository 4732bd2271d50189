# SPDX-License-Identifier: Apache-2.0
"""Which kinds of change does a bench make to a host, and how is each undone?

Undoing compares with what is there now: what is gone already is not an error, and what somebody
else has changed since is left alone.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wirespeed.bench.interface import BenchError
from wirespeed.bench.page_lock import pools_locked
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class Change(ABC):
    """One change; its fields are what JSON can hold."""

    @abstractmethod
    def undo(self, runner: Runner) -> str | None:
        """Undo it. Returns what was done, in one sentence, or None when nothing was left."""

    def relied_on(self, others: Iterable[Change]) -> bool:
        """Whether a living run, which made the changes `others`, needs this one to stand."""
        del others
        return False


@dataclass(frozen=True, slots=True)
class HugePagesAdded(Change):
    """`count` pages were added to one NUMA node's pool."""

    node: int
    size_kib: int
    count: int

    @property
    def pool(self) -> str:
        """The sysfs directory of the pool."""
        return f"/sys/devices/system/node/node{self.node}/hugepages/hugepages-{self.size_kib}kB"

    def undo(self, runner: Runner) -> str | None:
        path = f"{self.pool}/nr_hugepages"
        with pools_locked():
            total = int(runner.read(path))
            given_back = min(self.count, total)
            if given_back == 0:
                return None
            runner.write(path, str(total - given_back))
        return f"gave back {given_back} huge pages of {self.size_kib} KiB on node {self.node}"


@dataclass(frozen=True, slots=True)
class SysctlSet(Change):
    """A file below /proc/sys was set from `was` to `to`."""

    path: str
    was: str
    to: str

    def undo(self, runner: Runner) -> str | None:
        if runner.read(self.path).strip() != self.to:
            return None  # somebody else has set it since
        runner.write(self.path, self.was)
        return f"set {self.path} back to {self.was}"

    def relied_on(self, others: Iterable[Change]) -> bool:
        # That run has noted the same original value and will restore it.
        return any(isinstance(o, SysctlSet) and o.path == self.path for o in others)


@dataclass(frozen=True, slots=True)
class ProcessStarted(Change):
    """A process was started; the start time (clock ticks since boot) tells it from a later
    process with the same number."""

    pid: int
    start_ticks: int
    command: str

    def undo(self, runner: Runner) -> str | None:
        if start_ticks(runner, self.pid) != self.start_ticks:
            return None
        runner.run(["kill", "-KILL", str(self.pid)], check=False)
        deadline = time.monotonic() + 10
        while start_ticks(runner, self.pid) == self.start_ticks:
            if time.monotonic() > deadline:
                raise BenchError(f"process {self.pid} ({self.command}) does not end on SIGKILL")
            time.sleep(0.01)
        return f"ended {self.command} (process {self.pid})"


@dataclass(frozen=True, slots=True)
class DirectoryMade(Change):
    """A directory for sockets and other things that mean nothing once the run is over."""

    path: str

    def undo(self, runner: Runner) -> str | None:
        if not runner.glob(self.path):
            return None
        runner.run(["rm", "-rf", "--one-file-system", "--", self.path])
        return f"removed {self.path}"


@dataclass(frozen=True, slots=True)
class PciBound(Change):
    """A PCI device was taken from the driver `was` ("" for none) and given to vfio-pci."""

    address: str
    was: str

    def undo(self, runner: Runner) -> str | None:
        device = f"/sys/bus/pci/devices/{self.address}"
        if not runner.glob(f"{device}/driver_override"):
            return None  # unplugged
        driver = f"{device}/driver"
        now = os.path.basename(runner.readlink(driver)) if runner.glob(driver) else ""
        runner.write(f"{device}/driver_override", "\n")
        if now == self.was:
            return None
        if now:
            runner.write(f"{driver}/unbind", self.address)
        if self.was:
            runner.write(f"/sys/bus/pci/drivers/{self.was}/bind", self.address)
        return f"gave {self.address} back to {self.was or 'no driver'}"


@dataclass(frozen=True, slots=True)
class NamespaceMade(Change):
    """A network namespace was made (ip-netns(8)); all that is in it goes with it."""

    name: str

    def undo(self, runner: Runner) -> str | None:
        if not runner.glob(f"/run/netns/{self.name}"):
            return None
        runner.run(["ip", "netns", "delete", self.name])
        return f"removed the network namespace {self.name}"


_KINDS: Mapping[str, type[Change]] = {
    kind.__name__: kind
    for kind in (
        HugePagesAdded,
        SysctlSet,
        ProcessStarted,
        DirectoryMade,
        PciBound,
        NamespaceMade,
    )
}


def change_from_json(record: Mapping[str, Any]) -> Change:
    """The change that a journal line describes. Raises BenchError for one of a newer wirespeed."""
    fields = dict(record)
    kind = fields.pop("kind")
    if kind not in _KINDS:
        raise BenchError(
            f"the journal holds a change of kind {kind!r} that this version cannot undo",
            "Run `wirespeed clean` of the version that made it.",
        )
    return _KINDS[kind](**fields)


def start_ticks(runner: Runner, pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None when there is none (or a zombie)."""
    try:
        stat = runner.read(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field, the name in parentheses, may itself hold blanks and parentheses.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])
