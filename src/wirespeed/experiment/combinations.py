# SPDX-License-Identifier: Apache-2.0
"""Which combinations of factors does a design measure? Pure.

A factor is off (the base) or on. A combination is the set of factors that are on, by number, in the
order in which the study names them. Box, Hunter and Hunter, Statistics for Experimenters, chapters
5 and 6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from string import ascii_uppercase

Combination = frozenset[int]

# A study with more factors than letters, or a factorial of so many, would never end.
MAX_FACTORS = 16


def cumulative(factors: int) -> Iterator[Combination]:
    """The base, then each factor on top of all before it."""
    return (frozenset(range(count)) for count in range(factors + 1))


def one_at_a_time(factors: int) -> Iterator[Combination]:
    """The base, then each factor alone."""
    yield frozenset()
    yield from (frozenset((number,)) for number in range(factors))


def factorial(factors: int) -> Iterator[Combination]:
    """Every combination; the first factor changes slowest."""
    for levels in product((False, True), repeat=factors):
        yield frozenset(number for number, on in enumerate(levels) if on)


# The factor that is decided, those that decide it, and whether an even number of these has to be
# off (1) or an odd number (-1).
Generator = tuple[int, Combination, int]


def generator(text: str, factors: int) -> Generator:
    """Read "D = ABC" or "D = -AB": factors by letter. Raises ValueError, which says why not."""
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
    """A regular fraction: all combinations of the factors that no generator decides, and what the
    generators make of the others. With signs for on (+) and off (-), D = ABC is their product."""
    decided = {number for number, _, _ in generators}
    free = [number for number in range(factors) if number not in decided]
    for levels in product((-1, 1), repeat=len(free)):
        sign = dict(zip(free, levels, strict=True))
        for number, by, times in generators:
            sign[number] = times
            for each in by:
                sign[number] *= sign[each]
        yield frozenset(number for number, level in sign.items() if level > 0)


def defining_words(generators: Sequence[Generator]) -> tuple[Combination, ...]:
    """The products that are the same in every combination of the fraction, shortest first."""
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
    """The length of the shortest word: III confuses factors with pairs of others, IV pairs with
    pairs. None where the design is no fraction."""
    words = defining_words(generators)
    return len(words[0]) if words else None


def aliases(
    factors: int, generators: Sequence[Generator]
) -> Mapping[Combination, tuple[Combination, ...]]:
    """With what each factor and each pair of factors is confused: only factors and pairs."""
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
    """A factor or a product of factors by letter, e.g. "AB"."""
    return "".join(ascii_uppercase[number] for number in sorted(effect))
