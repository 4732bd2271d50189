# SPDX-License-Identifier: Apache-2.0
"""Fractions that screen factors."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.experiment.combinations import MAX_FACTORS, resolution
from wirespeed.experiment.fractions import folded, screening_fraction, screening_generators, strings

FACTORS = st.integers(1, MAX_FACTORS)


@given(FACTORS)
def test_screening_fraction_any_factors_is_balanced_and_has_the_start(factors: int) -> None:
    cells = screening_fraction(factors)
    assert frozenset() in cells
    assert len(set(cells)) == len(cells)
    for factor in range(factors):
        assert 2 * sum(factor in cell for cell in cells) == len(cells)


@given(FACTORS)
def test_screening_generators_any_factors_are_of_resolution_four(factors: int) -> None:
    found = resolution(screening_generators(factors))
    assert found is None or found >= 4


def test_screening_fraction_eight_factors_takes_sixteen_runs() -> None:
    assert len(screening_fraction(8)) == 16


@given(FACTORS)
def test_strings_any_factors_hold_each_pair_once(factors: int) -> None:
    pairs = [pair for group in strings(factors) for pair in group]
    assert sorted(map(sorted, pairs)) == sorted(map(list, combinations(range(factors), 2)))


def test_folded_fraction_separates_the_factors_interactions() -> None:
    cells = screening_fraction(8)
    both = (*cells, *folded(cells, 0))

    def column(pair: frozenset[int]) -> tuple[bool, ...]:
        return tuple(len(pair - cell) % 2 == 0 for cell in both)

    group = next(group for group in strings(8) if frozenset({0, 1}) in group)
    own = column(frozenset({0, 1}))
    others = [column(pair) for pair in group if 0 not in pair]
    assert others
    assert own not in others


@pytest.mark.parametrize("factors", [0, MAX_FACTORS + 1])
def test_screening_fraction_impossible_count_is_refused(factors: int) -> None:
    with pytest.raises(ValueError, match="1 to 16 factors"):
        screening_fraction(factors)
