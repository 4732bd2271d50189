# SPDX-License-Identifier: Apache-2.0
"""Test that noise is no drift, and that a drift, a failure and a falling clock are reported."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.effort import effort
from wirespeed.fleet.burn_in import BurnIn, Sample, burn_ins, trend
from wirespeed.fleet.words import burn_in_words
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.host.snapshot import Repeat

BEGIN = datetime(2026, 11, 23, 12, tzinfo=UTC)
TRIALS = 120


def trial(number: int, rate: float, **more: Any) -> Repeat:
    at = (BEGIN + timedelta(minutes=2 * number)).isoformat()
    return replace(Repeat("h", "burn", "64 B", at, rate, 0.0), **more)


def burnt(rate: Callable[[int], float], seed: int = 1) -> BurnIn:
    """Evaluate four hours of trials, each with 1% of noise."""
    chance = random.Random(seed)
    (found,) = burn_ins(trial(n, rate(n) * chance.gauss(1, 0.01)) for n in range(TRIALS))
    return found


def test_noise_is_seldom_a_drift() -> None:
    told = [burnt(lambda _: 1e6, seed).worth_a_look for seed in range(effort(200, 2000))]
    assert sum(told) <= max(1, len(told) // 100)


def test_a_drift_is_reported_with_its_size() -> None:
    found = burnt(lambda n: 1e6 * (1 - 0.02 * n / 30))
    assert found.rate is not None
    assert found.rate.certain
    assert found.worth_a_look
    assert -0.025 < found.rate.per_hour < -0.018
    assert "rate falls by 2." in burn_in_words(found)


def test_one_noisy_trial_is_no_drift() -> None:
    found = burnt(lambda n: 0.5e6 if n == TRIALS - 1 else 1e6)
    assert found.rate is not None
    assert not found.rate.certain
    assert abs(found.rate.per_hour) < 0.005


def test_the_first_failure_is_reported() -> None:
    trials = [trial(n, 1e6, loss=0.01 if n >= 60 else 0.0) for n in range(TRIALS)]
    (found,) = burn_ins(trials)
    assert (found.failures, found.first_failure_s) == (60, 7200)
    assert "60 trials with loss, the first after 120 min" in burn_in_words(found)


def test_heat_and_a_falling_clock_are_reported() -> None:
    trials = [
        trial(n, 1e6, temperature_c=50 + n / 4, frequency_mhz=3000 - 5 * n) for n in range(TRIALS)
    ]
    (found,) = burn_ins(trials)
    assert found.p99 is None
    assert found.temperature is not None
    assert found.frequency is not None
    assert "temperature rises" in burn_in_words(found)
    assert "clock speed falls" in burn_in_words(found)
    assert found.rate is not None
    assert not found.rate.certain


NEAR, FAR = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES


def moved_halfway(n: int, drift: float = 0.0) -> Repeat:
    """Far forwards a third less than near."""
    near = n < TRIALS // 2
    rate = (1e6 if near else 0.65e6) * (1 - drift * n / 30) * (1 + n * 7 % 13 / 1000)
    return replace(trial(n, rate), placement=NEAR if near else FAR)


def test_burn_in_cpus_that_moved_are_no_drift() -> None:
    (found,) = burn_ins(moved_halfway(n) for n in range(TRIALS))
    assert found.rate is not None
    assert not found.rate.certain
    assert not found.worth_a_look


def test_burn_in_drift_within_each_placement_is_reported_with_its_size() -> None:
    (found,) = burn_ins(moved_halfway(n, drift=0.02) for n in range(TRIALS))
    assert found.rate is not None
    assert found.rate.certain
    assert -0.025 < found.rate.per_hour < -0.018


def test_burn_in_trial_with_a_move_counts_for_its_loss_alone() -> None:
    trials = [replace(trial(n, 1e6 - 1e4 * n, loss=0.01), moved=True) for n in range(TRIALS)]
    (found,) = burn_ins(trials)
    assert found.rate is None
    assert found.failures == TRIALS


def test_few_trials_and_trials_of_other_points_are_no_burn_in() -> None:
    few = [trial(n, 1e6) for n in range(10)]
    other = [replace(one, point="128 B") for one in few]
    assert burn_ins([*few, *other]) == ()


def test_order_of_arrival_does_not_matter() -> None:
    trials = [trial(n, 1e6 - n) for n in range(TRIALS)]
    assert burn_ins(trials) == burn_ins(reversed(trials))


def test_equal_values_have_no_trend() -> None:
    found = trend([Sample(float(n), 5.0) for n in range(50)])
    assert (found.per_hour, found.certain) == (0.0, False)
