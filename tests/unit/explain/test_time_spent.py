# SPDX-License-Identifier: Apache-2.0
"""Check that the time of a point is accounted for, and by its true reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.moving_host import MovingHost
from tests.support.noisy_host import BUSY, NoisyHost
from tests.support.simulated import Recorder
from wirespeed.explain import time_spent as spent
from wirespeed.explain.time_spent import time_spent
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import run_search
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.spec import Search, SearchKind

QUICK = Search(SearchKind.QUICK)


def seconds(result: SearchResult) -> dict[str, float]:
    found = {part.what: part.seconds for part in time_spent(result)}
    all_s = sum(trial.duration_s + trial.observation.overhead_s for trial in result.trials)
    assert sum(found.values()) == pytest.approx(all_s)
    return found


def test_time_spent_of_a_noisy_host_names_its_disturbances() -> None:
    result = run_search(QUICK, NoisyHost(4e6, BUSY).measure, UNLIMITED, Recorder())
    found = seconds(result)
    assert found["core shared"] > 0
    assert found[spent.COUNTED] > found["core shared"]
    assert found[spent.AROUND] == pytest.approx(0.2 * len(result.trials))
    assert not {spent.MOVED, spent.ELSEWHERE, spent.RESTARTED} & set(found)


def test_time_spent_of_a_moving_host_names_the_moves() -> None:
    for seed in range(20):
        host = MovingHost(4e6, 0.35, seed=seed, stay_s=(2.0, 6.0))
        result = run_search(QUICK, host.measure, UNLIMITED, Recorder())
        found = seconds(result)
        moved = [t for t in result.trials if t.moved and t.stage in (Stage.SEARCH, Stage.MRR)]
        if result.by_placement and moved:
            assert found[spent.MOVED] >= sum(trial.duration_s for trial in moved)
            assert found[spent.RESTARTED] > 0
            return
    pytest.fail("no point met both placements")


def test_time_spent_on_a_load_that_confirmation_refuted_is_named() -> None:
    result = run_search(QUICK, NoisyHost(4e6).measure, UNLIMITED, Recorder())
    fresh = [trial for trial in result.trials if trial.stage is Stage.CONFIRM]
    assert result.ndr is not None
    assert result.ndr.lower is not None
    stands_fps = result.ndr.lower.load_fps
    refuted_s = sum(t.duration_s for t in fresh if t.intended_load_fps > stands_fps)
    assert seconds(result).get(spent.REFUTED, 0.0) == pytest.approx(refuted_s)
    all_s = sum(trial.duration_s for trial in fresh)
    assert seconds(replace(result, ndr=None))[spent.REFUTED] == pytest.approx(all_s)
