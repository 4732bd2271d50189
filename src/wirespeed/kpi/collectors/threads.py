# SPDX-License-Identifier: Apache-2.0
"""Collect the scheduler's statistics of polling threads: PMD threads and DPDK's lcores."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.kpi.collectors.files import BOOT_ID
from wirespeed.kpi.interface import NS, NUMBER, Missing, Name, Source, Values, counter, gauge
from wirespeed.remote.interface import Runner
from wirespeed.sources.scheduler import all_pollers, treatments

_SCHEDSTAT = "/proc/PID/task/TID/schedstat"


class ThreadCollector:
    name = "threads"
    cheap = True
    metrics = (
        counter("thread_cpu_seconds", NS, "program thread", "Time on a CPU", _SCHEDSTAT,
                term="Processor utilisation, counted"),
        counter("thread_wait_seconds", NS, "program thread", "Time ready, without a CPU",
                _SCHEDSTAT),
        counter("thread_switches", NUMBER, "program thread kind", "Context switches",
                "/proc/PID/task/TID/status"),
        gauge("thread_cpu", NUMBER, "program thread", "CPU on which it ran last",
              "/proc/PID/task/TID/stat"),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        found = all_pollers(runner)
        if not found:
            return Missing("no process has a polling thread (pmd-*, *-worker-*)")
        seen = Counter[tuple[str, str]]()
        threads: dict[int, tuple[str, str]] = {}
        for program, thread in found:
            seen[program, thread.name] += 1
            number = seen[program, thread.name]
            label = program if number == 1 else f"{program}#{number}"
            threads[thread.tid] = label, thread.name
        boot = runner.read(BOOT_ID).strip()
        epoch = f"{zlib.crc32(repr((boot, sorted(threads.items()))).encode()):08x}"
        return (_Threads(runner, threads, epoch),)


@dataclass(frozen=True, slots=True)
class _Threads:
    runner: Runner
    threads: Mapping[int, tuple[str, str]]
    epoch: str
    name: str = "threads"

    def read(self) -> Values:
        found: dict[Name, int] = {}
        for tid, seen in treatments(self.runner, tuple(self.threads)).items():
            label = self.threads[tid]
            found["thread_cpu_seconds", label] = seen.on_cpu_ns
            found["thread_wait_seconds", label] = seen.runqueue_wait_ns
            found["thread_switches", (*label, "voluntary")] = seen.voluntary_switches
            found["thread_switches", (*label, "involuntary")] = seen.involuntary_switches
            found["thread_cpu", label] = seen.cpu
        return Values(self.epoch, found)

    def close(self) -> None: ...
