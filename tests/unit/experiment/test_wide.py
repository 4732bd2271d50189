# SPDX-License-Identifier: Apache-2.0
"""Searches over many factors, and factors of many levels, on simulated hosts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tuned_host import TunedHost
from wirespeed.experiment.screening import NotSeparable
from wirespeed.experiment.tuned import Tuned, Verdict
from wirespeed.experiment.tuning import Asked, Stage, TooFewTrials
from wirespeed.experiment.wide import (
    block_runs,
    is_wide,
    members,
    most_wide_trials,
    wide_blocks,
    wide_effort,
    wide_tune,
)
from wirespeed.model.cpus import PlacementKind

MANY = (1,) * 20
# Rings of four other sizes, of which the third is best, then 3 factors of two levels.
SIZES = (4, 1, 1, 1)
GAINS = (0.04, 0.06, 0.13, -0.1, 0.08, 0.0, -0.05)


def tuned(host: TunedHost, groups: tuple[int, ...], trials: int = 500) -> Tuned:
    effort = wide_effort(groups, trials)
    return wide_tune(groups, lambda asked: host.measure(asked.on), 0.02, effort, host.seed)


def test_wide_tune_of_twenty_factors_claims_exactly_the_mis_set_ones() -> None:
    gains = [0.0] * 20
    gains[3], gains[11], gains[17], gains[5] = 0.09, 0.07, 0.1, -0.08
    found = tuned(TunedHost(tuple(gains), 1), MANY)
    assert found.claimed == {3, 11, 17}
    assert found.verdict(5) is Verdict.HARMS


def test_wide_tune_of_a_factor_of_five_levels_claims_the_best_one() -> None:
    found = tuned(TunedHost(GAINS, 1), SIZES)
    assert found.claimed == {2, 4}
    assert found.verdict(1) is Verdict.OTHER_LEVEL
    assert found.verdict(3) is Verdict.HARMS


def test_wide_tune_nothing_helps_claims_nothing() -> None:
    claims = sum(bool(tuned(TunedHost((0.0,) * 7, seed), SIZES).claimed) for seed in range(20))
    assert claims <= 1


def test_wide_tune_interaction_is_found_or_refused() -> None:
    for seed in range(6):
        host = TunedHost(GAINS, seed, together={frozenset({2, 4}): -0.25})
        assert host.truth(tuned(host, SIZES).claimed) >= 1


def test_wide_tune_refuted_gain_is_not_claimed() -> None:
    host = TunedHost(GAINS, 3)

    def measure(one: Asked) -> Mapping[PlacementKind | None, float]:
        return host.measure(frozenset() if one.stage is Stage.CONFIRMATION else one.on)

    found = wide_tune(SIZES, measure, 0.02, wide_effort(SIZES, 500))
    assert found.chosen
    assert not found.claimed


def test_wide_tune_no_rates_is_refused() -> None:
    with pytest.raises(NotSeparable):
        wide_tune(SIZES, lambda _asked: {}, 0.02, wide_effort(SIZES, 500))


def test_wide_blocks_of_two_levels_are_folded_over() -> None:
    first, second = wide_blocks(MANY, 2, 7)
    assert {frozenset(range(20)) - cell for cell in first} == set(second)


def test_wide_blocks_hardly_correlate() -> None:
    cells = [cell for block in wide_blocks(MANY, 4, 7) for cell in block]
    matrix = np.array([[1.0 if at in cell else -1.0 for at in range(20)] for cell in cells])
    likeness = np.abs(np.corrcoef(matrix.T) - np.eye(20))
    assert likeness.max() < 0.4


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=9), st.integers(0, 5))
def test_wide_blocks_have_each_level_equally_often_and_one_of_a_factor(
    sizes: list[int], seed: int
) -> None:
    groups = tuple(sizes)
    for block in wide_blocks(groups, 2, seed):
        assert len(block) == block_runs(groups)
        for factor in members(groups):
            assert all(len(cell & factor) <= 1 for cell in block)
            counts = [sum(level in cell for cell in block) for level in factor]
            counts.append(sum(not cell & factor for cell in block))
            assert max(counts) - min(counts) <= 1


@given(st.lists(st.integers(1, 3), min_size=1, max_size=16), st.integers(20, 400))
def test_wide_effort_for_any_trials_fits_or_names_the_least(sizes: list[int], trials: int) -> None:
    groups = tuple(sizes)
    try:
        assert most_wide_trials(groups, wide_effort(groups, trials)) <= trials
    except TooFewTrials as refused:
        wide_effort(groups, refused.least)
        with pytest.raises(TooFewTrials):
            wide_effort(groups, refused.least - 1)


def test_is_wide_more_factors_or_more_levels_than_a_fraction_takes() -> None:
    assert [is_wide(groups) for groups in ((1,) * 16, (1,) * 17, (1, 2))] == [False, True, True]
