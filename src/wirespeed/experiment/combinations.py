# SPDX-License-Identifier: Apache-2.0
"""List the combinations of factors that a design measures. Pure.

A factor is off (the base) or on. A combination is the set of factors that are on, by their number
in the study. Box, Hunter and Hunter, Statistics for Experimenters, chapters 5 and 6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from string import ascii_uppercase

Combination = frozenset[int]

# Limited by the letters, and because a factorial of more factors would never end.
MAX_FACTORS = 16


def cumulative(factors: int) -> Iterator[Combination]:
    """Yield the base, then each factor on top of all factors before it."""
    return (frozenset(range(count)) for count in range(factors + 1))


def one_at_a_time(factors: int) -> Iterator[Combination]:
    """Yield the base, then each factor alone."""
    yield frozenset()
    yield from (frozenset((number,)) for number in range(factors))


def factorial(factors: int) -> Iterator[Combination]:
    """Yield every combination; the first factor changes slowest."""
    for levels in product((False, True), repeat=factors):
        yield frozenset(number for number, on in enumerate(levels) if on)


# The generated factor, its generating factors, and the sign: 1 where an even number of them must be
# off, -1 where an odd number must be.
Generator = tuple[int, Combination, int]


def generator(text: str, factors: int) -> Generator:
    """Parse "D = ABC" or "D = -AB", with factors as letters. Raises ValueError with the reason."""
    match = re.fullmatch(r"([A-Z])=(-?)([A-Z]{2,})", text.replace(" ", ""))
    if match is None:
        raise ValueError('must be as "D = ABC": a factor and at least two that decide it')
    letters = ascii_uppercase[:factors]
    unknown = sorted(set(match[1] + match[3]) - set(letters))
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: the factors are {', '.join(letters)}")
    if match[1] in match[3] or len(set(match[3])) != len(match[3]):
        raise ValueError("must name each factor once")
    decided_by = frozenset(letters.index(letter) for letter in match[3])
    return letters.index(match[1]), decided_by, -1 if match[2] else 1


def fraction(factors: int, generators: Sequence[Generator]) -> Iterator[Combination]:
    """Yield a regular fraction of the factorial.

    The factors without a generator take all combinations; generators set the others. With signs for
    on (+) and off (-), D = ABC is the product of the signs.
    """
    decided = {number for number, _, _ in generators}
    free = [number for number in range(factors) if number not in decided]
    for levels in product((-1, 1), repeat=len(free)):
        signs = dict(zip(free, levels, strict=True))
        for number, by, times in generators:
            signs[number] = times
            for each in by:
                signs[number] *= signs[each]
        yield frozenset(number for number, level in signs.items() if level > 0)


def pairs(factors: int) -> tuple[Combination, ...]:
    """Return every pair of factors."""
    return tuple(frozenset(two) for two in combinations(range(factors), 2))


def sign(of: Combination, cell: Combination) -> int:
    """Return the product of the signs of these factors: + where a factor is on."""
    return -1 if len(of - cell) % 2 else 1


def defining_words(generators: Sequence[Generator]) -> tuple[Combination, ...]:
    """Return the products that are the same in every combination, shortest first."""
    basic = [by | {number} for number, by, _ in generators]
    words = set()
    for count in range(1, len(basic) + 1):
        for some in combinations(basic, count):
            word: Combination = frozenset()
            for each in some:
                word ^= each
            words.add(word)
    return tuple(sorted(words, key=lambda word: (len(word), sorted(word))))


def resolution(generators: Sequence[Generator]) -> int | None:
    """Return the length of the shortest word; None where the design is no fraction.

    Resolution III confounds factors with pairs of others, IV pairs with pairs.
    """
    words = defining_words(generators)
    return len(words[0]) if words else None


def aliases(
    factors: int, generators: Sequence[Generator]
) -> Mapping[Combination, tuple[Combination, ...]]:
    """Map each factor and each pair to the factors and pairs that it is confounded with."""
    shown = [frozenset(some) for count in (1, 2) for some in combinations(range(factors), count)]
    words = defining_words(generators)
    return {
        effect: tuple(
            sorted(
                (other for word in words if 1 <= len(other := effect ^ word) <= 2),
                key=lambda other: (len(other), sorted(other)),
            )
        )
        for effect in shown
    }


def letters(effect: Combination) -> str:
    """Return a factor or a product of factors as letters, e.g. "AB"."""
    return "".join(ascii_uppercase[number] for number in sorted(effect))
