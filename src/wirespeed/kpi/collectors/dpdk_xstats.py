# SPDX-License-Identifier: Apache-2.0
"""Collect the extended statistics of the ports of any DPDK program: those that its driver names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from wirespeed.kpi.collectors.dpdk_programs import Programs
from wirespeed.kpi.interface import NUMBER, Missing, Name, Source, counter
from wirespeed.remote.interface import Runner
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.telemetry import Telemetry

_LIST, _XSTATS = "/ethdev/list", "/ethdev/xstats"
# Statistics of one port that are kept: a dictionary of rte_telemetry has no more entries.
_PORT_MOST = 256

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class XstatsCollector:
    """Keeps the names of statistics that were not 0 once: most of a driver's hundreds never are."""

    name = "dpdk-xstats"
    cheap = False
    metrics = (
        counter("ethdev_xstats", NUMBER, "program port statistic",
                "Extended statistic of a port that was not 0 once", _XSTATS),
    )  # fmt: skip

    _programs: Programs = field(init=False)
    _used: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._programs = Programs(self.name, lambda _: True, _XSTATS, self.read)

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        return self._programs.probe(runner)

    def read(self, program: str, telemetry: Telemetry) -> Mapping[Name, int]:
        """Return the series of one program.

        Raises NoAnswer for an answer of another type, and for one that DPDK cut at 16 KiB: it is
        no JSON any more.
        """
        found: dict[Name, int] = {}
        for port in map(str, _typed(telemetry, _LIST, list)):
            used = self._used.setdefault((program, port), set())
            statistics = _typed(telemetry, f"{_XSTATS},{port}", dict)
            for statistic, value in list(statistics.items())[:_PORT_MOST]:
                if int(value):
                    used.add(statistic)
                if statistic in used:
                    found["ethdev_xstats", (program, port, statistic)] = int(value)
        return found


def _typed(telemetry: Telemetry, command: str, wanted: type[_Answer]) -> _Answer:
    """Return an answer of that type. Raises NoAnswer."""
    answer = telemetry.ask(command)
    if not isinstance(answer, wanted):
        found = type(answer).__name__
        raise NoAnswer(f"the answer to {command} is no {wanted.__name__} but {found}")
    return answer
