# SPDX-License-Identifier: Apache-2.0
"""Collect what the sampler itself costs: CPU time and reads of each collector, and its memory."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from wirespeed.kpi.interface import (
    NS,
    NUMBER,
    OCTETS,
    Missing,
    Name,
    Source,
    Values,
    counter,
    gauge,
)
from wirespeed.remote.interface import Runner

_USAGE = "getrusage(2)"


@dataclass(slots=True)
class Meter:
    """CPU time and reads by collector; each thread of a sampler adds its own."""

    _used: dict[str, tuple[int, int]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, collector: str, cpu_ns: int) -> None:
        """Add a read. cpu_ns: CPU time that the collector's thread took since the last one."""
        with self._lock:
            total_ns, reads = self._used.get(collector, (0, 0))
            self._used[collector] = total_ns + cpu_ns, reads + 1

    def used(self) -> dict[str, tuple[int, int]]:
        """Return CPU time in ns, and reads, by collector."""
        with self._lock:
            return dict(self._used)


METER = Meter()
"""Of this process."""


class OwnCollector:
    name = "sampler"
    cheap = True
    metrics = (
        counter("collector_cpu_seconds", NS, "collector",
                "CPU time that a collector took, its parsing included", "clock_gettime(2)"),
        counter("collector_reads", NUMBER, "collector", "Reads of a collector", "the sampler"),
        counter("sampler_cpu_seconds", NS, "",
                "CPU time of the sampler, and of programs that it ran", _USAGE),
        gauge("sampler_memory_bytes", OCTETS, "", "Largest memory of the sampler", _USAGE),
    )  # fmt: skip

    def __init__(self, meter: Meter = METER) -> None:
        self._meter = meter

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:  # noqa: ARG002
        return (_Sampler(self._meter),)


@dataclass(frozen=True, slots=True)
class _Sampler:
    meter: Meter
    name: str = "sampler"

    def read(self) -> Values:
        found: dict[Name, int] = {}
        for collector, (cpu_ns, reads) in self.meter.used().items():
            found["collector_cpu_seconds", (collector,)] = cpu_ns
            found["collector_reads", (collector,)] = reads
        usage = resource.getrusage(resource.RUSAGE_SELF)
        programs = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = usage.ru_utime + usage.ru_stime + programs.ru_utime + programs.ru_stime
        found["sampler_cpu_seconds", ()] = round(cpu_s * 1e9)
        found["sampler_memory_bytes", ()] = usage.ru_maxrss * 1024
        return Values(str(os.getpid()), found)

    def close(self) -> None: ...
