# SPDX-License-Identifier: Apache-2.0
"""Run one node on this machine: its directory, its QEMU process, and its state.

A running QEMU inherits a lock on a file of its directory. The kernel releases the lock for any end
of the process. So no other process with a reused pid is signalled.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from wirespeed.document.private_file import write_whole
from wirespeed.lab.errors import LabError
from wirespeed.lab.machine import MachineSpec
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.awaited import BANNER_S
from wirespeed.remote.interface import RemoteError
from wirespeed.remote.reach import EMULATED_PATIENCE
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_target import SshTarget

# For an emulated server on a busy machine; on an idle one it takes a tenth.
BOOT_LIMIT_S = 600.0
BOOT_ID = "/proc/sys/kernel/random/boot_id"
_END_S = 30.0
_LOOK_AGAIN_S = 0.1
_BANNER = b"SSH-"
_PANIC = b"Kernel panic - not syncing"
_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Node:
    """A node."""

    spec: MachineSpec
    folder: Path
    """Directory that node_files.py has filled."""

    @classmethod
    def load(cls, folder: Path) -> Node:
        path = folder / "node.json"
        try:
            return cls(MachineSpec(**load_json(path.read_text())["spec"]), folder)
        except (ValueError, TypeError, KeyError) as fault:
            raise LabError(
                f"{path}: {fault}", f"Remove {folder}, then run `wirespeed lab up` again."
            ) from None

    def save(self, command: Sequence[str]) -> None:
        """Write the specification and QEMU's command line."""
        said = {"spec": asdict(self.spec), "command": list(command)}
        # `wirespeed lab status` may read the file at any moment.
        write_whole(self.folder / "node.json", json.dumps(said, indent=1) + "\n")

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def console(self) -> Path:
        return self.folder / "console.log"

    @property
    def log(self) -> Path:
        """Messages of QEMU itself."""
        return self.folder / "qemu.log"

    @property
    def config(self) -> Path:
        """ssh configuration with the node's keys and port."""
        return self.folder / "access" / "ssh_config"

    def runner(self) -> SshRunner:
        """Return a Runner, a context manager whose first call waits for a booting node."""
        target = SshTarget(self.name, config=str(self.config))
        return SshRunner(target, name=self.name, first_s=BOOT_LIMIT_S, patience=EMULATED_PATIENCE)

    def start(self) -> None:
        """Start QEMU, which outlives this process; await_answer reports whether it comes up."""
        command = load_json((self.folder / "node.json").read_text())["command"]
        lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (self.folder / "qemu.pid").unlink(missing_ok=True)
            with open(self.log, "wb") as log:
                subprocess.run(
                    ["setsid", "--fork", *command],
                    cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    pass_fds=(lock,), check=True,
                )  # fmt: skip
        except BlockingIOError:
            raise LabError(
                f"{self.name} is already running", "See `wirespeed lab status`."
            ) from None
        finally:
            os.close(lock)

    @property
    def running(self) -> bool:
        try:
            lock = os.open(self.folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            return False
        finally:
            os.close(lock)

    @property
    def pid(self) -> int | None:
        """Process ID of its QEMU, where that runs."""
        if not self.running:
            return None
        try:
            return int((self.folder / "qemu.pid").read_text())
        except (FileNotFoundError, ValueError):  # QEMU is just starting
            return None

    def kill(self) -> None:
        """Cut the power: QEMU ends at once and writes nothing more. Raises LabError."""
        deadline = time.monotonic() + _END_S
        while self.running:
            if (pid := self.pid) is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise LabError(
                    f"QEMU of {self.name} does not end (process {pid or 'unknown'})",
                    f"Look at it with `fuser -v {self.folder}/lock`.",
                )
            time.sleep(_LOOK_AGAIN_S / 4)

    def await_answer(self, limit_s: float = BOOT_LIMIT_S) -> None:
        """Wait until a command runs there over ssh.

        Raises LabError on an end, panic or hang, RemoteError where the connection breaks.
        """
        deadline = time.monotonic() + limit_s
        while not self._listens(deadline):
            if not self.running:
                raise self._ended()
            if (panic := self._console_line(_PANIC)) is not None:
                raise LabError(f"the kernel of {self.name} stopped: {panic}", self._see())
            if time.monotonic() > deadline:
                raise LabError(f"{self.name} did not answer within {limit_s:g} s", self._see())
            time.sleep(_LOOK_AGAIN_S)
        with self.runner() as runner:
            runner.run(["true"], timeout_s=limit_s)

    def await_reboot(self, before: str, limit_s: float = BOOT_LIMIT_S) -> None:
        """Wait until it answers with another boot_id than before. Raises LabError."""
        deadline = time.monotonic() + limit_s
        while (left_s := deadline - time.monotonic()) > 0:
            # The sshd of the old boot may answer, and its connection break at any moment.
            with suppress(RemoteError):
                self.await_answer(left_s)
                with self.runner() as runner:
                    if runner.read(BOOT_ID) != before:
                        return
            time.sleep(_LOOK_AGAIN_S)
        raise LabError(f"{self.name} did not reboot within {limit_s:g} s", self._see())

    def _listens(self, deadline: float) -> bool:
        """Return whether an sshd answers: QEMU's network accepts connections before that."""
        limit_s = min(BANNER_S, max(deadline - time.monotonic(), 0.0))
        address = ("127.0.0.1", self.spec.port)
        try:
            with socket.create_connection(address, timeout=limit_s) as connected:
                return connected.recv(len(_BANNER)) == _BANNER
        except OSError:
            return False

    def _ended(self) -> LabError:
        said = (self.log).read_text(errors="replace").strip()
        why = said.splitlines()[-1][-_SHOWN:] if said else "it was killed, or the node powered off"
        return LabError(f"QEMU of {self.name} ended: {why}", self._see())

    def _console_line(self, what: bytes) -> str | None:
        try:
            written = self.console.read_bytes()
        except FileNotFoundError:
            return None
        at = written.find(what)
        if at < 0:
            return None
        return written[at : at + _SHOWN].split(b"\n")[0].decode(errors="replace").strip()

    def _see(self) -> str:
        return f"See {self.console} and {self.folder}/qemu.log."
