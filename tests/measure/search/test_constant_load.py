# SPDX-License-Identifier: Apache-2.0
"""fixed and soak: is one load held, and its loss told?"""

from __future__ import annotations

import random

import pytest

from tests.measure.simulated import Recorder, Rig, Sharp
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import run_search
from wirespeed.model.result import SearchResult
from wirespeed.model.spec import Search, SearchKind
from wirespeed.model.trial import Stage

FIXED = Search(SearchKind.FIXED, load_fps=2e6, trial_s=5.0)
SOAK = Search(SearchKind.SOAK, load_fps=2e6, trial_s=60.0, total_s=590.0)


def run(search: Search, rig: Rig) -> SearchResult:
    return run_search(search, rig.measure, UNLIMITED, Recorder())


def test_fixed_is_one_trial_at_the_load() -> None:
    rig = Rig(Sharp(1.5e6))
    result = run(FIXED, rig)
    assert rig.calls == [(2e6, 1.0), (2e6, 5.0)]
    assert result.constant is not None
    assert result.constant.load_fps == 2e6
    assert result.constant.forwarding_fps == 1.5e6
    assert result.constant.loss_ratio == 0.25
    assert result.mrr_fps is None


def test_fixed_repeats_an_invalid_trial() -> None:
    rig = Rig(Sharp(1.5e6), invalid_share=0.5, rng=random.Random(3))
    result = run(FIXED, rig)
    assert result.constant is not None
    assert result.constant.loss_ratio == 0.25
    assert any(not t.valid for t in result.trials[1:])


def test_fixed_beyond_the_generator_is_not_measurable() -> None:
    rig = Rig(Sharp(1.5e6), generator_fps=1e6)
    result = run(FIXED, rig)
    assert result.constant is None
    assert result.not_measurable is not None
    assert "generator short" in result.not_measurable
    assert len(rig.calls) == 3, "warm-up and twice the load, not again and again"


def test_soak_is_a_series_that_fills_the_time() -> None:
    result = run(SOAK, Rig(Sharp(1.5e6)))
    series = [t for t in result.trials if t.stage is Stage.CONSTANT]
    assert [t.duration_s for t in series] == [60.0] * 10
    assert result.constant is not None
    assert result.constant.loss_ratio == pytest.approx(0.25)
    assert result.notes == ()


def test_soak_keeps_invalid_trials_but_not_in_its_sums() -> None:
    rig = Rig(Sharp(1.5e6), invalid_share=0.5, rng=random.Random(3))
    result = run(SOAK, rig)
    series = [t for t in result.trials if t.stage is Stage.CONSTANT]
    left_out = sum(not t.valid for t in series)
    assert len(series) == 10
    assert 0 < left_out < 10
    assert result.constant is not None
    assert result.constant.loss_ratio == pytest.approx(0.25)
    assert result.constant.forwarding_fps == pytest.approx(1.5e6)
    assert result.notes == (f"{left_out} of 10 trials were invalid and left out",)


def test_a_soak_without_a_valid_trial_has_no_figure() -> None:
    result = run(SOAK, Rig(Sharp(1.5e6), invalid_share=1.0))
    assert result.constant is None
    assert result.not_measurable is not None
    assert "none of 10 trials" in result.not_measurable
