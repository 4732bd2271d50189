# SPDX-License-Identifier: Apache-2.0
"""wirespeed-speedtest as both ends of a TCP test: its server is a part of the bench."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from wirespeed.bench.dpdk import Directories
from wirespeed.bench.host_state import HostState
from wirespeed.bench.interface import BenchError, GapLog, HopCount, Poller
from wirespeed.bench.network import inside
from wirespeed.bench.process import Daemon
from wirespeed.model.tcp import Tcp, TcpDirection
from wirespeed.remote.interface import Process

PROGRAM = "wirespeed-speedtest"
# In a source tree, where `make speedtest` leaves the program.
_BUILT = Path(__file__).parents[4] / "speedtest" / "target" / "release" / PROGRAM
PORT = 5201
_DIRECTION = {
    TcpDirection.UP: (),
    TcpDirection.DOWN: ("--reverse",),
    TcpDirection.BOTH: ("--bidirectional",),
}


def find_program() -> str:
    """The program's path. Raises BenchError when it is not there."""
    found = str(_BUILT) if _BUILT.is_file() else shutil.which(PROGRAM)
    if found is None:
        raise BenchError(
            f"{PROGRAM} is not built: {_BUILT} does not exist",
            "Run `make speedtest`, or put the program on the PATH.",
        )
    return found


class SpeedtestServer:
    """The server in its namespace: a part of the bench."""

    name = "speed-test server"

    def __init__(
        self,
        state: HostState,
        dirs: Directories,
        namespace: str,
        cpus: Collection[int],
        options: Sequence[str] = (),
    ) -> None:
        self._state, self._namespace, self._cpus = state, namespace, tuple(cpus)
        self._options = tuple(options)
        self._daemon = Daemon("server", state, dirs)

    def up(self) -> None:
        self._daemon.start(
            [*inside(self._namespace), find_program(), "serve", "--iperf3", f"0.0.0.0:{PORT}",
             "--log", "json", *self._options],
            cpus=self._cpus,
        )  # fmt: skip

    def waits_for(self) -> str | None:
        return None if '"ready"' in self._state.runner.read(self._daemon.log) else "its sockets"

    def alive(self) -> str | None:
        return self._daemon.ended()

    def expects(self) -> str | None:
        """Always ready for the next test: it serves many at once."""
        return None

    @property
    def log(self) -> str:
        return self._daemon.log

    @property
    def processes(self) -> tuple[Process, ...]:
        return self._daemon.processes

    def begin(self) -> None:
        """Its counts are those of single tests."""

    def read(self) -> tuple[HopCount, ...]:
        return ()

    def pollers(self) -> tuple[Poller, ...]:
        return ()

    def gap_logs(self) -> tuple[GapLog, ...]:
        return ()

    def down(self) -> None:
        self._daemon.stop()

    def describe(self) -> Mapping[str, object]:
        version = self._state.runner.run([find_program(), "--version"]).stdout.strip()
        return {"version": version, "command": list(self._daemon.command)}


def client_words(server: str, tcp: Tcp) -> list[str]:
    """The client's command line, after the program."""
    words = ["client", f"{server}:{PORT}", "--json", *_DIRECTION[tcp.direction]]
    values = {
        "time": tcp.seconds,
        "omit": tcp.omit_s,
        "parallel": tcp.streams,
        "block": tcp.message_bytes,
        "congestion": tcp.congestion,
        "window": tcp.window_bytes,
        "mss": tcp.mss,
    }
    for name, value in values.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    return words
