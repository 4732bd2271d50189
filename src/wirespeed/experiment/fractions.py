# SPDX-License-Identifier: Apache-2.0
"""Choose the fraction of a two-level factorial that screens factors. Pure.

The smallest regular fraction of resolution IV is used: no main effect is confounded with another
one or with an interaction of two factors. Interactions of two are confounded with each other, in
strings. Box, Hunter and Hunter, Statistics for Experimenters, chapter 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from wirespeed.experiment.combinations import (
    MAX_FACTORS,
    Combination,
    Generator,
    aliases,
    fraction,
    pairs,
)

# A factor that others generate is the product of an odd number of basic ones, so that the
# combination with all factors off is part of every fraction.
_ODD = (3, 5)


def basic_factors(factors: int) -> int:
    """Return the number of factors that take all combinations; 1 to MAX_FACTORS factors."""
    if not 1 <= factors <= MAX_FACTORS:
        raise ValueError(f"must be 1 to {MAX_FACTORS} factors")
    basic = 1
    while factors > 2 ** (basic - 1):
        basic += 1
    return basic


def screening_generators(factors: int) -> tuple[Generator, ...]:
    """Return the generators of the smallest fraction of resolution IV."""
    basic = basic_factors(factors)
    words = [frozenset(some) for length in _ODD for some in combinations(range(basic), length)]
    return tuple((basic + at, word, 1) for at, word in enumerate(words[: factors - basic]))


def screening_fraction(factors: int) -> tuple[Combination, ...]:
    """Return the combinations of that fraction; the one with all factors off is among them."""
    return tuple(fraction(factors, screening_generators(factors)))


def folded(cells: Sequence[Combination], factor: int) -> tuple[Combination, ...]:
    """Return the fraction with one factor's levels exchanged.

    Both fractions together separate each interaction of that factor from all others of two.
    """
    return tuple(cell ^ {factor} for cell in cells)


def strings(factors: int) -> tuple[tuple[Combination, ...], ...]:
    """Return the interactions of two factors, grouped by what the fraction cannot separate."""
    same = aliases(factors, screening_generators(factors))
    found: dict[Combination, tuple[Combination, ...]] = {}
    for pair in pairs(factors):
        if not any(pair in group for group in found.values()):
            found[pair] = (pair, *same[pair])
    return tuple(found.values())
