# SPDX-License-Identifier: Apache-2.0
"""Check that a search with a time limit uses it, on a host whose noise comes and goes."""

from __future__ import annotations

import pytest

from tests.support.changing_host import FULL, ChangingHost
from tests.support.noisy_host import BUSY, Noise, NoisyHost
from tests.support.simulated import Recorder
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import LOOKING, WIDTH_WHEN_DISTURBED, run_search
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.spec import Search, SearchKind

CAPACITY_FPS = 4.05e6
LIMIT_S = 60.0
ROUNDED = 1.02


def run(host: ChangingHost | NoisyHost, limit_s: float = LIMIT_S) -> SearchResult:
    search = Search(SearchKind.QUICK, latency=False, time_limit_s=limit_s)
    return run_search(search, host.measure, UNLIMITED, Recorder())


def ndr_fps(result: SearchResult) -> float:
    assert result.ndr is not None
    assert result.ndr.lower is not None
    return result.ndr.lower.load_fps


@pytest.mark.parametrize("seed", range(8))
def test_noise_that_comes_and_goes_leaves_a_rate_within_the_time(seed: int) -> None:
    result = run(ChangingHost(CAPACITY_FPS, seed))
    assert result.grade is not None
    assert result.grade <= Grade.C
    assert 0.9 < ndr_fps(result) / CAPACITY_FPS <= 1 + ROUNDED * WIDTH_WHEN_DISTURBED


def test_an_mrr_without_time_that_counts_does_not_decide_that_no_time_counts() -> None:
    """Noise takes nearly all time of the MRR and goes afterwards."""
    result = run(ChangingHost(CAPACITY_FPS, 1, first=((2.5, FULL), (LIMIT_S, BUSY))))
    assert result.grade is not None
    assert result.grade <= Grade.C
    assert ndr_fps(result) == pytest.approx(CAPACITY_FPS, rel=0.02)


def test_a_host_that_never_calms_is_searched_by_whole_trials() -> None:
    """It looks for a calmer moment for a share of the time."""
    always = Noise(shared=1.0, stops_per_s=60)
    result = run(NoisyHost(CAPACITY_FPS, always), limit_s=16.0)
    assert result.grade is Grade.D
    assert result.ndr is None
    assert result.mrr_fps is None
    looks = [t for t in result.trials if t.stage is Stage.SEARCH and t.duration_s == 0.5]
    assert sum(t.duration_s for t in looks) == pytest.approx(LOOKING * 16.0)
    assert any(t.stage is Stage.SEARCH and t.duration_s < 0.5 for t in result.trials)


def test_a_load_lowered_by_noise_is_raised_again() -> None:
    """The noise that takes the time of the confirmation goes before the time is over."""
    found = [ndr_fps(run(ChangingHost(CAPACITY_FPS, seed))) for seed in (7, 8, 12)]
    assert min(found) > 0.92 * CAPACITY_FPS
