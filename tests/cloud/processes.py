# SPDX-License-Identifier: Apache-2.0
"""Start the programs of one OpenStack, each in its own process group, and end them all.

Should the test process be killed, a guard ends them (inside/guard.py).
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from wirespeed.bench.host.changes import start_ticks
from wirespeed.remote.agent import start_child
from wirespeed.remote.local import LocalRunner

# Debian's own interpreter, for which its packages are; nothing of this environment leaks into it.
PYTHON = "/usr/bin/python3"
_GUARD = Path(__file__).parent / "inside" / "guard.py"
_FOREIGN = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "PYTHONHOME")


# A killed process gives back its memory before it is gone.
_KILLED_S = 30.0


class CloudError(Exception):
    """A program of the OpenStack under test did not do its work; the message ends with its log."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to start. environ: added to the environment of the tests."""

    name: str
    argv: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Processes:
    """Running programs and their log directory."""

    logs: Path
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _guard: subprocess.Popen[bytes] | None = None

    def guard(self, root: Path) -> None:
        """Make everything end, and remove root, when this process is killed."""
        self._guard = subprocess.Popen(
            [PYTHON, "-I", str(_GUARD), str(root)], stdin=subprocess.PIPE, start_new_session=True
        )

    def _tell_guard(self, line: str) -> None:
        if self._guard and self._guard.stdin:
            self._guard.stdin.write(f"{line}\n".encode())
            self._guard.stdin.flush()

    def start(self, program: Program) -> None:
        # What a program leaves where it was started, as RabbitMQ does when it ends badly, is a log.
        argv = ["/usr/bin/env", f"--chdir={self.logs}", *(f"-u{name}" for name in _FOREIGN)]
        argv += program.argv
        log = str(self.log(program.name))
        process = start_child(argv, log, program.environ, (), None)
        self._running[program.name] = process
        self._tell_guard(str(process.pid))

    def run(self, program: Program, text: str = "") -> str:
        """Run a program; return its output. text: its stdin. Raise CloudError."""
        environ = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
        done = subprocess.run(
            program.argv, env={**environ, **program.environ}, input=text, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        with self.log(program.name).open("a") as log:
            log.write(done.stderr)
        if done.returncode:
            raise CloudError(
                f"{program.name}: exit status {done.returncode}\n{done.stderr[-3000:]}"
            )
        return done.stdout

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def tail(self, name: str) -> str:
        return self.log(name).read_text(errors="replace")[-3000:]

    def started(self, name: str) -> bool:
        return name in self._running

    def pid(self, name: str) -> int:
        return self._running[name].pid

    def check(self) -> None:
        """Raise CloudError if one has ended."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise CloudError(f"{name} ended: {process.returncode}\n{self.tail(name)}")

    def wait(
        self, what: str, ready: Callable[[], bool], timeout_s: float = 240, every_s: float = 0.1
    ) -> None:
        """Wait until the condition holds. Raise CloudError if a program ends before."""
        deadline = time.monotonic() + timeout_s
        while not ready():
            self.check()
            if time.monotonic() > deadline:
                raise CloudError(f"{what}: not within {timeout_s:g} s; logs in {self.logs}")
            time.sleep(every_s)

    def stop(self, name: str) -> None:
        """Stop a program and all its descendants."""
        process = self._running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def ended(self, name: str, timeout_s: float = 60) -> None:
        """Wait for the end of a program that was asked to end."""
        self._running.pop(name).wait(timeout_s)

    def stop_all(self) -> None:
        started = self.members()
        for name in reversed(list(self._running)):
            self.stop(name)
        # Their descendants are killed as well, and no signal reports their end to this process.
        deadline = time.monotonic() + _KILLED_S
        while any(map(runs, started)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self._tell_guard("done")
        if self._guard:
            self._guard.communicate()

    def members(self) -> list[int]:
        """Return every process in one of our groups."""
        groups = {process.pid for process in self._running.values()}
        return [pid for pid, group in _groups().items() if group in groups]

    def arguments(self, pid: int) -> str:
        """Return the arguments of a process; none if it has ended."""
        with suppress(FileNotFoundError, ProcessLookupError):
            return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
        return ""

    def memory_mib(self) -> int:
        """Return the proportional set size (PSS) of all."""
        return sum(map(_pss_kib, self.members())) // 1024


def runs(pid: int) -> bool:
    """Return whether the process runs; a zombie does not."""
    return start_ticks(LocalRunner(), pid) is not None


def _groups() -> dict[int, int]:
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            found[int(path.name)] = os.getpgid(int(path.name))
    return found


def _pss_kib(pid: int) -> int:
    with suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
