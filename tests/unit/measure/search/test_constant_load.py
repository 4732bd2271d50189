# SPDX-License-Identifier: Apache-2.0
"""Check that fixed and soak hold one load and report its loss."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.support.simulated import Recorder, Rig, Sharp
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import run_search
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.spec import Search, SearchKind

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


def test_fixed_is_extended_until_it_can_be_judged() -> None:
    rig = Rig(Sharp(1.5e6), disturbed_share=0.5, rng=random.Random(6))
    result = run(FIXED, rig)
    assert result.constant is not None
    assert result.constant.loss_ratio == 0.25
    assert not all(t.quiet for t in result.trials[1:])
    assert result.grade is Grade.C


def test_a_fixed_load_that_cannot_be_judged_has_rates_over_all_time() -> None:
    rig = Rig(Sharp(1.5e6), disturbed_share=1.0)
    result = run(FIXED, rig)
    trials = 4 * 5  # without clean time each trial counts a quarter
    assert len(rig.calls) == 1 + trials
    assert result.constant is not None
    losses = [t.loss_ratio for t in result.trials[1:]]
    assert result.constant.loss_ratio == pytest.approx(sum(losses) / trials)
    assert result.grade is Grade.D
    assert result.bracket is None
    assert result.as_is is not None
    assert (result.as_is.loss_low, result.as_is.loss_high) == (min(losses), max(losses))
    assert result.not_measurable is None


def test_fixed_that_runs_out_of_time_keeps_what_it_has() -> None:
    rig = Rig(Sharp(1.5e6), disturbed_share=1.0)
    result = run(replace(FIXED, time_limit_s=2.0), rig)
    assert len(rig.calls) == 2
    assert result.constant is not None
    assert result.grade is Grade.D


@pytest.mark.parametrize("search", [FIXED, SOAK])
def test_a_load_beyond_the_generator_is_not_measurable(search: Search) -> None:
    rig = Rig(Sharp(1.5e6), generator_fps=1e6)
    result = run(search, rig)
    assert result.constant is None
    assert result.grade is None
    assert result.as_is is not None
    assert result.as_is.lossless_fps is None, "that load was never offered"
    assert result.not_measurable is not None
    assert (
        "the generator offered 1,000,000 frames/s at best, not 2,000,000" in result.not_measurable
    )
    assert len(rig.calls) == 3, "warm-up and twice the load, not again and again"


def test_soak_is_a_series_that_fills_the_time() -> None:
    result = run(SOAK, Rig(Sharp(1.5e6)))
    series = [t for t in result.trials if t.stage is Stage.CONSTANT]
    assert [t.duration_s for t in series] == [60.0] * 10
    assert result.constant is not None
    assert result.constant.loss_ratio == pytest.approx(0.25)
    assert result.notes == ()
    assert result.grade is Grade.A
    assert result.conformant


def test_soak_keeps_noisy_trials_but_not_in_its_sums() -> None:
    rig = Rig(Sharp(1.5e6), disturbed_share=0.5, rng=random.Random(3))
    result = run(SOAK, rig)
    series = [t for t in result.trials if t.stage is Stage.CONSTANT]
    assert len(series) == 10
    assert 0 < sum(not t.quiet for t in series) < 10
    assert result.constant is not None
    assert result.constant.loss_ratio == pytest.approx(0.25)
    assert result.constant.forwarding_fps == pytest.approx(1.5e6)
    assert result.grade in {Grade.B, Grade.C}
    assert not result.conformant


def test_misread_trials_of_a_soak_are_excluded_and_reported() -> None:
    rig = Rig(Sharp(1.5e6), misread_share=0.3, rng=random.Random(5))
    result = run(SOAK, rig)
    misread = sum(t.fault is not None for t in result.trials if t.stage is Stage.CONSTANT)
    assert misread > 0
    assert result.constant is not None
    assert result.constant.loss_ratio == pytest.approx(0.25)
    assert result.notes == (f"{misread} of 10 trials were misread and excluded",)


def test_a_soak_without_a_clean_trial_has_rates_over_all_time() -> None:
    result = run(SOAK, Rig(Sharp(1.5e6), disturbed_share=1.0))
    assert result.constant is not None
    assert result.grade is Grade.D


def test_a_soak_without_a_readable_trial_has_no_figure() -> None:
    result = run(SOAK, Rig(Sharp(1.5e6), misread_share=1.0))
    assert result.constant is None
    assert result.not_measurable is not None
    assert "the counters contradict each other" in result.not_measurable


def test_a_soak_ends_with_its_time_and_keeps_what_it_has() -> None:
    result = run(replace(SOAK, time_limit_s=150.0), Rig(Sharp(1.5e6)))
    assert [t.stage for t in result.trials].count(Stage.CONSTANT) == 3
    assert result.constant is not None
    assert result.constant.loss_ratio == pytest.approx(0.25)
    assert result.notes == ("the time limit ended it after 3 of 10 trials",)
