# SPDX-License-Identifier: Apache-2.0
"""Test that the interval of a measured gain has its stated confidence."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.explain.tried import Verdict, measured_gain

RATES = st.floats(1e3, 1e8)


@pytest.mark.parametrize(
    ("pairs", "confidence"), [(1, 0.0), (2, 0.5), (3, 0.75), (5, 0.9375), (6, 0.96875)]
)
def test_few_pairs_say_how_unsure_they_are(pairs: int, confidence: float) -> None:
    found = measured_gain([(1e6, 1e6 * (1.1 + i / 100)) for i in range(pairs)])
    assert found.confidence == confidence
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.1 + (pairs - 1) / 100))
    assert found.verdict is (Verdict.MORE if pairs == 6 else Verdict.UNDECIDED)


def test_many_pairs_leave_out_the_extremes() -> None:
    ratios = [*range(1, 20), 1000]
    found = measured_gain([(100.0, 100.0 + ratio) for ratio in ratios])
    assert found.confidence >= 0.95
    assert found.high < 1


@given(st.lists(st.tuples(RATES, RATES), min_size=1, max_size=40))
def test_the_gain_is_within_its_interval_and_turns_with_the_pairs(
    pairs: list[tuple[float, float]],
) -> None:
    found = measured_gain(pairs)
    assert found.low <= found.gain <= found.high
    back = measured_gain([(after, before) for before, after in pairs])
    opposite = {Verdict.MORE: Verdict.LESS, Verdict.LESS: Verdict.MORE}
    assert back.verdict is opposite.get(found.verdict, found.verdict)


def test_the_interval_covers_the_true_median_as_often_as_it_says() -> None:
    rng = random.Random(4)
    covered = 0
    for _ in range(2000):
        # Skewed noise, whose median is 1.
        pairs = [(1e6, 1.02e6 * rng.lognormvariate(0, 0.1)) for _ in range(6)]
        found = measured_gain(pairs)
        covered += found.low <= 0.02 <= found.high
    assert covered / 2000 == pytest.approx(0.96875, abs=0.02)
