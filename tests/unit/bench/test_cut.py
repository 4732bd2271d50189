# SPDX-License-Identifier: Apache-2.0
"""Check that a generator's and a sink's bins are combined into the windows of one trial."""

from __future__ import annotations

import json

import pytest

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.traffic.frames.windows import (
    Bins,
    DirectionBins,
    cut,
    read_bins,
    read_latency_rows,
)
from wirespeed.model.result.evidence import DisturbanceKind

SHIFT, HZ = 15, 1 << 30  # a bin of about 30.5 µs
BIN_NS = (1 << SHIFT) * 1e9 / HZ
STARTED_BIN = 1000
CLOCK = TrialClock(STARTED_BIN << SHIFT, HZ)
BINS = 330  # about 10 ms
EACH = 33  # bins of a window: a millisecond
MS_NS = round(EACH * BIN_NS)


def bins(
    frames: list[int],
    *,
    ahead: int = 0,
    unsent: list[int] | None = None,
    latency_ns: int = 5000,
    beyond: int = 0,
) -> Bins:
    """Return bins as in a file. ahead: empty bins before the trial began."""
    text = json.dumps(
        {
            "format": "wirespeed-windows-1",
            "tsc_hz": HZ,
            "base_tsc": STARTED_BIN - ahead << SHIFT,
            "shift": SHIFT,
            "beyond": beyond,
            "frames": [0] * ahead + frames,
            "unsent": [0] * ahead + (unsent or []),
            "latency_ns": [0] * ahead + [latency_ns] * len(frames),
        }
    )
    return read_bins(text)


def way(generator: Bins, sink: Bins, refused: int = 0) -> DirectionBins:
    return DirectionBins("west-east", (generator,), sink, refused)


DURATION_NS = round(BINS * BIN_NS)
LOAD_FPS = 100 / BIN_NS * 1e9


def test_both_sides_are_aligned_by_their_stamps() -> None:
    """Logs began at different times; bin 40 lost 7 frames."""
    received = [100] * BINS
    received[40] = 93
    found = cut(
        [way(bins([100] * BINS, ahead=3), bins(received, ahead=11))], CLOCK, DURATION_NS, LOAD_FPS
    )
    assert found.windows is not None
    [windows] = found.windows.directions
    assert (found.windows.count, found.windows.window_ns) == (10, MS_NS)
    assert windows.offered == (100 * EACH,) * 10
    assert [o - r for o, r in zip(windows.offered, windows.received, strict=True)] == [
        0, 7, 0, 0, 0, 0, 0, 0, 0, 0,
    ]  # fmt: skip
    assert windows.latency_ns == (5000.0,) * 10
    assert (found.late, found.unseen) == ((), ())


def test_windows_are_longer_where_few_frames_are_sent() -> None:
    slow = cut([way(bins([5] * BINS), bins([5] * BINS))], CLOCK, DURATION_NS, LOAD_FPS / 20)
    assert slow.windows is not None
    assert slow.windows.count == 3
    assert slow.windows.directions[0].offered == (500, 500, 500)


def test_a_window_of_which_nothing_arrived_has_no_latency() -> None:
    received = [100] * BINS
    received[EACH : 2 * EACH] = [0] * EACH
    found = cut([way(bins([100] * BINS), bins(received))], CLOCK, DURATION_NS, LOAD_FPS)
    assert found.windows is not None
    assert found.windows.directions[0].latency_ns[:3] == (5000.0, -1.0, 5000.0)


def test_a_generator_off_its_schedule_is_a_disturbance() -> None:
    """The generator gave frames up in window 2, and sent those of window 5 in window 6."""
    offered = [100] * BINS
    offered[5 * EACH : 6 * EACH] = [0] * EACH
    offered[6 * EACH : 7 * EACH] = [200] * EACH
    unsent = [0] * BINS
    unsent[2 * EACH] = 1
    found = cut([way(bins(offered, unsent=unsent), bins(offered))], CLOCK, DURATION_NS, LOAD_FPS)
    assert {d.kind for d in found.late} == {DisturbanceKind.LATE}
    assert [round(d.begin_ns / MS_NS) for d in found.late] == [2, 5, 6]


def test_without_stamps_only_the_whole_trial_counts() -> None:
    found = cut([way(bins([0] * BINS), bins([0] * BINS))], CLOCK, DURATION_NS, LOAD_FPS)
    assert found.windows is None
    assert found.unseen == ("frames carry no time stamp: only whole trials count",)


def test_frames_refused_by_the_nic_leave_no_windows() -> None:
    full = bins([100] * BINS)
    found = cut([way(full, full, refused=1)], CLOCK, DURATION_NS, LOAD_FPS)
    assert found.windows is None
    assert "NIC" in found.unseen[0]


def test_a_burst_is_too_short_for_windows() -> None:
    found = cut([way(bins([100] * 3), bins([100] * 3))], CLOCK, round(3 * BIN_NS), LOAD_FPS)
    assert found.windows is None
    assert "too short" in found.unseen[0]


def test_frames_beyond_the_log_are_reported() -> None:
    full = bins([100] * BINS)
    found = cut([way(full, bins([100] * BINS, beyond=9))], CLOCK, DURATION_NS, LOAD_FPS)
    assert found.unseen == ("9 frames lie beyond the last window that was logged",)


def test_clocks_that_disagree_count_frames_but_know_no_latency() -> None:
    full = bins([100] * BINS)
    behind = DirectionBins("west-east", (full,), full, 0, clock_behind=3)
    found = cut([behind], CLOCK, DURATION_NS, LOAD_FPS)
    assert found.windows is not None
    assert found.windows.directions[0].latency_ns == (-1.0,) * 10
    assert found.windows.directions[0].received == (100 * EACH,) * 10
    assert "clocks of both ends disagree" in found.unseen[0]


def test_another_version_of_the_data_plane_is_refused() -> None:
    with pytest.raises(BenchError, match="wirespeed-windows-2"):
        read_bins(json.dumps({"format": "wirespeed-windows-2"}))


def test_latency_rows_of_all_sinks_are_one() -> None:
    def rows(first: int, found: list[list[list[int]]]) -> str:
        return json.dumps(
            {
                "format": "wirespeed-latency-rows-1",
                "tsc_hz": HZ,
                "base_tsc": STARTED_BIN + first << SHIFT,
                "shift": SHIFT,
                "rows": found,
            }
        )

    merged = read_latency_rows([rows(0, [[[64, 2]], []]), rows(1, [[[64, 1], [80, 3]]])], CLOCK)
    assert merged is not None
    assert merged.rows == (((64, 2),), ((64, 1), (80, 3)))
    assert merged.begin_ns == 0
    assert read_latency_rows([rows(0, [])], CLOCK) is None
