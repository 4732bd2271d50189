# SPDX-License-Identifier: Apache-2.0
"""Which kinds of change does a bench make to a host, and how is each undone?

Undoing compares with what is there now: what is gone already is not an error, and what somebody
else has changed since is left alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wirespeed.bench.host.change import Change
from wirespeed.bench.host.network_changes import (
    InterfaceMade,
    InterfaceMoved,
    InterfaceSet,
    NamespaceMade,
)
from wirespeed.bench.host.vf_changes import VfSet, VfsMade
from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import Runner
from wirespeed.remote.pci import SYS_PCI

# While programs of one run take the pages that it found free, no other run adds pages or gives some
# back, which would be just those. One for the host, whoever runs: the pages are the host's, too.
POOLS_LOCK = "/run/lock/wirespeed-huge-pages"


@dataclass(frozen=True, slots=True)
class HugePagesAdded(Change):
    """`count` pages were added to one NUMA node's pool."""

    node: int
    size_kib: int
    count: int

    def __str__(self) -> str:
        return f"{self.count} huge pages of {self.size_kib} KiB on node {self.node}"

    @property
    def pool(self) -> str:
        """The sysfs directory of the pool."""
        return f"/sys/devices/system/node/node{self.node}/hugepages/hugepages-{self.size_kib}kB"

    def undo(self, runner: Runner) -> str | None:
        path = f"{self.pool}/nr_hugepages"
        with runner.lock(POOLS_LOCK):
            total = int(runner.read(path))
            given_back = min(self.count, total)
            if given_back == 0:
                return None
            runner.write(path, str(total - given_back))
        return f"gave back {given_back} huge pages of {self.size_kib} KiB on node {self.node}"


@dataclass(frozen=True, slots=True)
class SysctlSet(Change):
    """A file below /proc/sys or /sys was set from `was` to `to`."""

    path: str
    was: str
    to: str

    def __str__(self) -> str:
        return f"{self.path} set to {self.to} (was {self.was})"

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

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})"

    def undo(self, runner: Runner) -> str | None:
        if start_ticks(runner, self.pid) != self.start_ticks:
            return None
        _kill(runner, self.pid, self.command)
        return f"ended {self.command} (process {self.pid})"


@dataclass(frozen=True, slots=True)
class GuestStarted(Change):
    """libvirt was asked to start a guest's QEMU: only libvirt knows its number, and QEMU outlives
    it. root: libvirt's own root directory."""

    name: str
    root: str

    def __str__(self) -> str:
        return f"guest {self.name}"

    @property
    def pid_file(self) -> str:
        return f"{self.root}/run/qemu/{self.name}.pid"

    def undo(self, runner: Runner) -> str | None:
        pid = self.pid(runner)
        if pid is None:
            return None
        _kill(runner, pid, f"guest {self.name}")
        return f"ended guest {self.name} (process {pid})"

    def pid(self, runner: Runner) -> int | None:
        """Of its QEMU, while that runs."""
        try:
            pid = int(runner.read(self.pid_file))
            command = runner.read(f"/proc/{pid}/cmdline")
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return None  # not yet, or no more
        # Another process may have been given the number since.
        return pid if f"{self.root}/" in command else None


@dataclass(frozen=True, slots=True)
class DirectoryMade(Change):
    """A directory for sockets and other things that mean nothing once the run is over."""

    path: str

    def __str__(self) -> str:
        return f"directory {self.path}"

    def undo(self, runner: Runner) -> str | None:
        if not runner.glob(self.path):
            return None
        runner.run(["rm", "-rf", "--one-file-system", "--", self.path])
        return f"removed {self.path}"


@dataclass(frozen=True, slots=True)
class MountPointMade(Change):
    """An empty directory for something to be mounted on, where only the mounter sees it."""

    path: str

    def __str__(self) -> str:
        return f"mount point {self.path}"

    def undo(self, runner: Runner) -> str | None:
        done = runner.run(["rmdir", "--", self.path], check=False)
        return f"removed {self.path}" if done.exit_code == 0 else None  # in use, or gone

    def relied_on(self, others: Iterable[Change]) -> bool:
        # Removed, it would take along what is mounted on it.
        return self in others


@dataclass(frozen=True, slots=True)
class PciBound(Change):
    """A PCI device was taken from the driver `was` ("" for none) and given to vfio-pci."""

    address: str
    was: str

    def __str__(self) -> str:
        return f"PCI device {self.address} bound to vfio-pci (was {self.was or 'no driver'})"

    def undo(self, runner: Runner) -> str | None:
        device = f"{SYS_PCI}/{self.address}"
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


_KINDS: Mapping[str, type[Change]] = {
    kind.__name__: kind
    for kind in (
        HugePagesAdded,
        SysctlSet,
        ProcessStarted,
        GuestStarted,
        DirectoryMade,
        MountPointMade,
        PciBound,
        NamespaceMade,
        InterfaceMoved,
        InterfaceMade,
        InterfaceSet,
        VfsMade,
        VfSet,
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


def _kill(runner: Runner, pid: int, name: str) -> None:
    """Return once it is gone. Raises BenchError when it does not go."""
    ticks = start_ticks(runner, pid)
    runner.run(["kill", "-KILL", str(pid)], check=False)
    deadline = time.monotonic() + 10
    while ticks is not None and start_ticks(runner, pid) == ticks:
        if time.monotonic() > deadline:
            raise BenchError(f"process {pid} ({name}) does not end on SIGKILL")
        time.sleep(0.01)


def start_ticks(runner: Runner, pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None when there is none (or a zombie)."""
    try:
        stat = runner.read(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field, the name in parentheses, may itself hold blanks and parentheses.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])
