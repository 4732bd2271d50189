# SPDX-License-Identifier: Apache-2.0
"""Comparisons in turns that stop when the answer is sure."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tuned_host import FAR, NEAR, TunedHost
from wirespeed.experiment.turns import MOST_PAIRS, Answer, Compared, Stop, compare_in_turns


def compared(gain: float, seed: int, stop: Stop, scatter: float = 0.02) -> Compared:
    host = TunedHost((gain,), seed, scatter)
    return compare_in_turns(lambda b: host.measure(frozenset({0} if b else ())), stop)


def test_compare_in_turns_large_gain_stops_early() -> None:
    found = compared(0.25, 1, Stop(0.02, 40))
    assert found.answer is Answer.MORE
    assert found.ratio.pairs <= 8
    assert found.ratio.low < 0.25 < found.ratio.high


def test_compare_in_turns_equal_settings_ends_as_same() -> None:
    assert compared(0.0, 3, Stop(0.05, 40)).answer is Answer.SAME


def test_compare_in_turns_loss_is_less() -> None:
    assert compared(-0.2, 4, Stop(0.02, 12)).answer is Answer.LESS


def test_compare_in_turns_equal_settings_rarely_differ() -> None:
    found = [compared(0.0, seed, Stop(0.02, 12)).answer for seed in range(400)]
    assert sum(each in (Answer.MORE, Answer.LESS) for each in found) <= 0.05 * len(found)


def test_compare_in_turns_no_rates_is_undecided_and_ends() -> None:
    stop = Stop(0.02, 5)
    found = compare_in_turns(lambda _b: {}, stop)
    assert found.answer is Answer.UNDECIDED
    assert found.measured == stop.most
    assert found.ratio.high == math.inf


def test_compare_in_turns_never_pairs_two_placements() -> None:
    found = compare_in_turns(lambda b: {FAR if b else NEAR: 1e6}, Stop(0.02, 5))
    assert found.matching.pairs == ()


def test_compare_in_turns_all_matched_goes_a_b_b_a() -> None:
    sides: list[bool] = []

    def measure(b: bool) -> dict[None, float]:
        sides.append(b)
        return {None: 1e6 + len(sides)}

    compare_in_turns(measure, Stop(1e-9, 6))
    assert sides[:8] == [False, True, True, False, False, True, True, False]


def test_stop_one_sided_takes_any_loss_as_no_gain() -> None:
    two, one = Stop(0.02, 5), Stop(0.02, 5, one_sided=True)
    found = compared(0.0, 3, Stop(0.05, 40)).ratio
    wide = type(found)(-0.1, -0.3, 0.01, 5)
    assert two.answer(wide) is Answer.UNDECIDED
    assert one.answer(wide) is Answer.SAME


@given(st.integers(3, MOST_PAIRS))
def test_stop_any_pairs_spends_the_error_rate_once(pairs: int) -> None:
    looks = Stop(0.02, pairs).looks
    assert max(looks) == pairs
    assert sum(looks.values()) == pytest.approx(0.05)


@pytest.mark.parametrize("pairs", [2, MOST_PAIRS + 1])
def test_stop_impossible_pairs_is_refused(pairs: int) -> None:
    with pytest.raises(ValueError, match="pairs must be"):
        Stop(0.02, pairs)
