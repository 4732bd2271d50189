# SPDX-License-Identifier: Apache-2.0
"""Run wirespeed-speedtest as both ends of a TCP test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from wirespeed.bench.host.process import Daemon
from wirespeed.bench.host.programs import Program, find_program
from wirespeed.bench.interface import HopCount, UnpolledPart
from wirespeed.bench.traffic.tcp.ends.interface import Place
from wirespeed.model.study.tcp import Tcp, TcpDirection
from wirespeed.remote.interface import HostUnreachable, Process

_NAME = "wirespeed-speedtest"
SPEEDTEST = Program(
    _NAME,
    Path(__file__).parents[5] / "speedtest" / "target" / "release" / _NAME,
    made_by="make speedtest",
    packages="the Debian package wirespeed-speedtest",
)
PORT = 5201
_DIRECTION = {
    TcpDirection.UP: (),
    TcpDirection.DOWN: ("--reverse",),
    TcpDirection.BOTH: ("--bidirectional",),
}


class SpeedtestServer(UnpolledPart):
    """The speed-test server as a component of the bench."""

    name = "speed-test server"

    def __init__(self, place: Place, options: Sequence[str] = ()) -> None:
        self._place, self._options = place, tuple(options)
        self._daemon = Daemon("server", place.host, place.dirs)

    def up(self) -> None:
        program = find_program(self._place.host.runner, SPEEDTEST)
        self._daemon.start(
            [*self._place.words, program, "serve", "--iperf3", f"0.0.0.0:{PORT}",
             "--log", "json", *self._options],
            cpus=self._place.cpus,
        )  # fmt: skip

    def waits_for(self) -> str | None:
        return (
            None if '"ready"' in self._place.host.runner.read(self._daemon.log) else "its sockets"
        )

    def alive(self) -> str | None:
        return self._daemon.ended()

    def expects(self) -> str | None:
        """Return None: it serves many clients at once and is always ready."""
        return None

    @property
    def log(self) -> str:
        return self._daemon.log

    @property
    def processes(self) -> tuple[Process, ...]:
        return self._daemon.processes

    @property
    def programs(self) -> tuple[int, ...]:
        return tuple(process.pid for process in self.processes)

    def begin(self) -> None:
        """Do nothing: counts are those of single tests."""

    def read(self) -> tuple[HopCount, ...]:
        return ()

    def down(self) -> None:
        with suppress(HostUnreachable):  # it ended with its host
            self._daemon.stop()

    def describe(self) -> Mapping[str, object]:
        runner = self._place.host.runner
        version = runner.run([find_program(runner, SPEEDTEST), "--version"]).stdout.strip()
        return {"version": version, "command": list(self._daemon.command)}


def client_words(server: str, tcp: Tcp) -> list[str]:
    """Return the client's arguments, after the program."""
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
