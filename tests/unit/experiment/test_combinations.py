# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.experiment.combinations import (
    aliases,
    cumulative,
    defining_words,
    factorial,
    fraction,
    generator,
    letters,
    one_at_a_time,
    resolution,
)


def shown(found: object) -> list[str]:
    return [letters(each) or "(1)" for each in found]  # type: ignore[attr-defined]


def test_each_step_adds_to_the_one_before() -> None:
    assert shown(cumulative(3)) == ["(1)", "A", "AB", "ABC"]


def test_one_at_a_time_is_each_alone() -> None:
    assert shown(one_at_a_time(3)) == ["(1)", "A", "B", "C"]


def test_a_factorial_has_every_combination_once_the_base_first() -> None:
    assert shown(factorial(2)) == ["(1)", "B", "A", "AB"]
    assert len(set(factorial(4))) == 16


def test_the_half_of_three_factors_is_the_textbook_s() -> None:
    # Box, Hunter and Hunter: C = AB is c, a, b, abc; its other half is (1), bc, ac, ab.
    assert set(shown(fraction(3, [generator("C = AB", 3)]))) == {"C", "A", "B", "ABC"}
    assert set(shown(fraction(3, [generator("C=-AB", 3)]))) == {"(1)", "BC", "AC", "AB"}


def test_aliases_of_the_quarter_of_six_factors() -> None:
    # E = ABC, F = BCD: I = ABCE = BCDF = ADEF, of resolution IV.
    generators = [generator("E = ABC", 6), generator("F = BCD", 6)]
    assert shown(defining_words(generators)) == ["ABCE", "ADEF", "BCDF"]
    assert resolution(generators) == 4
    assert resolution([]) is None
    found = aliases(6, generators)
    assert shown(found[frozenset({0, 4})]) == ["BC", "DF"]
    assert shown(found[frozenset({0})]) == []
    confused = aliases(3, [generator("C = AB", 3)])
    assert shown(confused[frozenset({0})]) == ["BC"]


@given(st.integers(3, 7), st.data())
def test_a_fraction_is_balanced_and_orthogonal(factors: int, data: st.DataObject) -> None:
    # Each factor is on in half of the points, and unconfounded pairs meet equally often.
    by = data.draw(st.sets(st.integers(0, factors - 2), min_size=2))
    sign = data.draw(st.sampled_from(["", "-"]))
    decided = letters(frozenset({factors - 1}))
    made = generator(f"{decided} = {sign}{letters(frozenset(by))}", factors)
    points = list(fraction(factors, [made]))
    assert len(set(points)) == 2 ** (factors - 1)
    for factor in range(factors):
        assert sum(factor in point for point in points) == len(points) / 2
    for one, other in combinations(range(factors), 2):
        assert sum({one, other} <= point for point in points) == len(points) / 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("D", "must be as"),
        ("D = A", "must be as"),
        ("D = AX", "X: the factors are A, B, C, D"),
        ("D = AD", "each factor once"),
        ("D = AA", "each factor once"),
    ],
)
def test_a_generator_that_decides_nothing_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        generator(text, 4)
