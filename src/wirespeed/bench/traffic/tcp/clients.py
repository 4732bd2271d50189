# SPDX-License-Identifier: Apache-2.0
"""Run all clients of a TCP bench at the same time, and observe them meanwhile."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.host.process import await_true
from wirespeed.bench.interface import Part
from wirespeed.bench.traffic.tcp.ends.interface import End
from wirespeed.remote.interface import HostUnreachable, Process, Runner

# Time beyond the test itself: connecting, and exchanging results over a slow wire.
_GRACE_S = 60.0
_TICKS_PER_S = 100  # USER_HZ
_LOOK_S = 0.1


class TcpServer(Part, Protocol):
    """The server of a TCP test, as a component of the bench."""

    @property
    def processes(self) -> tuple[Process, ...]: ...

    def expects(self) -> str | None:
        """Return what must happen before the next test may begin, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Client:
    """One client process: its endpoint, its command, and the file for its output."""

    end: End
    command: tuple[str, ...]
    log: str
    cpus: tuple[int, ...]


def run_clients(
    clients: Sequence[Client],
    server: TcpServer,
    test_s: float,
    *,
    started: Callable[[Sequence[int]], None],
    look: Callable[[], None],
) -> tuple[str, ...]:
    """Run all clients at the same time; return what each printed. Raises BenchError.

    started: called once with the PIDs on the bench's host. look: called every 0.1 s while any
    client runs.
    """
    await_true(
        lambda: server.expects() is None,
        within_s=_GRACE_S,
        alive=server.alive,
        otherwise=lambda: f"{server.name} waits for {server.expects()}",
    )
    with ExitStack() as stack:
        processes = [_start(client, stack) for client in clients]
        started(
            [
                pid
                for client, process in zip(clients, processes, strict=True)
                for pid in client.end.watched([process])
            ]
        )

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
    return tuple(client.end.place.host.runner.read(client.log) for client in clients)


def _start(client: Client, stack: ExitStack) -> Process:
    place = client.end.place
    # Text of an earlier run would be taken for this run's.
    place.host.runner.write(client.log, "")
    command = [*place.words, *client.command]
    process = place.host.spawn(command, log=client.log, cpus=client.cpus)
    stack.callback(_end, process)
    return process


def _end(process: Process) -> None:
    """End a client that still runs when its bench is given up: it would block the server's end."""
    with suppress(HostUnreachable):  # it ended with its host
        if process.poll() is None:
            process.signal(signal.SIGKILL)
            process.wait(_GRACE_S)


def cpu_s(runner: Runner, processes: Sequence[Process]) -> float:
    """Return the CPU time of these processes so far, user and system, in s (proc_stat(5))."""
    ticks = 0
    for process in processes:
        fields = runner.read(f"/proc/{process.pid}/stat").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_PER_S
