# SPDX-License-Identifier: Apache-2.0
"""Screen many factors, or factors of many levels, in few measurements. Pure.

A regular fraction of resolution IV of 40 factors takes 128 measurements a block, and has two levels
a factor. Here, each block is balanced: every level of a factor comes equally often, up to one. The
columns of a block are the least correlated of many random ones. Every second block exchanges the
levels of the block before it: a foldover, after which no main effect of a two-level factor is
confounded with an interaction of two (Box, Hunter and Hunter, Statistics for Experimenters, chapter
7). Analysis and confirmation are those of a fraction (experiment/tuning.py).

A combination is the set of levels that differ from the start, at most one of each factor.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from wirespeed.experiment.combinations import MAX_FACTORS, Combination
from wirespeed.experiment.screening import NotSeparable, Screened, Term, fit, holm
from wirespeed.experiment.tuned import Tuned
from wirespeed.experiment.tuning import Asked, Effort, Stage, TooFewTrials, concluded
from wirespeed.experiment.turns import FEWEST_PAIRS, MOST_PAIRS, Rates, Stop

Floats = npt.NDArray[np.float64]
Groups = tuple[int, ...]
"""Number of levels of each factor that differ from the start, in the order of the levels."""

MAX_LEVELS = 48
"""Most levels of all factors together that a search tries."""
_FEWEST_BLOCKS, _USUAL_BLOCKS = 2, 4
_FEWEST_RUNS = 12
# Random columns of which the least correlated one is taken.
_COLUMNS = 60
# Most proven levels whose interactions are estimated.
_STRONGEST = 5
_PAIRS = 18


def is_wide(groups: Groups) -> bool:
    """Return whether a fraction of two-level factors does not take these."""
    return len(groups) > MAX_FACTORS or any(levels > 1 for levels in groups)


def block_runs(groups: Groups) -> int:
    """Return the number of measurements of a block: a multiple of 4 above the number of levels."""
    return max(_FEWEST_RUNS, 4 * (sum(groups) // 4 + 1))


def wide_effort(groups: Groups, trials: int) -> Effort:
    """Return the largest useful design within a number of measurements. Raises TooFewTrials."""
    runs = block_runs(groups)
    smallest = _FEWEST_BLOCKS * runs + Stop(0.0, FEWEST_PAIRS + 2).most
    if trials < smallest:
        raise TooFewTrials(smallest)
    confirming = Stop(0.0, FEWEST_PAIRS + 3).most
    blocks = _USUAL_BLOCKS if trials >= _USUAL_BLOCKS * runs + confirming else _FEWEST_BLOCKS
    left = trials - blocks * runs
    pairs = max(n for n in range(FEWEST_PAIRS, MOST_PAIRS + 1) if Stop(0.0, n).most <= left)
    return Effort(blocks, min(pairs, _PAIRS))


def most_wide_trials(groups: Groups, effort: Effort) -> int:
    """Return the most measurements that this effort takes."""
    return effort.blocks * block_runs(groups) + Stop(0.0, effort.pairs).most


def members(groups: Groups) -> tuple[Combination, ...]:
    """Return the levels of each factor."""
    ends = [sum(groups[: at + 1]) for at in range(len(groups))]
    return tuple(
        frozenset(range(end - size, end)) for end, size in zip(ends, groups, strict=True)
    )  # fmt: skip


def wide_blocks(groups: Groups, blocks: int, seed: int) -> tuple[tuple[Combination, ...], ...]:
    """Return the combinations of each block, in random order."""
    draw = random.Random(seed)  # noqa: S311  an order
    found: list[tuple[Combination, ...]] = []
    levels: list[list[int]] = []
    for number in range(blocks):
        if number % 2 == 0:
            levels = _balanced(groups, draw)
        else:
            levels = [[(each + 1) % (size + 1) for each in column]
                      for column, size in zip(levels, groups, strict=True)]  # fmt: skip
        cells = [_cell(groups, [column[run] for column in levels])
                 for run in range(block_runs(groups))]  # fmt: skip
        draw.shuffle(cells)
        found.append(tuple(cells))
    return tuple(found)


def _balanced(groups: Groups, draw: random.Random) -> list[list[int]]:
    """Return the level of each factor in each run; 0 is the start's."""
    runs = block_runs(groups)
    taken: list[Floats] = []
    columns: list[list[int]] = []
    for size in groups:
        # Of what does not come out even, each level gets its share in turn, by chance.
        order = draw.sample(range(size + 1), size + 1)
        column = [order[run % (size + 1)] for run in range(runs)]
        tries = []
        for _ in range(_COLUMNS):
            draw.shuffle(column)
            tries.append(list(column))
        best = min(tries, key=lambda each: _likeness(_signs(each, size), taken))
        columns.append(best)
        taken += _signs(best, size)
    return columns


def _signs(column: Sequence[int], size: int) -> list[Floats]:
    """Return a centred column for each level that differs from the start."""
    found = [np.array([float(each == level) for each in column]) for level in range(1, size + 1)]
    return [each - each.mean() for each in found]


def _likeness(new: Sequence[Floats], taken: Sequence[Floats]) -> float:
    return float(sum((one @ other) ** 2 for one in new for other in taken))


def _cell(groups: Groups, levels: Sequence[int]) -> Combination:
    first, on = 0, set()
    for level, size in zip(levels, groups, strict=True):
        if level:
            on.add(first + level - 1)
        first += size
    return frozenset(on)


@dataclass(slots=True)
class _Search:
    groups: Groups
    measure: Callable[[Asked], Rates]

    def screened(self, effort: Effort, seed: int) -> list[Screened]:
        runs: list[Screened] = []
        for block, cells in enumerate(wide_blocks(self.groups, effort.blocks, seed), start=1):
            for cell in cells:
                rates = self.measure(Asked(Stage.SCREENING, cell, block))
                runs += [Screened(cell, fps, kind, block) for kind, fps in list(rates.items())[:1]]
        return runs


def wide_tune(
    groups: Groups, measure: Callable[[Asked], Rates], worth: float, effort: Effort, seed: int = 1
) -> Tuned:
    """Screen the levels of all factors, confirm the best combination. Raises NotSeparable."""
    runs = _Search(groups, measure).screened(effort, seed)
    mains = [frozenset((level,)) for level in range(sum(groups))]
    plain = fit(runs, mains)
    proven = holm(plain.terms)
    terms = tuple(replace(term, proven=term.of in proven) for term in plain.terms)
    found = replace(plain, terms=_with_interactions(runs, terms, members(groups)))
    return concluded(found, len(mains), measure, worth, effort, groups=members(groups))


def _with_interactions(
    runs: Sequence[Screened], mains: tuple[Term, ...], factors: Sequence[Combination]
) -> tuple[Term, ...]:
    """Add the proven interactions of the strongest levels, which matter themselves."""
    strongest = sorted((term for term in mains if term.proven), key=lambda term: -abs(term.log))
    levels = [next(iter(term.of)) for term in strongest[:_STRONGEST]]
    pairs = [
        frozenset(pair) for pair in combinations(levels, 2)
        if not any(frozenset(pair) <= factor for factor in factors)
    ]  # fmt: skip
    if not pairs:
        return mains
    try:
        found = fit(runs, [*(term.of for term in mains), *pairs]).terms
    except NotSeparable:
        return mains
    proven = holm(found[len(mains) :])
    if not proven:
        return mains
    adjusted = [
        replace(term, proven=main.proven)
        for term, main in zip(found[: len(mains)], mains, strict=True)
    ]
    crossed = [replace(term, proven=True) for term in found[len(mains) :] if term.of in proven]
    return (*adjusted, *crossed)
