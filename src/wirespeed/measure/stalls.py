# SPDX-License-Identifier: Apache-2.0
"""Find when a polling thread stood still, from counters that were read again and again.

A thread that polls is on its CPU all the time. Time that it missed between two reads was taken
from it: by a signal, a hypervisor, another thread, or a lock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
# The kernel updates the time of a running thread once a tick, 4 to 10 ms.
LEAST_NS = 10_000_000
# Smallest share of the time between two reads: other threads take little, but all the time.
_SHARE = 0.04
# A thread that sleeps more often is at rest: it naps between its polls.
_NAPS, _NAPS_A_SECOND = 5, 50


@dataclass(frozen=True, slots=True)
class ThreadReads:
    """Counters of one thread at consecutive reads of one epoch, all in ns but the switches."""

    at_ns: Integers
    """Moment of each read by CLOCK_MONOTONIC."""
    on_cpu_ns: Integers
    waited_ns: Integers
    """Time ready, without a CPU."""
    voluntary: Integers
    """Context switches that the thread asked for; a stop by a signal is one."""


@dataclass(frozen=True, slots=True)
class Stall:
    """A time in which a polling thread did not run."""

    begin_ns: int
    """Last read before it, by CLOCK_MONOTONIC."""
    end_ns: int
    """First read after it."""
    missed_ns: int
    """Time without a CPU between these two."""
    waited_ns: int
    """Part of it in which the thread was ready to run."""


def stalls(reads: ThreadReads) -> list[Stall]:
    """Return the stalls of a thread in the order of time.

    A stall begins and ends between reads of a thread that polls: what a thread at rest misses is
    none, nor is what it missed when the recording began or ended.
    """
    if len(reads.at_ns) < 4:
        return []
    lengths = np.diff(reads.at_ns)
    missed = _missed(reads)
    naps = np.diff(reads.voluntary)
    rests = naps > np.maximum(_NAPS, _NAPS_A_SECOND * lengths / 1e9)
    stands = (missed >= np.maximum(LEAST_NS, _SHARE * lengths)) & ~rests
    polls = ~stands & ~rests
    found = []
    edges = np.diff(np.concatenate(([0], stands.astype(np.int8), [0])))
    for first, after in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        if first == 0 or after == len(stands) or not (polls[first - 1] and polls[after]):
            continue
        waited = int(reads.waited_ns[after] - reads.waited_ns[first])
        lost = int(missed[first:after].sum())
        found.append(
            Stall(int(reads.at_ns[first]), int(reads.at_ns[after]), lost, min(waited, lost))
        )
    return found


def _missed(reads: ThreadReads) -> Integers:
    """Return the time without a CPU between each two reads.

    The time on the CPU is up to a tick old when it is read. What a later read makes up for was not
    missed, so the least that any later read leaves is counted.
    """
    behind = (reads.at_ns - reads.at_ns[0]) - (reads.on_cpu_ns - reads.on_cpu_ns[0])
    settled = np.minimum.accumulate(behind[::-1])[::-1]
    steps: Integers = np.diff(settled)
    return steps
