# SPDX-License-Identifier: Apache-2.0
"""Check how gaps become frames in a ring."""

from __future__ import annotations

import pytest

from wirespeed.qualify.rings import SIZES, backlog_ns, needed, ring_for, ring_needs

MS = 1_000_000


@pytest.mark.parametrize(
    ("gaps", "backlog"),
    [
        ([], 0),
        ([(0, 3 * MS)], 3 * MS),
        # The second begins when the backlog of the first is gone, half gone, and whole.
        ([(0, 3 * MS), (6 * MS, 2 * MS)], 3 * MS),
        ([(0, 4 * MS), (6 * MS, 3 * MS)], 5 * MS),
        ([(0, 3 * MS), (3 * MS, 2 * MS)], 5 * MS),
        # A program takes three quarters of the time: the backlog only grows.
        ([(i * 4 * MS, 3 * MS) for i in range(10)], 3 * MS + 9 * 2 * MS),
    ],
)
def test_backlog_is_what_earlier_gaps_left(gaps: list[tuple[int, int]], backlog: int) -> None:
    assert backlog_ns(gaps) == backlog


def test_needed_is_rate_times_backlog_rounded_up() -> None:
    assert needed(3.1e6, 660_000) == 2046
    assert needed(1e6, 1) == 1
    assert needed(1e6, 0) == 0


@pytest.mark.parametrize(("frames", "ring"), [(0, 512), (512, 512), (513, 1024), (4096, 4096)])
def test_ring_for_is_the_smallest_that_holds_them(frames: int, ring: int) -> None:
    assert ring_for(frames) == ring


def test_ring_for_too_many_frames_is_none() -> None:
    assert ring_for(4097) is None


def test_ring_needs_rate_fills_the_ring_exactly() -> None:
    found = ring_needs(660_000)
    assert [need.descriptors for need in found] == list(SIZES)
    for need in found:
        assert need.lossless_fps is not None
        assert needed(need.lossless_fps, 660_000) in (need.descriptors, need.descriptors + 1)


def test_ring_needs_without_a_gap_limit_no_rate() -> None:
    assert {need.lossless_fps for need in ring_needs(0)} == {None}
