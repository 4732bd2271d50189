# SPDX-License-Identifier: Apache-2.0
"""How do all clients of a TCP bench test at the same time, and what did their server use?"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.host_state import HostState
from wirespeed.bench.interface import Part
from wirespeed.bench.network import inside
from wirespeed.bench.process import await_true
from wirespeed.bench.threads import waited_ns
from wirespeed.remote.interface import Process, Runner

# Beyond the test itself: connecting, and exchanging results over a slow wire.
_GRACE_S = 60.0
_TICKS_PER_S = 100  # USER_HZ
_LOOK_S = 0.1


class TcpServer(Part, Protocol):
    """The serving end: a part of the bench that clients can test."""

    @property
    def processes(self) -> tuple[Process, ...]: ...

    def expects(self) -> str | None:
        """What has to come before the next test may begin, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Client:
    """One client process: on which host, what it runs, where its output goes."""

    namespace: str
    command: tuple[str, ...]
    log: str
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tested:
    """outputs: what each client printed. waited_ns: how long their threads waited for a CPU."""

    outputs: tuple[str, ...]
    waited_ns: int


def run_clients(
    state: HostState, clients: Sequence[Client], server: TcpServer, test_s: float
) -> Tested:
    """Let all clients test at the same time. Raises BenchError."""
    await_true(
        lambda: server.expects() is None,
        within_s=_GRACE_S,
        alive=server.alive,
        otherwise=lambda: f"{server.name} waits for {server.expects()}",
    )
    with ExitStack() as stack:
        waits = _Waits(state.runner, [_start(state, client, stack) for client in clients])
        await_true(
            waits.all_ended,
            within_s=test_s + _GRACE_S,
            every_s=_LOOK_S,
            alive=server.alive,
            otherwise=lambda: "the clients of the TCP test do not end",
        )
    return Tested(tuple(state.runner.read(client.log) for client in clients), waits.total_ns)


class _Waits:
    """How long the clients have waited for a CPU. What a thread waited is gone when it ends, so it
    is asked for while they run; the last moments are missed, and ours is time of theirs: not often.
    """

    def __init__(self, runner: Runner, processes: Sequence[Process]) -> None:
        self._runner, self._processes = runner, processes
        self._waited_ns = dict.fromkeys((process.pid for process in processes), 0)

    @property
    def total_ns(self) -> int:
        return sum(self._waited_ns.values())

    def all_ended(self) -> bool:
        running = [process for process in self._processes if process.poll() is None]
        for process in running:
            now_ns = waited_ns(self._runner, process.pid)
            self._waited_ns[process.pid] = max(self._waited_ns[process.pid], now_ns)
        return not running


def _start(state: HostState, client: Client, stack: ExitStack) -> Process:
    # What an earlier run wrote there would be taken for this one's.
    state.runner.write(client.log, "")
    command = [*inside(client.namespace), *client.command]
    process = state.spawn(command, log=client.log, cpus=client.cpus)
    stack.callback(_end, process)
    return process


def _end(process: Process) -> None:
    """A client that still runs when its bench is given up keeps the server from ending."""
    if process.poll() is None:
        process.signal(signal.SIGKILL)
        process.wait(_GRACE_S)


def cpu_s(runner: Runner, processes: Sequence[Process]) -> float:
    """CPU time that these processes have used so far, user and system (proc_stat(5))."""
    ticks = 0
    for process in processes:
        fields = runner.read(f"/proc/{process.pid}/stat").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_PER_S
