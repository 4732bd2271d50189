# SPDX-License-Identifier: Apache-2.0
"""Define the changes that a bench makes to a host, and undo each of them.

Undo compares with the present state. Something already gone is no error, and what somebody else has
changed since stays.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wirespeed.bench.host.cgroup_changes import CgroupMade, ControllerEnabled
from wirespeed.bench.host.change import Change, ChangedSince
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
from wirespeed.sources.kernel_value import same_value, selected

# Programs of a run take the pages that it found free. Meanwhile no other run may add or return
# pages, which could be the same ones. Pages belong to the host, so the lock does, too.
POOLS_LOCK = "/run/lock/wirespeed-huge-pages"
# For an instant's work on a busy machine.
_EXECVE_S = 5.0


@dataclass(frozen=True, slots=True)
class HugePagesAdded(Change):
    """Pages that were added to one NUMA node's pool."""

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
    """File below /proc/sys or /sys that was set from `was` to `to`."""

    path: str
    was: str
    to: str

    def __str__(self) -> str:
        return f"{self.path} set to {self.to} (was {self.was})"

    def undo(self, runner: Runner) -> str | None:
        now = selected(runner.read(self.path))
        if not same_value(self.path, now, self.to):
            # Where the run relied on a value that it found, it has nothing to put back.
            if same_value(self.path, now, self.was) or same_value(self.path, self.was, self.to):
                return None
            raise ChangedSince(
                f"left {self.path} at {now}: it was {self.was}, the run set it to {self.to}, "
                "and somebody else has changed it since"
            )
        runner.write(self.path, self.was)
        return f"set {self.path} back to {self.was}"

    def relied_on(self, others: Iterable[Change]) -> bool:
        # The other run has recorded the same original value and will restore it.
        return any(isinstance(o, SysctlSet) and o.path == self.path for o in others)


@dataclass(frozen=True, slots=True)
class ProcessStarted(Change):
    """Process that was started.

    Its start time (clock ticks since boot) tells it from a later process with the same PID.
    """

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
    """QEMU of a guest that libvirt was asked to start.

    Only libvirt knows its PID, and QEMU outlives libvirt.
    """

    name: str
    root: str
    """libvirt's root directory."""

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
        """Return the PID of its QEMU; None where it does not run."""
        try:
            pid = int(runner.read(self.pid_file))
            command = _arguments(runner, pid)
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return None  # not yet written, or already removed
        # Another process may have got the PID since.
        return pid if f"{self.root}/" in command else None


@dataclass(frozen=True, slots=True)
class DirectoryMade(Change):
    """Directory for sockets and other files that end with the run."""

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
    """Empty directory as a mount point that only the mounting process sees."""

    path: str

    def __str__(self) -> str:
        return f"mount point {self.path}"

    def undo(self, runner: Runner) -> str | None:
        done = runner.run(["rmdir", "--", self.path], check=False)
        return f"removed {self.path}" if done.exit_code == 0 else None  # in use, or gone

    def relied_on(self, others: Iterable[Change]) -> bool:
        # Removing it would remove what that run mounted on it.
        return self in others


@dataclass(frozen=True, slots=True)
class PciBound(Change):
    """PCI device that was taken from the driver `was` ("" for none) and given to vfio-pci."""

    address: str
    was: str
    enabled: bool = False
    """Whether its `enable` was written, which counts for as long as the device exists."""

    def __str__(self) -> str:
        return f"PCI device {self.address} bound to vfio-pci (was {self.was or 'no driver'})"

    def undo(self, runner: Runner) -> str | None:
        device = f"{SYS_PCI}/{self.address}"
        if not runner.glob(f"{device}/driver_override"):
            return None  # unplugged
        driver = f"{device}/driver"
        now = os.path.basename(runner.readlink(driver)) if runner.glob(driver) else ""
        runner.write(f"{device}/driver_override", "\n")
        if now and now == self.was:
            return None
        if now:
            runner.write(f"{driver}/unbind", self.address)
        # The kernel rejects a write while a driver has the device.
        is_enabled = self.enabled and runner.read(f"{device}/enable").strip() != "0"
        if is_enabled:
            runner.write(f"{device}/enable", "0")
        if self.was:
            runner.write(f"/sys/bus/pci/drivers/{self.was}/bind", self.address)
        if not (now or self.was or is_enabled):
            return None
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
        CgroupMade,
        ControllerEnabled,
    )
}


def change_from_json(record: Mapping[str, Any]) -> Change:
    """Return the change that a journal line describes. Raises BenchError for an unknown type."""
    fields = dict(record)
    kind = fields.pop("kind")
    if kind not in _KINDS:
        raise BenchError(
            f"the journal holds a change of kind {kind!r} that this version cannot undo",
            "Run `wirespeed clean` of the version that made it.",
        )
    return _KINDS[kind](**fields)


def _kill(runner: Runner, pid: int, name: str) -> None:
    """Kill a process; return once it is gone. Raises BenchError when it stays."""
    ticks = start_ticks(runner, pid)
    runner.run(["kill", "-KILL", str(pid)], check=False)
    deadline = time.monotonic() + 10
    while ticks is not None and start_ticks(runner, pid) == ticks:
        if time.monotonic() > deadline:
            raise BenchError(f"process {pid} ({name}) does not end on SIGKILL")
        time.sleep(0.01)


def _arguments(runner: Runner, pid: int) -> str:
    """Return a process's arguments; raises what Runner.read does where there is none.

    While one program replaces another (execve) a process has none for an instant. A kernel thread
    never has any.
    """
    deadline = time.monotonic() + _EXECVE_S
    while not (found := runner.read(f"/proc/{pid}/cmdline")):
        if start_ticks(runner, pid) is None or time.monotonic() > deadline:
            return ""
        time.sleep(0.001)
    return found


def start_ticks(runner: Runner, pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None where no thread runs."""
    try:
        stat = runner.read(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field, the name in parentheses, may hold blanks and parentheses.
    fields = stat.rpartition(")")[2].split()
    state, threads, started = fields[0], int(fields[17]), int(fields[19])
    # A main thread that ended alone is a zombie until the other threads end.
    return None if state == "Z" and threads <= 1 else started
