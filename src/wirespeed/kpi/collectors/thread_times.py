# SPDX-License-Identifier: Apache-2.0
"""Read the scheduler's statistics of known threads, for collectors of several programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.kpi.interface import NS, NUMBER, Metric, Name, Values, counter, gauge
from wirespeed.remote.interface import Runner
from wirespeed.sources.scheduler import treatments

_SCHEDSTAT = "/proc/PID/task/TID/schedstat"


def thread_metrics(prefix: str, owner: str) -> tuple[Metric, ...]:
    """Return the series of a thread: names begin with the prefix, owner is the first label."""
    labels = f"{owner} thread"
    return (
        counter(f"{prefix}_cpu_seconds", NS, labels, "Time on a CPU", _SCHEDSTAT,
                term="Processor utilisation, counted"),
        counter(f"{prefix}_wait_seconds", NS, labels, "Time ready, without a CPU", _SCHEDSTAT),
        counter(f"{prefix}_switches", NUMBER, f"{labels} kind", "Context switches",
                "/proc/PID/task/TID/status"),
        gauge(f"{prefix}_cpu", NUMBER, labels, "CPU on which it ran last",
              "/proc/PID/task/TID/stat"),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ThreadTimes:
    """Source of these series. threads: labels (owner, thread) by thread ID."""

    name: str
    prefix: str
    runner: Runner
    threads: Mapping[int, tuple[str, str]]
    epoch: str

    def read(self) -> Values:
        found: dict[Name, int] = {}
        for tid, seen in treatments(self.runner, tuple(self.threads)).items():
            label = self.threads[tid]
            found[f"{self.prefix}_cpu_seconds", label] = seen.on_cpu_ns
            found[f"{self.prefix}_wait_seconds", label] = seen.runqueue_wait_ns
            found[f"{self.prefix}_switches", (*label, "voluntary")] = seen.voluntary_switches
            found[f"{self.prefix}_switches", (*label, "involuntary")] = seen.involuntary_switches
            found[f"{self.prefix}_cpu", label] = seen.cpu
        return Values(self.epoch, found)

    def close(self) -> None: ...
