# SPDX-License-Identifier: Apache-2.0
"""Bisections of the differences between two settings."""

from __future__ import annotations

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
