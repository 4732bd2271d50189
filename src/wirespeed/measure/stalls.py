# SPDX-License-Identifier: Apache-2.0
"""Find when a polling thread stood still, from counters that were read again and again.

A thread that polls is on its CPU all the time. Time that it missed between two reads was taken
from it: by a signal, a hypervisor, another thread, or a lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
# The kernel updates the time of a running thread once a tick, 4 to 10 ms.
LEAST_NS = 10_000_000
# Smallest share of the time between two reads: interrupts and other threads take little, but all
# the time.
_STOPPED_SHARE, _READY_SHARE = 0.02, 0.04
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
    ready: bool
    """It was ready to run; otherwise it was stopped or blocked, or its CPU was stolen."""


def stalls(reads: ThreadReads) -> list[Stall]:
    """Return the stalls of a thread in the order of time.

    A stall begins and ends between reads of a thread that polls: what a thread at rest misses is
    none, nor is what it missed when the recording began or ended.
    """
    if len(reads.at_ns) < 4:
        return []
    lengths = np.diff(reads.at_ns)
    rests = np.diff(reads.voluntary) > np.maximum(_NAPS, _NAPS_A_SECOND * lengths / 1e9)
    kinds = (
        (False, _stopped(reads), _STOPPED_SHARE),
        (True, np.diff(reads.waited_ns), _READY_SHARE),
    )
    found: list[Stall] = []
    for ready, missed, share in kinds:
        stands = (missed >= np.maximum(LEAST_NS, share * lengths)) & ~rests
        found += _stretches(reads.at_ns, missed, stands, ~stands & ~rests, ready=ready)
    return sorted(found, key=lambda each: each.begin_ns)


def _stretches(
    at_ns: Integers, missed: Integers, stands: Booleans, polls: Booleans, *, ready: bool
) -> Iterator[Stall]:
    """Yield each stretch of intervals in which the thread stands, between two in which it polls."""
    edges = np.diff(np.concatenate(([0], stands.astype(np.int8), [0])))
    for first, after in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        if first and after < len(stands) and polls[first - 1] and polls[after]:
            lost = int(missed[first:after].sum())
            yield Stall(int(at_ns[first]), int(at_ns[after]), lost, ready)


def _stopped(reads: ThreadReads) -> Integers:
    """Return the time between each two reads in which the thread neither ran nor was ready.

    The time on the CPU is up to a tick old when it is read, and a wait is added when it ends. What
    a later read makes up for was not missed, so the least that any later read leaves is counted.
    """
    elapsed = reads.at_ns - reads.at_ns[0]
    counted = reads.on_cpu_ns - reads.on_cpu_ns[0] + reads.waited_ns - reads.waited_ns[0]
    settled = np.minimum.accumulate((elapsed - counted)[::-1])[::-1]
    steps: Integers = np.diff(settled)
    return steps
