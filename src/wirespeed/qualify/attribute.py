# SPDX-License-Identifier: Apache-2.0
"""Name what caused each gap of a polling thread; pure.

The kernel records each thread that ran on the CPU. Where none ran, an interrupt, the hypervisor or
the firmware had the CPU. Counts of steal time and of system management interrupts say how much of
that was whose, but not when: the longest gaps are attributed to them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.qualify.qualification import Cause, Interrupter

# The kernel reports steal time in ticks of USER_HZ.
_STEAL_STEP_NS = 10_000_000
_WORDS = {
    Cause.STOPPED: "the poller left its CPU: page fault, signal or quota",
    Cause.HYPERVISOR: "hypervisor",
    Cause.FIRMWARE: "firmware (SMI)",
    Cause.NO_PROGRAM: "interrupt, hypervisor or firmware",
    Cause.UNKNOWN: "unknown",
}
UNNAMED = "a program that has ended"


def words_of(cause: Cause, name: str) -> str:
    """Name what caused a gap."""
    return name or _WORDS.get(cause, UNNAMED)


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which the thread did not poll, in ns."""

    begin_ns: int
    length_ns: int
    cause: Cause = Cause.UNKNOWN
    name: str = ""

    @property
    def words(self) -> str:
        return words_of(self.cause, self.name)


@dataclass(frozen=True, slots=True)
class Run:
    """A time in which a thread ran on the CPU, in ns."""

    begin_ns: int
    length_ns: int
    tid: int


class CpuRuns:
    """Threads that ran on one CPU, in the order of time. poller: the thread whose gaps they are."""

    def __init__(self, runs: Sequence[Run], poller: int) -> None:
        self._runs, self._poller = runs, poller
        self._ends = [run.begin_ns + run.length_ns for run in runs]

    def within(self, gap: Gap) -> Counter[int]:
        """Return the time that each thread ran during the gap, in ns, by its id."""
        found: Counter[int] = Counter()
        end = gap.begin_ns + gap.length_ns
        for run in self._runs[bisect_left(self._ends, gap.begin_ns) :]:
            if run.begin_ns >= end:
                break
            ran = min(end, run.begin_ns + run.length_ns) - max(gap.begin_ns, run.begin_ns)
            found[run.tid] += ran
        return found

    def named(self, gap: Gap, names: Mapping[int, str]) -> Gap:
        """Return the gap with its cause.

        The thread polled again within the gap's last stretch, so it is on the CPU for a part. If it
        was so for most of the gap, no switch caused it.
        """
        ran = self.within(gap)
        polled = ran.pop(self._poller, 0)
        if polled > gap.length_ns - polled:
            return Gap(gap.begin_ns, gap.length_ns, Cause.NO_PROGRAM)
        if not ran:
            return Gap(gap.begin_ns, gap.length_ns, Cause.STOPPED)
        [(tid, _)] = ran.most_common(1)
        return Gap(gap.begin_ns, gap.length_ns, Cause.PROGRAM, names.get(tid, UNNAMED))


def with_counts(gaps: Sequence[Gap], steal_ns: int, smis: int) -> list[Gap]:
    """Attribute gaps without a program to what the counts of the same time show."""
    found = list(gaps)
    blank = [i for i, gap in enumerate(found) if gap.cause is Cause.NO_PROGRAM]
    blank.sort(key=lambda i: -found[i].length_ns)
    left_ns = steal_ns + _STEAL_STEP_NS if steal_ns else 0
    for i in blank:
        gap = found[i]
        if gap.length_ns <= left_ns:
            left_ns -= gap.length_ns
            found[i] = Gap(gap.begin_ns, gap.length_ns, Cause.HYPERVISOR)
        elif smis > 0:
            smis -= 1
            found[i] = Gap(gap.begin_ns, gap.length_ns, Cause.FIRMWARE)
    return found


def interrupters(gaps: Sequence[Gap]) -> tuple[Interrupter, ...]:
    """Sum the gaps by cause and program, the longest gap first."""
    lengths: dict[tuple[Cause, str], list[int]] = defaultdict(list)
    for gap in gaps:
        lengths[gap.cause, gap.name].append(gap.length_ns)
    found = [
        Interrupter(cause, name, len(each), max(each), sum(each))
        for (cause, name), each in lengths.items()
    ]
    return tuple(sorted(found, key=lambda each: -each.longest_ns))
