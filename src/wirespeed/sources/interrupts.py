# SPDX-License-Identifier: Apache-2.0
"""Count the interrupts of each CPU by source: devices, timers, other CPUs and softirqs.

The sources are /proc/interrupts and /proc/softirqs (proc(5)). Their columns are the online CPUs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from wirespeed.remote.interface import Runner

HARD, SOFT = "/proc/interrupts", "/proc/softirqs"
SOFTIRQ = "softirq "
Counts = Mapping[tuple[int, str], int]


def read_interrupts(runner: Runner, cpus: Collection[int]) -> Counts:
    """Return the interrupts since boot by CPU and source; empty if the kernel reports none."""
    files = runner.read_many((HARD, SOFT))
    found: dict[tuple[int, str], int] = {}
    for path, prefix in ((HARD, ""), (SOFT, SOFTIRQ)):
        if isinstance(text := files[path], str):
            for cpu, source, count in rows(text):
                if cpu in cpus:
                    key = cpu, prefix + source
                    found[key] = found.get(key, 0) + count
    return found


def rows(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield CPU, source and count of every cell of either file."""
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
