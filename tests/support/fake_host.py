# SPDX-License-Identifier: Apache-2.0
"""Simulate a server that apply changes, reboots and rolls back, cut wherever a test wants it.

Its boot reads the boot loader's files and runs the unit's script, as the real one does.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tests.hosts.server import Server
from tests.support.fake_boot import FakeBoot, UpdateGrub
from tests.support.fake_disk import FakeDisk
from tests.support.fake_kernel import LAB, FakeKernel
from tests.support.fake_ovs import FakeOvs
from tests.support.fake_runner import WANTS, FakeRunner
from wirespeed.remote.interface import HostUnreachable

# Units and their scripts, in the order of a boot.
UNITS = {
    "wirespeed-host.service": "/var/lib/wirespeed/apply/at-boot.sh",
    "wirespeed-kept.service": "/var/lib/wirespeed/apply/kept-at-boot.sh",
}
FOLDERS = ("/", "/etc", "/etc/default", "/etc/systemd", "/etc/systemd/system",
           "/etc/systemd/system/multi-user.target.wants", "/boot", "/var", "/var/lib", "/run",
           "/run/systemd", "/run/systemd/system")  # fmt: skip


@dataclass(frozen=True)
class Cut:
    """A cut at the n-th change."""

    at: int
    when: str
    """"before", "torn" (half of the change is made) or "after"."""
    what: str
    """"connection", "power" (loses unsynced data) or "power-kept" (loses no data)."""


def no_sleep(_: float) -> None:
    """Return at once: on a simulated host nothing takes time."""


@dataclass
class FakeHost:
    """A simulated host."""

    server: Server = LAB
    found_now: int = 2
    trust: bool = True
    ovs: FakeOvs | None = field(default_factory=FakeOvs)
    """None: not installed."""
    user: str = "0"
    """User of the login."""
    sudo: bool = True
    """True if that user may run `sudo -n`."""
    sockets: str = ""
    """Established connections as ss prints them."""
    addresses: dict[str, str] = field(default_factory=dict)
    """Interface of each address."""
    route_to_all: str = "eno1"
    """Interface of all routes."""
    domains: dict[str, str] = field(default_factory=dict)
    opened: dict[str, str] = field(default_factory=dict)
    """Program that has a PCI function open through VFIO, by address."""
    owned: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Mode (hexadecimal) and user of a path that is not root's own."""
    boot_loader: FakeBoot = field(default_factory=UpdateGrub)
    cut: Cut | None = None
    changes: int = 0
    boots: int = 0
    holder: FakeRunner | None = None
    timer: list[str] = field(default_factory=list)
    waiting: str = ""
    """Service of an expired timer, which waits for the lock."""
    libvirt_fault: str = ""
    """Error of virsh where libvirt does not answer."""
    appctl: bool = True
    """True if ovs-appctl is installed."""
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.disk = FakeDisk(folders={*FOLDERS, *self.boot_loader.folders})
        self.boot_loader.install(self.disk)
        self.disk.write("/etc/machine-id", "b08dfa6083e7567a1921a715000001fb\n")
        self.disk.sync_all()
        self.boot()

    @contextmanager
    def reach(self, address: str, *, sudo: bool) -> Iterator[FakeRunner]:
        assert address in ("ssh://lab1", "localhost")
        user = self.user if not sudo else "0" if self.sudo else ""
        runner = FakeRunner(self, user)
        try:
            yield runner
        finally:
            runner.end()

    def boot(self) -> None:
        self.boots += 1
        self.timer.clear()
        self.waiting = ""
        self.opened.clear()
        self.holder = None
        line = self.boot_loader.command_line(self.disk)
        cmdline = f"BOOT_IMAGE=/boot/vmlinuz {line}"
        self.kernel = FakeKernel(self.server, cmdline, self.found_now, self.trust)
        for unit, script in UNITS.items():
            paths = (f"{WANTS}/{unit}", f"/etc/systemd/system/{unit}")
            if all(self.disk.read(path) is not None for path in paths):
                self.run_script(script)

    def lose_power(self, *, keep: bool) -> None:
        self.disk.lose_power(keep=keep)
        if self.ovs:
            self.ovs.lose_power(keep=keep)
        self.boot()

    def reboot(self) -> None:
        self.sync()
        self.boot()

    def sync(self) -> None:
        """Flush every file system to the disk, as sync(1) does."""
        self.disk.sync_all()
        if self.ovs:
            self.ovs.sync()

    def fire_timer(self) -> None:
        """Expire the timer; its service waits until the lock is free."""
        assert self.timer
        unit = next(word for word in self.timer if word.startswith("--unit="))
        self.waiting = f"{unit.removeprefix('--unit=')}.service"
        self.timer.clear()
        self.lock_is_free()

    def stop(self, units: Sequence[str]) -> None:
        """Act like `systemctl stop` on a timer or its service."""
        if any(f"--unit={unit.removesuffix('.timer')}" in self.timer for unit in units):
            self.timer.clear()
        if self.waiting in units:
            self.waiting = ""

    def lock_is_free(self) -> None:
        if not self.waiting or self.holder is not None:
            return
        self.waiting = ""
        self.disk.write("/var/lib/wirespeed/apply/checkpoint-fired", "")
        self.run_script("/var/lib/wirespeed/apply/checkpoint.sh")

    def run_script(self, path: str) -> None:
        """Act like sh with a script of apply."""
        runner = FakeRunner(self, "0", local=True)
        text = self.disk.read(path)
        if text is None:
            return
        for line in text.splitlines():
            words = shlex.split(line.removesuffix("|| failed=1"), comments=True)
            match words:
                case ["put" | "try_put", file, value]:
                    self._script_put(file, value)
                case ["for", "file", "in", pattern, "do", "try_put", "$file", value, "done"]:
                    for file in runner.glob(pattern.rstrip(";")):
                        self._script_put(file, value.rstrip(";"))
                case ["for", *_]:
                    raise AssertionError(line)
                case ["try_run", *argv]:
                    runner.run(argv, check=False)
                case ["ip" | "ovs-vsctl" | "modprobe" | "sync", *_]:
                    runner.run(words, check=False)

    def _script_put(self, path: str, value: str) -> None:
        try:
            self.kernel.write(path, value)
        except OSError as fault:
            self.log.append(str(fault))

    def state(self) -> dict[str, object]:
        """Return everything that apply may have changed."""
        self.disk.sync_all()
        kernel = {p: t for p, t in self.kernel.files.items() if p != "/proc/cmdline"}
        return {
            "files": dict(self.disk.disk),
            "folders": sorted(self.disk.folders),
            "cmdline": self.kernel.cmdline,
            "kernel": kernel,
            "vfs": json.dumps(self.kernel.vfs),
            "up": dict(self.kernel.up),
            "ovs": self.ovs and self.ovs.copy(),
        }


def unreachable(address: str, *, sudo: bool) -> FakeRunner:
    """Raise the error of a host that does not answer."""
    raise HostUnreachable(f"{address} could not be reached ({sudo})")


def renamed(host: FakeHost, name: str) -> None:
    """Give the host another name."""
    host.server = replace(host.server, name=name)
    host.boot()
