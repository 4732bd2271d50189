# SPDX-License-Identifier: Apache-2.0
"""Check which missed time of a polling thread is a stall."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wirespeed.measure.stalls import ThreadReads, stalls

MS = 1_000_000
EVERY = 100 * MS


def read(
    missed_ms: Mapping[int, float], *, naps: Mapping[int, int] | None = None, reads: int = 11,
    stale_ms: Mapping[int, float] | None = None, waited_ms: Mapping[int, float] | None = None,
) -> ThreadReads:  # fmt: skip
    """Return reads of a thread that misses so much between read N and the next one.

    stale_ms: age of the thread's time at a read.
    """

    def counted(by: Mapping[int, float] | None, base: int) -> NDArray[np.int64]:
        steps = [base - round((by or {}).get(at, 0) * MS) for at in range(reads - 1)]
        return np.concatenate(([0], np.cumsum(steps))).astype(np.int64)

    at = np.arange(reads, dtype=np.int64) * EVERY + 7 * EVERY
    on_cpu = counted(missed_ms, EVERY)
    for number, age in (stale_ms or {}).items():
        on_cpu[number] -= round(age * MS)
    steps = [(naps or {}).get(number, 0) for number in range(reads - 1)]
    voluntary = np.concatenate(([0], np.cumsum(steps))).astype(np.int64)
    return ThreadReads(at, on_cpu, -counted(waited_ms, 0), voluntary)


def test_stalls_thread_stopped_for_50_ms_is_one_with_its_time() -> None:
    [found] = stalls(read({4: 50}, naps={4: 1}))
    assert (found.begin_ns, found.end_ns) == (11 * EVERY, 12 * EVERY)
    assert (found.missed_ns, found.ready) == (50 * MS, False)


def test_stalls_over_several_reads_are_one() -> None:
    [found] = stalls(read({3: 60, 4: 100, 5: 20}))
    assert (found.begin_ns, found.end_ns) == (10 * EVERY, 13 * EVERY)
    assert found.missed_ns == 180 * MS


def test_stalls_thread_that_waits_for_a_cpu_is_ready() -> None:
    [found] = stalls(read({4: 30}, waited_ms={4: 30}))
    assert (found.missed_ns, found.ready) == (30 * MS, True)


def test_stalls_stop_of_a_thread_that_always_shares_its_cpu_is_found() -> None:
    shares = dict.fromkeys(range(10), 25.0)
    [found] = stalls(read(shares | {4: 75.0}, waited_ms=shares))
    assert (found.begin_ns, found.missed_ns, found.ready) == (11 * EVERY, 50 * MS, False)


def test_stalls_thread_that_polls_has_none() -> None:
    assert stalls(read(dict.fromkeys(range(10), 1.5))) == []


def test_stalls_time_that_a_later_read_makes_up_for_is_none() -> None:
    assert stalls(read({}, stale_ms={4: 60, 5: 60, 6: 30})) == []


def test_stalls_thread_at_rest_between_trials_has_none() -> None:
    resting = dict.fromkeys(range(3, 7), 97.0)
    assert stalls(read(resting, naps=dict.fromkeys(range(3, 7), 1500))) == []


def test_stalls_next_to_rest_or_to_an_end_are_not_reported() -> None:
    assert stalls(read({3: 50, 4: 97}, naps={4: 1500})) == []
    assert stalls(read({0: 50, 9: 50})) == []


def test_stalls_of_few_reads_are_none() -> None:
    assert stalls(read({1: 50}, reads=3)) == []
