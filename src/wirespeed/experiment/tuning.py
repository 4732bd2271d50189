# SPDX-License-Identifier: Apache-2.0
"""Find the settings that are really faster, and prove it on fresh measurements. Pure.

1. Screening: a fraction of resolution IV of all factors, in blocks of random order. It ends early
   where each effect is proven, or too small to matter.
2. Foldover: where an interaction is proven that is confounded with others, one more block has the
   levels of one of its factors exchanged.
3. Confirmation: the best combination against the start in turns, on measurements that the choice
   did not use. Only what this proves is claimed.

The measurer is injected. With the same answers the same measurements are asked for, so an
interrupted search continues by replaying what it has measured.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from wirespeed.experiment.combinations import Combination
from wirespeed.experiment.fractions import basic_factors, folded, screening_fraction, strings
from wirespeed.experiment.screening import (
    START,
    Fit,
    NotSeparable,
    Screened,
    best_combination,
    fit,
    holm,
)
from wirespeed.experiment.tuned import Tuned
from wirespeed.experiment.turns import (
    FEWEST_PAIRS,
    MOST_PAIRS,
    Rates,
    Stop,
    compare_in_turns,
)

# Fewest and usual number of blocks, by the number of basic factors of the fraction.
_BLOCKS = {1: (4, 6), 2: (3, 5), 3: (2, 4), 4: (2, 3), 5: (2, 3)}
# Most pairs of the confirmation, where time allows.
_PAIRS = 18
# Blocks whose rates differ by more than this ratio are of different hosts.
_DRIFT = 1.25


class Stage(StrEnum):
    """Purpose of a measurement."""

    SCREENING = "screening"
    FOLDOVER = "foldover"
    CONFIRMATION = "confirmation"


@dataclass(frozen=True, slots=True)
class Asked:
    """A measurement that the search asks for."""

    stage: Stage
    on: Combination
    """Factors that are at their other level."""
    block: int
    """Block, from 1; of a confirmation 0."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Blocks of the screening, and most pairs of the confirmation."""

    blocks: int
    pairs: int


class TooFewTrials(ValueError):
    """The smallest design takes more measurements."""

    def __init__(self, least: int) -> None:
        super().__init__(f"the smallest design takes {least} measurements")
        self.least = least


def effort_for(factors: int, trials: int) -> Effort:
    """Return the largest useful design within a number of measurements. Raises TooFewTrials."""
    least, usual = _BLOCKS[basic_factors(factors)]
    runs = 2 ** basic_factors(factors)
    smallest = least * runs + Stop(0.0, FEWEST_PAIRS + 2).most
    if trials < smallest:
        raise TooFewTrials(smallest)
    confirming = Stop(0.0, FEWEST_PAIRS + 3).most
    blocks = max(least, min(usual, (trials - confirming) // runs))
    left = trials - blocks * runs
    pairs = max(n for n in range(FEWEST_PAIRS, MOST_PAIRS + 1) if Stop(0.0, n).most <= left)
    return Effort(blocks, min(pairs, _PAIRS))


def most_trials(factors: int, effort: Effort) -> int:
    """Return the most measurements that this effort takes."""
    return effort.blocks * int(2 ** basic_factors(factors)) + Stop(0.0, effort.pairs).most


def tune(
    factors: int, measure: Callable[[Asked], Rates], worth: float, effort: Effort, seed: int = 1
) -> Tuned:
    """Screen the factors, confirm the best combination. Raises NotSeparable."""
    draw = random.Random(seed)  # noqa: S311  an order
    search = _Search(factors, measure, effort, worth, draw)
    found, fold = search.screened()
    return replace(concluded(found, factors, measure, worth, effort), folded=fold)


def concluded(
    found: Fit, factors: int, measure: Callable[[Asked], Rates], worth: float, effort: Effort, *,
    groups: tuple[Combination, ...] = (),
) -> Tuned:  # fmt: skip
    """Choose the best combination of a screening, and confirm it on fresh measurements.

    found: main effects first, then interactions, each with its verdict. groups: levels that exclude
    each other.
    """
    mains = found.terms[:factors]
    interactions = tuple(term for term in found.terms[factors:] if term.proven)
    chosen = best_combination(factors, found.terms, groups)
    tuned = Tuned(
        mains, interactions, found.scatter, chosen, None, _void(found), groups=groups
    )  # fmt: skip
    if chosen == START or tuned.void is not None:
        return replace(tuned, chosen=START)
    stop = Stop(worth, effort.pairs, one_sided=True)
    confirmed = compare_in_turns(
        lambda changed: measure(Asked(Stage.CONFIRMATION, chosen if changed else START, 0)), stop
    )
    return replace(tuned, confirmation=confirmed)


@dataclass(slots=True)
class _Search:
    factors: int
    measure: Callable[[Asked], Rates]
    effort: Effort
    worth: float
    draw: random.Random

    def screened(self) -> tuple[Fit, int | None]:
        """Return the effects, and the factor of the foldover.

        Only the confirmation proves a gain, so that ending early claims nothing.
        """
        cells = screening_fraction(self.factors)
        least = _BLOCKS[basic_factors(self.factors)][0]
        runs: list[Screened] = []
        fold: int | None = None
        for block in range(1, self.effort.blocks + 1):
            folding = False
            if block > least and self._is_decided(fitted(self.factors, runs, fold)):
                break
            if block == least + 1:
                fold = self._to_fold(runs)
                folding = fold is not None
            stage = Stage.FOLDOVER if folding else Stage.SCREENING
            asked = folded(cells, fold) if folding and fold is not None else cells
            runs += self._block(asked, stage, block)
        return fitted(self.factors, runs, fold), fold

    def _block(self, cells: Sequence[Combination], stage: Stage, block: int) -> list[Screened]:
        order = list(cells)
        self.draw.shuffle(order)
        runs = []
        for cell in order:
            rates = self.measure(Asked(stage, cell, block))
            runs += [Screened(cell, fps, kind, block) for kind, fps in list(rates.items())[:1]]
        return runs

    def _is_decided(self, found: Fit) -> bool:
        """Return whether no further block would change what is worth confirming."""
        mains, interactions = found.terms[: self.factors], found.terms[self.factors :]
        sure = all(term.proven or term.interval[1] < self.worth for term in mains)
        return sure and not any(term.proven for term in interactions)

    def _to_fold(self, runs: Sequence[Screened]) -> int | None:
        """Return the factor to exchange: the strongest one in a proven, confounded interaction."""
        found = fitted(self.factors, runs)
        suspected = [term for term in found.terms if term.proven and term.or_else]
        if not suspected:
            return None
        strength = {term.of: abs(term.log) for term in found.terms[: self.factors]}
        return max(
            frozenset().union(*(term.of for term in suspected)),
            key=lambda factor: strength[frozenset((factor,))],
        )


def fitted(factors: int, runs: Sequence[Screened], fold: int | None = None) -> Fit:
    """Fit main effects and one interaction of each string that can be separated.

    fold: factor of the foldover among the runs. Raises NotSeparable.
    """
    mains = [frozenset((factor,)) for factor in range(factors)]
    groups = list(_separated(strings(factors), fold))
    plain = fit(runs, mains)
    strength = {term.of: abs(term.log) for term in plain.terms}
    # An interaction is likelier between factors that matter themselves.
    pairs = [max(group, key=lambda pair: _strength(pair, strength)) for group in groups]
    try:
        found = fit(runs, [*mains, *pairs])
    except NotSeparable:
        found, groups = plain, []
    others = dict(zip(pairs, groups, strict=False))
    proven = holm(found.terms[:factors]) | holm(found.terms[factors:])
    terms = tuple(
        replace(
            term, proven=term.of in proven,
            or_else=tuple(pair for pair in others.get(term.of, ()) if pair != term.of),
        )
        for term in found.terms
    )  # fmt: skip
    return replace(found, terms=terms)


def _separated(
    groups: Sequence[tuple[Combination, ...]], fold: int | None
) -> Sequence[tuple[Combination, ...]]:
    """Return the strings of both fractions: those of the folded factor stand alone."""
    if fold is None:
        return groups
    found: list[tuple[Combination, ...]] = []
    for group in groups:
        found += [(pair,) for pair in group if fold in pair]
        if rest := tuple(pair for pair in group if fold not in pair):
            found.append(rest)
    return found


def _strength(pair: Combination, of: dict[Combination, float]) -> float:
    return sum(of[frozenset((factor,))] for factor in pair)


def _void(found: Fit) -> str | None:
    ratio = max(found.blocks.values()) / min(found.blocks.values())
    if ratio <= _DRIFT:
        return None
    return f"the host drifted: the same settings differ by {100 * (ratio - 1):.0f}% between blocks"
