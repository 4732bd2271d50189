# SPDX-License-Identifier: Apache-2.0
"""How do all clients of a TCP bench test at the same time, while somebody looks at them?"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.host_state import HostState
from wirespeed.bench.interface import Part
from wirespeed.bench.network import inside
from wirespeed.bench.process import await_true
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


def run_clients(
    state: HostState,
    clients: Sequence[Client],
    server: TcpServer,
    test_s: float,
    *,
    started: Callable[[Sequence[Process]], None],
    look: Callable[[], None],
) -> tuple[str, ...]:
    """Let all clients test at the same time; what each printed. Raises BenchError.

    started: told the processes once. look: called every 0.1 s while any of them runs.
    """
    await_true(
        lambda: server.expects() is None,
        within_s=_GRACE_S,
        alive=server.alive,
        otherwise=lambda: f"{server.name} waits for {server.expects()}",
    )
    with ExitStack() as stack:
        processes = [_start(state, client, stack) for client in clients]
        started(processes)

        def ended() -> bool:
            look()
            return all(process.poll() is not None for process in processes)

        await_true(
            ended,
            within_s=test_s + _GRACE_S,
            every_s=_LOOK_S,
            alive=server.alive,
            otherwise=lambda: "the clients of the TCP test do not end",
        )
    return tuple(state.runner.read(client.log) for client in clients)


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
