# SPDX-License-Identifier: Apache-2.0
"""Searches for faster settings on simulated hosts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tuned_host import NEAR, TunedHost
from wirespeed.experiment.combinations import MAX_FACTORS
from wirespeed.experiment.fractions import strings
from wirespeed.experiment.screening import NotSeparable
from wirespeed.experiment.tuned import Tuned, Verdict
from wirespeed.experiment.tuning import Asked, Stage, TooFewTrials, effort_for, most_trials, tune
from wirespeed.model.cpus import PlacementKind

MIS_SET = (0.08, 0.0, 0.1, -0.06, 0.0, 0.06, 0.0, 0.0)


def tuned(host: TunedHost, trials: int = 64) -> Tuned:
    factors = len(host.gains)
    return tune(
        factors, lambda asked: host.measure(asked.on), 0.02, effort_for(factors, trials), host.seed
    )


def test_tune_mis_set_factors_claims_exactly_these() -> None:
    found = tuned(TunedHost(MIS_SET, 1))
    assert found.claimed == {0, 2, 5}
    assert [found.verdict(at) for at in (0, 1, 3)] == [
        Verdict.KEEP, Verdict.NO_EFFECT, Verdict.HARMS,
    ]  # fmt: skip


def test_tune_nothing_helps_claims_nothing_and_bounds_the_gain() -> None:
    found = tuned(TunedHost((0.0, -0.05, 0.0, -0.1), 2))
    assert found.claimed == frozenset()
    assert found.confirmation is None
    low, high = found.possible
    assert low < 0.01
    assert -0.01 < high < 0.06


def test_tune_equal_settings_rarely_claims() -> None:
    claims = sum(bool(tuned(TunedHost((0.0,) * 8, seed)).claimed) for seed in range(60))
    assert claims <= 3


def test_tune_interaction_is_found_or_refused() -> None:
    for seed in range(20):
        host = TunedHost(MIS_SET, seed, together={frozenset({0, 2}): -0.2})
        assert host.truth(tuned(host).claimed) >= 1


def test_tune_suspected_interaction_folds_a_factor_of_its_string() -> None:
    pair = frozenset({0, 2})
    found = tuned(TunedHost(MIS_SET, 3, together={pair: -0.2}))
    confounded = next(group for group in strings(8) if pair in group)
    assert found.folded in frozenset().union(*confounded)
    assert found.interactions


def test_tune_factor_that_helps_only_a_worse_level_is_not_changed() -> None:
    """The cache that helps only without the other one: both on is as fast as the start."""
    host = TunedHost((-0.25, 0.0), 4, together={frozenset({0, 1}): 0.15})
    found = tuned(host)
    assert found.verdict(0) is Verdict.HARMS
    assert found.verdict(1) is Verdict.ELSEWHERE
    assert found.claimed == frozenset()


def test_tune_no_interaction_folds_nothing() -> None:
    assert tuned(TunedHost(MIS_SET, 1)).folded is None


def test_tune_same_answers_asks_the_same_again() -> None:
    asked: list[list[Asked]] = []
    for _ in range(2):
        host = TunedHost(MIS_SET, 5)
        seen: list[Asked] = []

        def measure(
            one: Asked, seen: list[Asked] = seen, host: TunedHost = host
        ) -> Mapping[PlacementKind | None, float]:
            seen.append(one)
            return host.measure(one.on)

        tune(8, measure, 0.02, effort_for(8, 64), 7)
        asked.append(seen)
    assert asked[0] == asked[1]


@pytest.mark.parametrize(("scatter", "blocks"), [(0.002, {1, 2}), (0.1, {1, 2, 3, 4})])
def test_tune_screening_ends_as_soon_as_every_effect_is_proven_or_too_small(
    scatter: float, blocks: set[int]
) -> None:
    host = TunedHost((0.08, 0.0, -0.06, 0.0), 3, scatter, drift=0.0)
    seen: list[Asked] = []

    def measure(one: Asked) -> Mapping[PlacementKind | None, float]:
        seen.append(one)
        return host.measure(one.on)

    found = tune(4, measure, 0.02, effort_for(4, 64))
    assert {one.block for one in seen if one.stage is Stage.SCREENING} == blocks
    assert found.claimed == (frozenset() if scatter > 0.05 else {0})


def test_tune_confirmation_uses_fresh_measurements_of_two_settings() -> None:
    seen: list[Asked] = []
    host = TunedHost(MIS_SET, 6)

    def measure(one: Asked) -> Mapping[PlacementKind | None, float]:
        seen.append(one)
        return host.measure(one.on)

    found = tune(8, measure, 0.02, effort_for(8, 64))
    assert {one.on for one in seen if one.stage is Stage.CONFIRMATION} == {
        frozenset(), found.chosen,
    }  # fmt: skip


def test_tune_refuted_gain_is_not_claimed() -> None:
    """The gain of the screening is gone when it is confirmed."""
    host = TunedHost(MIS_SET, 8)

    def measure(one: Asked) -> Mapping[PlacementKind | None, float]:
        return host.measure(frozenset() if one.stage is Stage.CONFIRMATION else one.on)

    found = tune(8, measure, 0.02, effort_for(8, 64))
    assert found.chosen
    assert found.claimed == frozenset()
    assert found.verdict(0) is Verdict.UNCONFIRMED


def test_tune_large_drift_between_blocks_is_void() -> None:
    host = TunedHost(MIS_SET, 9)

    def measure(one: Asked) -> Mapping[PlacementKind | None, float]:
        rates = host.measure(one.on)
        return {kind: fps / (2 if one.block > 1 else 1) for kind, fps in rates.items()}

    found = tune(8, measure, 0.02, effort_for(8, 64))
    assert found.void is not None
    assert found.claimed == frozenset()


def test_tune_no_rates_is_refused() -> None:
    with pytest.raises(NotSeparable):
        tune(3, lambda _asked: {}, 0.02, effort_for(3, 64))


def test_tune_unknown_placement_is_one_placement() -> None:
    host = TunedHost((0.1, 0.0), 3, scatter=0.01)

    def measure(one: Asked) -> Mapping[PlacementKind | None, float]:
        return {None: 4e6 * host.truth(one.on) * (1 + 0.001 * (host.measure(one.on).get(NEAR, 0)
                                                               > 4e6))}  # fmt: skip

    assert tune(2, measure, 0.02, effort_for(2, 64)).claimed == {0}


@given(st.integers(1, MAX_FACTORS), st.integers(20, 400))
def test_effort_for_any_trials_fits_or_names_the_least(factors: int, trials: int) -> None:
    try:
        assert most_trials(factors, effort_for(factors, trials)) <= trials
    except TooFewTrials as refused:
        least = refused.least
        effort_for(factors, least)
        with pytest.raises(TooFewTrials):
            effort_for(factors, least - 1)
