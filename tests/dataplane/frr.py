# SPDX-License-Identifier: Apache-2.0
"""Run daemons of FRR in a namespace, and ask them."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.dataplane.kernel_router import run
from tests.dataplane.program import DEADLINE_S
from tests.support.waiting import listens

_DAEMONS = Path("/usr/lib/frr")


@dataclass(frozen=True, slots=True)
class Frr:
    """Daemons of one router, by name."""

    namespace: str
    folder: Path
    configurations: Mapping[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str) -> None:
        """Start a daemon, again perhaps, and wait until it can be asked."""
        file = self.folder / f"{name}.conf"
        file.write_text(self.configurations[name])
        words = [
            str(_DAEMONS / name), "-f", str(file), "-i", str(self.folder / f"{name}.pid"),
            "-z", str(self.folder / "zserv.api"), "--vty_socket", str(self.folder),
            "-P", "0", "-u", "frr", "-g", "frr", "--log", f"file:{self.folder / name}.log",
        ]  # fmt: skip
        if name == "bfdd":
            words += ["--bfdctl", str(self.folder / "bfdd.sock")]
        socket = self.folder / f"{name}.vty"
        socket.unlink(missing_ok=True)
        self.processes[name] = subprocess.Popen(["ip", "netns", "exec", self.namespace, *words])

        deadline = time.monotonic() + DEADLINE_S
        while not listens(socket):
            assert time.monotonic() < deadline, (self.folder / f"{name}.log").read_text()
            time.sleep(0.01)

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def kill_all(self) -> None:
        for name in list(self.processes):
            self.kill(name)

    def configure(self, *lines: str) -> None:
        self._vtysh("configure terminal", *lines)

    def show(self, *words: str) -> Any:
        """Return what `show WORDS json` prints."""
        return json.loads(self._vtysh(" ".join(("show", *words, "json"))) or "{}")

    def _vtysh(self, *commands: str) -> str:
        words = [word for command in commands for word in ("-c", command)]
        return run("ip", "netns", "exec", self.namespace, "vtysh", "--vty_socket",
                   str(self.folder), *words)  # fmt: skip


@contextmanager
def frr(namespace: str, configurations: Mapping[str, str]) -> Iterator[Frr]:
    """Run these daemons, zebra first. They drop root's rights, so they need a folder."""
    folder = Path(tempfile.mkdtemp(prefix="ws-frr-", dir="/tmp"))
    shutil.chown(folder, "frr", "frr")
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        made = Frr(namespace, folder, configurations)
        stack.callback(made.kill_all)
        for name in configurations:
            made.start(name)
        yield made
