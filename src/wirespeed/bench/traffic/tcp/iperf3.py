# SPDX-License-Identifier: Apache-2.0
"""Run stock iperf3 as both ends of a TCP test: one server process for each client process.

iperf3 serves one client at a time and, before 3.16, from one thread. So S0 started one process on
each virtual CPU, each with its own port (table 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, ValidationError

from wirespeed.bench.host.process import Daemon, DaemonsPart
from wirespeed.bench.interface import BenchError, HopCount
from wirespeed.bench.traffic.tcp.ends.interface import Place
from wirespeed.model.result.tcp import TcpDirectionResult
from wirespeed.model.study.tcp import Tcp, TcpDirection
from wirespeed.remote.interface import HostUnreachable

PROGRAM = "iperf3"
FIRST_PORT = 5201
_DIRECTION = {
    TcpDirection.UP: (),
    TcpDirection.DOWN: ("--reverse",),
    TcpDirection.BOTH: ("--bidir",),
}


class Iperf3Servers(DaemonsPart):
    """Servers as a component of the bench, each with its own port and pinned to one CPU."""

    name = "iperf3 servers"

    def __init__(self, place: Place, count: int) -> None:
        super().__init__([Daemon(f"iperf3-{n}", place.host, place.dirs) for n in range(count)])
        self._place, cpus = place, place.cpus
        self._cpus = tuple(cpus[number % len(cpus)] for number in range(count))

    def up(self) -> None:
        for number, (daemon, cpu) in enumerate(zip(self._daemons, self._cpus, strict=True)):
            command = [PROGRAM, "--server", "--port", str(FIRST_PORT + number), "--forceflush"]
            daemon.start([*self._place.words, *command], cpus=(cpu,))

    def waits_for(self) -> str | None:
        return self.expects()

    def expects(self) -> str | None:
        """Return what is missing until the last line of every server reports that it listens."""
        busy = [
            FIRST_PORT + number
            for number, daemon in enumerate(self._daemons)
            if not _listens(self._place.host.runner.read(daemon.log))
        ]
        return f"iperf3 to listen on {busy}" if busy else None

    def begin(self) -> None:
        """Do nothing: counts are those of single tests."""

    def read(self) -> tuple[HopCount, ...]:
        return ()

    def down(self) -> None:
        with suppress(HostUnreachable):  # they ended with their host
            for daemon in self._daemons:
                daemon.stop()

    def describe(self) -> Mapping[str, object]:
        said = self._place.host.runner.run([PROGRAM, "--version"]).stdout
        commands = [" ".join(daemon.command) for daemon in self._daemons]
        return {"version": said.partition("\n")[0], "commands": commands, "cpus": list(self._cpus)}


def _listens(log: str) -> bool:
    said = [line for line in log.splitlines() if line.strip("- ")]
    return bool(said) and said[-1].startswith("Server listening on")


def client_words(server: str, number: int, tcp: Tcp) -> list[str]:
    """Return the command line of the client process with that number."""
    words = [PROGRAM, "--client", server, "--port", str(FIRST_PORT + number), "--json"]
    words += _DIRECTION[tcp.direction]
    values = {
        "time": tcp.seconds,
        "omit": tcp.omit_s,
        "parallel": tcp.streams,
        "length": tcp.message_bytes,
        "congestion": tcp.congestion,
        "window": tcp.window_bytes,
        "set-mss": tcp.mss,
    }
    for name, value in values.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    return words


class _Sum(BaseModel):
    bytes: int
    bits_per_second: float
    retransmits: int = 0


class _Cpu(BaseModel):
    host_total: float
    remote_total: float


class _End(BaseModel):
    """Summary of a test.

    sum_...: from client to server, or the only direction; bidir: from server to client.
    """

    sum_sent: _Sum
    sum_received: _Sum
    sum_sent_bidir_reverse: _Sum | None = None
    sum_received_bidir_reverse: _Sum | None = None
    cpu_utilization_percent: _Cpu


class _Output(BaseModel):
    error: str | None = None
    end: dict[str, Any] = {}


def read_output(text: str, direction: TcpDirection) -> tuple[tuple[TcpDirectionResult, ...], float]:
    """Return the directions of one process's test, and its CPU use as a share of a core.

    Raises BenchError when the test failed, or the text is not what iperf3 prints.
    """
    try:
        output = _Output.model_validate_json(text)
        if output.error is not None:
            raise BenchError(f"iperf3 failed: {output.error}")
        end = _End.model_validate(output.end)
    except ValidationError:
        said = " ".join(text.split())[-300:] or "it said nothing"
        raise BenchError(f"iperf3 did not print a result: {said}") from None
    first = TcpDirection.DOWN if direction is TcpDirection.DOWN else TcpDirection.UP
    cpu = end.cpu_utilization_percent
    directions = [_result(first, end.sum_sent, end.sum_received, cpu)]
    if end.sum_sent_bidir_reverse is not None and end.sum_received_bidir_reverse is not None:
        back = (end.sum_sent_bidir_reverse, end.sum_received_bidir_reverse)
        directions.append(_result(TcpDirection.DOWN, *back, cpu))
    return tuple(directions), cpu.host_total / 100


def _result(direction: TcpDirection, sent: _Sum, received: _Sum, cpu: _Cpu) -> TcpDirectionResult:
    because = (
        "iperf3 gives no verdict",
        f"its client used {cpu.host_total:.0f}% of a core, its server {cpu.remote_total:.0f}%",
    )
    return TcpDirectionResult(
        direction, received.bytes, received.bits_per_second, sent.retransmits, "unknown", because
    )
