# SPDX-License-Identifier: Apache-2.0
"""Start a guest from its XML with libvirt's virt-qemu-run, watch it and end it.

virt-qemu-run runs one domain in the foreground with libvirt's embedded driver, in a root directory
of its own; the system's libvirt is not involved. QEMU is not its child and outlives it. So the
journal records how to find QEMU's PID (bench/host/changes.GuestStarted).
"""

from __future__ import annotations

from pathlib import PurePosixPath

from wirespeed.bench.guest import libvirt
from wirespeed.bench.host.changes import GuestStarted
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network import inside
from wirespeed.bench.host.process import Daemon, last_words
from wirespeed.remote.interface import Process

# A shell that ends when the process of this PID ends. QEMU is no child of ours, so no other event
# reports its end at once.
_WATCH = """
import os, select, sys
select.select([os.pidfd_open(int(sys.argv[1]))], [], [])
"""
_CONSOLE_LINES = 4


class GuestProcess:
    """virt-qemu-run and the QEMU that it starts."""

    def __init__(
        self, name: str, host: Host, dirs: Directories, namespace: str | None = None
    ) -> None:
        """Prepare a guest's process.

        namespace: network namespace in which QEMU finds its interfaces.
        """
        self.name = name
        self.console = str(dirs.log / f"{name}.console")
        self._host, self._dirs, self._namespace = host, dirs, namespace
        root = dirs.run / f"libvirt-{name}"
        self._root = root
        self._qemu = GuestStarted(name, str(root))
        self._noted: int | None = None
        self._libvirt = Daemon(f"{name}-libvirt", host, dirs)
        self._watch = Daemon(f"{name}-watch", host, dirs)
        self._pid: int | None = None

    @property
    def root(self) -> PurePosixPath:
        """libvirt's root directory, which is removed with the bench."""
        return self._root

    def prepare(self) -> None:
        """Make libvirt's directories. Raises BenchError if the host lacks a program for guests."""
        libvirt.check_programs(self._host.runner)
        self._host.make_directory(str(self._root))
        self._host.make_mount_point(libvirt.MOUNT_POINT)
        libvirt.make_root(self._host.runner, self._root)

    def start(self, xml: str) -> None:
        runner = self._host.runner
        domain = str(self._dirs.log / f"{self.name}.xml")
        runner.write(domain, xml)
        runner.write(self.console, "")
        self._noted = self._host.note(self._qemu)
        command = ["virt-qemu-run", "-r", str(self._root), domain]
        self._libvirt.start([*inside(self._namespace), *libvirt.alone(self._root, command)])

    def pid(self) -> int | None:
        """Return QEMU's PID once it runs; from then on its end is noticed."""
        if self._pid is None:
            self._pid = self._qemu.pid(self._host.runner)
            if self._pid is not None:
                self._watch.start(["python3", "-I", "-S", "-c", _WATCH, str(self._pid)])
        return self._pid

    def ended(self) -> str | None:
        """Return how the guest ended; None while it runs or starts."""
        if self._pid is None:
            return self._libvirt.ended() or None
        if self._qemu.pid(self._host.runner) is not None:
            return None
        return f"guest {self.name} ended; its console's last lines: {self.last_lines()}"

    def last_lines(self) -> str:
        """Return the last lines that the guest, or its starter, printed."""
        text = self._host.runner.read(self.console)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            return " / ".join(lines[-_CONSOLE_LINES:]) + f" ({self.console})"
        return "none; " + last_words(self._host.runner, self._libvirt.log)

    @property
    def processes(self) -> tuple[Process, ...]:
        """Return the processes that end when the guest ends."""
        return self._watch.processes or self._libvirt.processes

    def stop(self) -> None:
        """End libvirt, which ends QEMU; kill QEMU if it is still there."""
        self._libvirt.stop()
        if self._noted is not None:
            self._host.undo(self._noted)
            self._noted = None
        self._watch.stop()
