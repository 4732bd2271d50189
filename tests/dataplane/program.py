# SPDX-License-Identifier: Apache-2.0
"""Run the wsdp program as a user does: an input file, a socket for queries, a signal to end it.

Rings and pcap files only, without huge pages: no privilege needed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

REPOSITORY = Path(__file__).resolve().parents[2]
# The environment can name another build, such as the one with sanitizers.
WSDP = Path(os.environ.get("WSDP", REPOSITORY / "build" / "dataplane" / "wsdp"))
PREFIX = "t"
DEADLINE_S = 60.0  # far beyond any wait that a healthy run needs


# Tests that run in parallel (pytest-xdist) have numbers: each polls on its own CPU.
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def eal_section(memory_mib: int = 512, lcores: int = 3) -> str:
    """Return lcores 1 to 3 (or more) on the last allowed CPU, main anywhere; no huge pages."""
    cpus = sorted(os.sched_getaffinity(0))
    listed = ",".join(map(str, cpus))
    polled = cpus[-1 - WORKER % len(cpus)]
    return (
        f"[eal]\nfile_prefix = {PREFIX}\n"
        f"lcores = 0@({listed}),(1-{lcores})@{polled}\noptions = --no-huge -m {memory_mib}\n"
    )


def environment(directory: Path) -> dict[str, str]:
    """Make DPDK put its sockets below RUNTIME_DIRECTORY, for any user."""
    return {**os.environ, "RUNTIME_DIRECTORY": str(directory)}


def check(ini: str, directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Let wsdp check a file, to its end."""
    file = directory / "wsdp.ini"
    file.write_text(ini)
    return subprocess.run(
        [str(WSDP), "--config", str(file), *options],
        capture_output=True, text=True, timeout=DEADLINE_S, check=False,
        env=environment(directory),
    )  # fmt: skip


@dataclass(slots=True)
class Control:
    """A client of wsdp's telemetry socket."""

    connection: socket.socket

    @classmethod
    def connect(cls, directory: Path) -> Self:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # With a timeout set before, a full backlog would be an error and not a wait.
        connection.connect(str(directory / "dpdk" / PREFIX / "dpdk_telemetry.v2"))
        connection.settimeout(DEADLINE_S)
        connection.recv(65536)
        return cls(connection)

    def ask(self, command: str, *parameters: str) -> dict[str, Any]:
        self.connection.send(",".join([f"/wirespeed/{command}", *parameters]).encode())
        reply = json.loads(self.connection.recv(65536))
        content = reply[f"/wirespeed/{command}"]
        assert isinstance(content, dict)
        return content

    def await_stats(
        self, condition: Callable[[Mapping[str, Mapping[str, int]]], bool]
    ) -> dict[str, dict[str, int]]:
        """Return the counters as soon as they meet a condition."""
        deadline = time.monotonic() + DEADLINE_S
        while not condition(stats := self.ask("stats")):
            assert time.monotonic() < deadline, stats
        return stats

    def await_task(
        self, task: str, condition: Callable[[Mapping[str, int]], bool]
    ) -> dict[str, Any]:
        """Return a task's own counters as soon as they meet a condition."""
        deadline = time.monotonic() + DEADLINE_S
        while not condition(seen := self.ask("task", task)):
            assert time.monotonic() < deadline, seen
        return seen

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.connection.close()


@dataclass(frozen=True, slots=True)
class Running:
    process: subprocess.Popen[str]
    control: Control
    directory: Path

    def export(self, command: str, *parameters: str) -> dict[str, Any]:
        """Return what a command writes to a file."""
        path = self.directory / f"{command}.json"
        assert self.control.ask(command, *parameters, str(path)) == {"ok": 1}
        content = json.loads(path.read_text())
        assert isinstance(content, dict)
        return content

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal; return the exit code. By then its files are complete."""
        self.process.send_signal(number)
        return self.process.wait(DEADLINE_S)


@contextmanager
def running(ini: str, eal: str | None = None, begin: Sequence[str] = ()) -> Iterator[Running]:
    """Yield a ready wsdp; kill it at the end if it has not been ended.

    begin: words before the command, such as those that enter a network namespace.
    """
    # A unix socket's path is limited to 107 characters: stay close to the root.
    directory = Path(tempfile.mkdtemp(prefix="ws-", dir="/tmp"))
    file = directory / "wsdp.ini"
    file.write_text((eal or eal_section()) + ini)
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(
            [*begin, str(WSDP), "--config", str(file)],
            stdout=subprocess.PIPE, stderr=log, text=True, env=environment(directory),
        )  # fmt: skip
    try:
        assert process.stdout is not None
        ready = process.stdout.readline()
        assert ready == "wsdp ready\n", (directory / "log").read_text()
        with Control.connect(directory) as control:
            yield Running(process, control, directory)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        shutil.rmtree(directory)
