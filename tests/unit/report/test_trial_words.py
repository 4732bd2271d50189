# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.explain.trial import Outcome, Standing, outcome, standing
from wirespeed.model.result.counted_time import counted_time
from wirespeed.model.result.trial import CleanRun, Gated, Trial
from wirespeed.report.base.trial_words import trial_words
from wirespeed.store.records import RunRecord


@pytest.fixture
def noisy(run: RunRecord) -> Trial:
    """Return a gated trial at the load that was found; most of it was excluded."""
    return run.points[0].trials[-4].trial


def with_runs(trial: Trial, *runs: CleanRun, steady_lost: int = 0) -> Trial:
    assert trial.gated is not None
    steady = 1000 if steady_lost else 0
    gated = replace(
        trial.gated, runs=runs, steady_offered=steady, steady_lost=steady_lost, windows=1000
    )
    return replace(trial, gated=gated)


def test_a_trial_is_quiet_gated_or_faulty(noisy: Trial) -> None:
    assert standing(noisy) is Standing.GATED
    assert standing(replace(noisy, quiet=True)) is Standing.QUIET
    assert standing(replace(noisy, fault="more received than offered")) is Standing.FAULTY
    assert standing(replace(noisy, gated=None)) is Standing.DISTURBED


def test_only_time_that_counts_decides(noisy: Trial) -> None:
    assert noisy.lost > 0
    assert outcome(noisy, 0.005) is Outcome.NO_LOSS
    assert outcome(replace(noisy, quiet=True), 0.005) is Outcome.OVERLOAD
    assert "; clean " in trial_words(noisy)


@pytest.mark.parametrize(
    ("lost", "growth_frames", "expected"),
    [
        (0, 0.0, Outcome.NO_LOSS),
        (0, -500.0, Outcome.NO_LOSS),
        (3, 0.0, Outcome.WITHIN_GOAL),
        (60, 0.0, Outcome.OVERLOAD),
        (0, 60.0, Outcome.OVERLOAD),
        (30, 30.0, Outcome.OVERLOAD),
    ],
)
def test_loss_and_growth_are_overload(
    noisy: Trial, lost: int, growth_frames: float, expected: Outcome
) -> None:
    trial = with_runs(noisy, CleanRun(100, 10_000, lost, growth_frames))
    assert outcome(trial, 0.005) is expected


def test_an_overload_whose_queues_never_drain_shows_in_steady_windows(noisy: Trial) -> None:
    assert outcome(with_runs(noisy, steady_lost=100), 0.005) is Outcome.OVERLOAD
    # So small a loss may be left from earlier noise.
    assert counted_time(with_runs(noisy, steady_lost=19)) is None
    assert counted_time(with_runs(noisy)) is None
    assert outcome(with_runs(noisy), 0.005) is Outcome.UNKNOWN


def test_a_faulty_trial_has_no_counted_time(noisy: Trial) -> None:
    faulty = replace(noisy, fault="more received than offered", gated=None)
    assert outcome(faulty, 0.005) is Outcome.UNKNOWN
    assert trial_words(faulty) == "faulty: more received than offered"
    assert isinstance(noisy.gated, Gated)
