# SPDX-License-Identifier: Apache-2.0
"""Hold connections to DPDK programs: what the collectors of wsdp and of any program share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.kpi.interface import Missing, Name, Source, Values
from wirespeed.model.numbered import numbered
from wirespeed.remote.interface import RemoteError, Runner
from wirespeed.sources.processes import epoch_of
from wirespeed.sources.telemetry import Telemetry
from wirespeed.sources.telemetry_sockets import telemetry_sockets

DEADLINE_S = 1.0
# Name of its process. wsdp's list of commands lacks its own while it starts.
WSDP = "wsdp"

Parse = Callable[[str, Telemetry], Mapping[Name, int]]


@dataclass(slots=True)
class Program:
    """One program. `parse` asks it, and returns the series of the program of that name."""

    name: str
    program: str
    telemetry: Telemetry
    epoch: str
    parse: Parse
    closed: bool = False

    def read(self) -> Values:
        return Values(self.epoch, self.parse(self.program, self.telemetry))

    def close(self) -> None:
        self.closed = True
        self.telemetry.close()


@dataclass(slots=True)
class Programs:
    """Programs whose process has a `wanted` name, once they know the command `first`.

    Connections last from probe to probe.
    """

    collector: str
    wanted: Callable[[str], bool]
    first: str
    parse: Parse
    _open: dict[str, Program] = field(default_factory=dict)
    _others: set[str] = field(default_factory=set)

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        """Connect to programs that are new, and return all that are open."""
        there = telemetry_sockets(runner)
        self._others &= there.keys()
        self._open = {
            path: source
            for path, source in self._open.items()
            if path in there and not source.closed
        }
        silent = ""
        for path, name in there.items():
            if path not in self._open and path not in self._others:
                try:
                    self._connect(runner, path, name)
                except (OSError, RemoteError) as fault:
                    silent = f"{path}: {fault}"  # e.g. the socket of a program that was killed
        return tuple(self._open.values()) or Missing(silent or "no such program runs")

    def _connect(self, runner: Runner, path: str, name: str) -> None:
        telemetry = Telemetry(runner, path, timeout_s=DEADLINE_S)
        try:
            pid = telemetry.pid
            if not self.wanted(runner.read(f"/proc/{pid}/comm").strip()):
                self._others.add(path)
            elif self.first in telemetry.ask("/"):
                epoch = epoch_of(runner, pid)
                program = numbered(name, {each.program for each in self._open.values()})
                source = f"{self.collector} {program}"
                self._open[path] = Program(source, program, telemetry, epoch, self.parse)
                return
            telemetry.close()
        except (OSError, RemoteError):
            telemetry.close()
            raise
