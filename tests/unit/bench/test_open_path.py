# SPDX-License-Identifier: Apache-2.0
"""Check that a path counts as open before any measurement, and never by chance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import pytest

from wirespeed.bench.interface import BenchError
from wirespeed.bench.session import RealBench
from wirespeed.bench.trial import TrialSetup
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import DirectionCount, Observation


def seen(received: int, *drops: Drop) -> Observation:
    direction = DirectionCount("west-east", 1_000, 1_000, 1_000, 0, received, 0, 0, 0)
    return Observation(10_000.0, 0.1, (direction,), drops, (), 0, 0.0, 0, 0)


class Scripted(RealBench):
    """Its trials return the given observations, the last one forever."""

    def __init__(self, trials: Iterable[Observation]) -> None:
        super().__init__(cast("TrialSetup", None), {})
        self._trials = list(trials)
        self.measured = 0

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        del load_fps, duration_s
        self.measured += 1
        return self._trials[min(self.measured, len(self._trials)) - 1]


LOST = seen(990, Drop("switch:west", DropCause.RX_RING_FULL, 10))
LATE = seen(700, Drop("switch:west", DropCause.TG_RX_RING_FULL, 300))
LATE_FUNCTION = seen(700, Drop("nic:vnf0a", DropCause.VNF_RX_RING_FULL, 300))
SWALLOWED = seen(0, Drop("nic:vnf0a", DropCause.VNF_RX_RING_FULL, 1_000))


def test_a_lossless_path_is_open_after_two_probes_without_loss() -> None:
    bench = Scripted([seen(1_000), LOST, seen(1_000), seen(1_000), LOST])
    bench.await_open(lossless=True)
    assert bench.measured == 4


@pytest.mark.parametrize("found", [LATE, LATE_FUNCTION], ids=["generator", "function"])
def test_frames_that_found_a_receive_ring_full_have_passed(found: Observation) -> None:
    bench = Scripted([found])
    bench.await_open(lossless=True)
    assert bench.measured == 2


@pytest.mark.parametrize("found", [LOST, seen(0), SWALLOWED])
def test_a_path_that_loses_is_not_open(found: Observation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirespeed.bench.session._OPEN_S", 0.0)
    with pytest.raises(BenchError, match="do not pass the SUT: of 1000 frames"):
        Scripted([found]).await_open(lossless=True)


def test_a_path_has_ten_probes_however_long_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirespeed.bench.session._OPEN_S", 0.0)
    bench = Scripted([*[seen(0)] * 9, seen(1_000)])
    bench.await_open(lossless=True)
    assert bench.measured == 11
    with pytest.raises(BenchError, match="do not pass the SUT"):
        Scripted([*[seen(0)] * 10, seen(1_000)]).await_open(lossless=True)


def test_a_lossy_path_is_open_after_any_frame_arrived() -> None:
    bench = Scripted([seen(0), LOST])
    bench.await_open(lossless=False)
    assert bench.measured == 3
