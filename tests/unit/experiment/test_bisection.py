# SPDX-License-Identifier: Apache-2.0
"""Bisections of the differences between two settings."""

from __future__ import annotations

import math

import pytest

from tests.support.tuned_host import TunedHost
from wirespeed.experiment.bisection import MOST_PROBES, Bisected, bisect


def bisected(host: TunedHost, most: int = MOST_PROBES) -> Bisected:
    return bisect(len(host.gains), host.measure, 0.02, 12, most)


def gains(**planted: float) -> tuple[float, ...]:
    return tuple(planted.get(f"d{at}", 0.0) for at in range(12))


def test_bisect_two_of_twelve_differences_names_both() -> None:
    found = bisected(TunedHost(gains(d3=-0.1, d9=-0.15), 1))
    assert found.blamed == {3, 9}
    assert found.proven
    assert len(found.probes) <= MOST_PROBES


def test_bisect_equal_rates_blames_nothing_after_one_probe() -> None:
    found = bisected(TunedHost(gains(), 2))
    assert found.blamed == frozenset()
    assert len(found.probes) == 1
    assert not found.proven


def test_bisect_only_both_together_matter_names_both() -> None:
    host = TunedHost(gains(), 3, together={frozenset({1, 10}): -0.2})
    found = bisected(host)
    assert 10 in found.blamed
    assert host.truth(found.blamed) < 1 or not found.proven


def test_bisect_too_few_probes_says_what_is_left() -> None:
    found = bisected(TunedHost(gains(d3=-0.1, d9=-0.15), 4), most=6)
    assert found.given_up
    assert not found.proven
    assert found.blamed <= {3, 9}


def test_bisect_one_difference_takes_few_probes() -> None:
    found = bisect(1, TunedHost((-0.2,), 5).measure, 0.02, 12)
    assert found.blamed == {0}
    assert found.proven


@pytest.mark.parametrize("differences", [2, 4, 7, 8])
def test_bisect_one_of_n_is_found_in_halvings_a_whole_and_a_rest(differences: int) -> None:
    for at in range(differences):
        planted = tuple(-0.2 * (number == at) for number in range(differences))
        found = bisect(differences, TunedHost(planted, at).measure, 0.02, 12)
        assert found.blamed == {at}
        assert found.proven
        # The last probe proves what the others have found.
        assert len(found.probes) - 1 <= math.ceil(math.log2(differences)) + 2


def test_bisect_other_half_that_matters_too_is_found_after_the_rest() -> None:
    found = bisected(TunedHost(gains(d0=-0.15, d1=-0.1, d11=-0.12), 6))
    assert found.blamed == {0, 1, 11}
    assert found.proven


def test_bisect_difference_without_an_effect_of_its_own_is_not_blamed_by_elimination() -> None:
    # The first half has half of the effect on top of nothing, the pair has the rest.
    found = bisected(TunedHost(gains(d5=-0.1), 7, together={frozenset({2, 5}): -0.1}))
    assert found.blamed <= {2, 5}
    assert 5 in found.blamed
