# SPDX-License-Identifier: Apache-2.0
"""Count the interrupts of each CPU by source: devices, timers, other CPUs and softirqs.

The sources are /proc/interrupts and /proc/softirqs (proc(5)). Their columns are the online CPUs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from wirespeed.bench.noise.scheduler import TICK_NS, Snapshot
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source
from wirespeed.model.result.thread_time import CpuInterrupts
from wirespeed.remote.interface import Runner

_HARD, _SOFT = "/proc/interrupts", "/proc/softirqs"
_SOFTIRQ = "softirq "
# Ticks; the kernel samples time per tick, so fewer are chance.
_TICKS = 5
Counts = Mapping[tuple[int, str], int]


def interrupts(runner: Runner, cpus: Collection[int]) -> Counts:
    """Return the interrupts since boot by CPU and source; empty if the kernel reports none."""
    files = runner.read_many((_HARD, _SOFT))
    found: dict[tuple[int, str], int] = {}
    for path, prefix in ((_HARD, ""), (_SOFT, _SOFTIRQ)):
        if isinstance(text := files[path], str):
            for cpu, source, count in _rows(text):
                if cpu in cpus:
                    key = cpu, prefix + source
                    found[key] = found.get(key, 0) + count
    return found


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
        of_it = [i for i, e in enumerate(found) if e.cpu == cpu and e.source.startswith(_SOFTIRQ)]
        if of_it and taken_ns >= _TICKS * TICK_NS:
            most = max(of_it, key=lambda i: found[i].count)
            found[most] = replace(found[most], time_share=min(1.0, taken_ns / elapsed_ns))
    return tuple(found)


def without_softirqs(seen: Iterable[CpuInterrupts]) -> tuple[CpuInterrupts, ...]:
    """Exclude softirqs, which are the bench's own work if the kernel carries its frames."""
    return tuple(each for each in seen if not each.source.startswith(_SOFTIRQ))


def _rows(text: str) -> Iterator[tuple[int, str, int]]:
    heading, *lines = text.splitlines()
    cpus = [int(word.removeprefix("CPU")) for word in heading.split()]
    for line in lines:
        label, _, rest = line.partition(":")
        words = rest.split()
        counts = words[: len(cpus)]
        if len(counts) < len(cpus) or not all(word.isdigit() for word in counts):
            continue  # ERR and MIS are counts of the whole host.
        source = _source(label.strip(), words[len(cpus) :])
        yield from ((cpu, source, int(n)) for cpu, n in zip(cpus, counts, strict=True))


def _source(label: str, words: list[str]) -> str:
    """Return the device handler's name, the kernel's text for other interrupts, or the softirq."""
    if not words:
        return label
    return f"interrupt {label} of {words[-1]}" if label.isdigit() else " ".join(words)
