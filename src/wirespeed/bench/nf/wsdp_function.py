# SPDX-License-Identifier: Apache-2.0
"""A network function in a wsdp process of its own."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.bench.interface import GapLog, HopCount, Poller
from wirespeed.bench.nf.roles import Function
from wirespeed.bench.wsdp.program import Wsdp
from wirespeed.remote.interface import Process


class WsdpFunction:
    """The part of a bench."""

    def __init__(self, program: Wsdp, functions: Sequence[Function]) -> None:
        self._program = program
        self._functions = tuple(functions)

    @property
    def name(self) -> str:
        return self._program.name

    def up(self) -> None:
        self._program.start()

    def waits_for(self) -> str | None:
        return self._program.waits_for()

    def alive(self) -> str | None:
        return self._program.ended()

    @property
    def processes(self) -> tuple[Process, ...]:
        return self._program.processes

    def begin(self) -> None:
        self._program.ask("reset")

    def read(self) -> tuple[HopCount, ...]:
        stats = self._program.ask("stats")
        return tuple(function.read(stats) for function in self._functions)

    def pollers(self) -> tuple[Poller, ...]:
        return self._program.pollers("sut")

    def gap_logs(self) -> tuple[GapLog, ...]:
        return self._program.gap_logs("sut")

    def down(self) -> None:
        self._program.stop()

    def describe(self) -> dict[str, object]:
        return self._program.describe()
