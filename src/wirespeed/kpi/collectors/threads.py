# SPDX-License-Identifier: Apache-2.0
"""Collect the scheduler's statistics of polling threads: PMD threads and DPDK's lcores."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from wirespeed.kpi.collectors.files import BOOT_ID
from wirespeed.kpi.collectors.thread_times import ThreadTimes, thread_metrics
from wirespeed.kpi.interface import Missing, Source
from wirespeed.model.numbered import numbered
from wirespeed.remote.interface import Runner
from wirespeed.sources.scheduler import all_pollers


class ThreadCollector:
    name = "threads"
    cheap = True
    metrics = thread_metrics("thread", "program")

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        found = all_pollers(runner)
        if not found:
            return Missing("no process has a polling thread (pmd-*, *-worker-*)")
        threads: dict[int, tuple[str, str]] = {}
        for program, thread in found:
            same = {label for label, name in threads.values() if name == thread.name}
            threads[thread.tid] = numbered(program, same), thread.name
        boot = runner.read(BOOT_ID).strip()
        epoch = f"{zlib.crc32(repr((boot, sorted(threads.items()))).encode()):08x}"
        return (ThreadTimes(self.name, "thread", runner, threads, epoch),)
