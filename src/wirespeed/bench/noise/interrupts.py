# SPDX-License-Identifier: Apache-2.0
"""Compare two counts of the interrupts of each CPU, and name those that disturb a trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source
from wirespeed.model.result.thread_time import CpuInterrupts
from wirespeed.sources.interrupts import SOFTIRQ, Counts
from wirespeed.sources.scheduler import TICK_NS, Snapshot

# Ticks; the kernel samples time per tick, so fewer are chance.
_TICKS = 5


def since(
    before: Counts, after: Counts, elapsed_s: float, host: str = ""
) -> tuple[CpuInterrupts, ...]:
    """Return the interrupts between two readings, most first, without idle sources."""
    found = [
        CpuInterrupts(cpu, source, n, n / elapsed_s, host)
        for (cpu, source), count in after.items()
        if (n := count - before.get((cpu, source), 0)) > 0 and elapsed_s > 0
    ]
    return tuple(sorted(found, key=lambda each: -each.count))


def disturbances(
    seen: Iterable[CpuInterrupts], roles: Mapping[int, str], duration_ns: int
) -> tuple[Disturbance, ...]:
    """Return the CPUs, with their roles, where one source interrupts too often.

    The whole time of the trial does not count there.
    """
    return tuple(
        Disturbance(
            each.cpu, 0, duration_ns, DisturbanceKind.INTERRUPTED, Source.INTERRUPTS,
            roles[each.cpu],
        )
        for each in seen
        if each.many and each.cpu in roles
    )  # fmt: skip


def with_softirq_time(
    seen: Iterable[CpuInterrupts], before: Snapshot, after: Snapshot
) -> tuple[CpuInterrupts, ...]:
    """Add the time share of softirqs to the most frequent softirq of each CPU."""
    found = list(seen)
    elapsed_ns = after.at_ns - before.at_ns
    for cpu, ns in after.softirq_ns.items():
        taken_ns = ns - before.softirq_ns.get(cpu, 0)
        of_it = [i for i, e in enumerate(found) if e.cpu == cpu and e.source.startswith(SOFTIRQ)]
        if of_it and taken_ns >= _TICKS * TICK_NS:
            most = max(of_it, key=lambda i: found[i].count)
            found[most] = replace(found[most], time_share=min(1.0, taken_ns / elapsed_ns))
    return tuple(found)


def without_softirqs(seen: Iterable[CpuInterrupts]) -> tuple[CpuInterrupts, ...]:
    """Exclude softirqs, which are the bench's own work if the kernel carries its frames."""
    return tuple(each for each in seen if not each.source.startswith(SOFTIRQ))
