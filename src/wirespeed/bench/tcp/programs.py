# SPDX-License-Identifier: Apache-2.0
"""The two programs of a TCP test: our speed-test server as a part of the bench, and its client."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from wirespeed.bench.dpdk import Directories
from wirespeed.bench.host_state import HostState
from wirespeed.bench.interface import BenchError, HopCount, PollingThread
from wirespeed.bench.network import inside
from wirespeed.bench.process import Daemon, await_true
from wirespeed.model.tcp import Tcp, TcpDirection
from wirespeed.remote.interface import Process, Runner

PROGRAM = "wirespeed-speedtest"
# In a source tree, where `make speedtest` leaves the program.
_BUILT = Path(__file__).parents[4] / "speedtest" / "target" / "release" / PROGRAM
PORT = 5201
# Beyond the test itself: connecting, and exchanging results over a slow wire.
_GRACE_S = 60.0
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

    def threads(self) -> tuple[PollingThread, ...]:
        return ()

    def down(self) -> None:
        self._daemon.stop()

    def describe(self) -> Mapping[str, object]:
        version = self._state.runner.run([find_program(), "--version"]).stdout.strip()
        return {"version": version, "command": list(self._daemon.command)}


@dataclass(frozen=True, slots=True)
class Client:
    """One client host: where it is, where its server is, where its output goes."""

    namespace: str
    server: str
    log: str
    cpus: tuple[int, ...]


def run_clients(
    state: HostState, clients: Sequence[Client], tcp: Tcp, server: SpeedtestServer
) -> list[str]:
    """Let all clients test at the same time; returns what each printed. Raises BenchError."""
    with ExitStack() as stack:
        processes = [_start(state, client, tcp, stack) for client in clients]
        await_true(
            lambda: all(process.poll() is not None for process in processes),
            within_s=tcp.omit_s + tcp.seconds + _GRACE_S,
            every_s=0.05,
            alive=server.alive,
            otherwise=lambda: "the speed-test clients do not end",
        )
    return [state.runner.read(client.log) for client in clients]


def _start(state: HostState, client: Client, tcp: Tcp, stack: ExitStack) -> Process:
    # What an earlier run wrote there would be taken for this one's.
    state.runner.write(client.log, "")
    process = state.spawn(
        [*inside(client.namespace), find_program(), *client_words(client.server, tcp)],
        log=client.log,
        cpus=client.cpus,
    )
    stack.callback(_end, process)
    return process


def _end(process: Process) -> None:
    """A client that still runs when its bench is given up keeps the server from ending."""
    if process.poll() is None:
        process.signal(signal.SIGKILL)
        process.wait(_GRACE_S)


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


def cpu_s(runner: Runner, processes: Sequence[Process]) -> float:
    """CPU time that these processes have used so far, user and system (proc_stat(5))."""
    ticks = 0
    for process in processes:
        fields = runner.read(f"/proc/{process.pid}/stat").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_PER_S


_TICKS_PER_S = 100  # USER_HZ
