# SPDX-License-Identifier: Apache-2.0
"""Estimate by how much a factor changes a rate, with its interval. Pure.

Effects are factors of the geometric mean: 1.2 is 20% more. Rates differ by factors, not by
amounts, and so do their errors. Intervals are of the bootstrap over repeats: 95% percentiles of the
resampled effect. Those of few repeats are far too narrow (Hesterberg, What Teachers Should Know
About the Bootstrap, 2015, section 5.3), so their distance from the effect is stretched by what
Student's t and an unbiased variance are more than they: by 2.7 for three repeats, 1.2 for ten.
Where repeats were measured in blocks, whole blocks are drawn: what the machine was like in a block
then falls out of every difference. Rates of several CPU placements have intervals of their fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np
import numpy.typing as npt

from wirespeed.experiment.combinations import Combination
from wirespeed.experiment.placement_fit import PlacementFit
from wirespeed.model.quantile import two_sided

Floats = npt.NDArray[np.float64]
# Rates of each combination, one of each repeat in the order of repeats.
Cells = Mapping[Combination, Sequence[float]]

_DRAWS = 4000
_PERCENTILES = (2.5, 97.5)
# The normal distribution's quantile at 97.5%.
_NORMAL = 1.96
# No design has more repeats.
_MOST_REPEATS = 100
# The same rates must give the same interval in every report.
_SEED = 20_250_101


class Verdict(StrEnum):
    """What an interval says of an effect."""

    GAIN = "gains"
    LOSS = "loses"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Effect:
    """of: the factors; two of an interaction. on_top_of: those that were on already.

    ratio: by what the rate is multiplied. low, high: the 95% interval; None where nothing was
    measured more than once. repeats: the fewest of a combination that takes part.
    """

    of: Combination
    on_top_of: Combination
    ratio: float
    low: float | None
    high: float | None
    repeats: int

    @property
    def verdict(self) -> Verdict:
        """Whether the interval leaves out 1."""
        if self.low is None or self.high is None:
            return Verdict.UNSURE
        if self.low > 1:
            return Verdict.GAIN
        return Verdict.LOSS if self.high < 1 else Verdict.UNSURE

    @property
    def repeats_to_be_sure(self) -> float | None:
        """About how many repeats would leave 1 out of the interval, as it shrinks with their root;
        infinite for more than a design may have. None where it is sure, or has no interval."""
        if self.verdict is not Verdict.UNSURE or self.low is None or self.high is None:
            return None
        effect = abs(math.log(self.ratio))
        half = math.log(self.high / self.low) / 2
        if effect * math.sqrt(_MOST_REPEATS) <= half * math.sqrt(self.repeats):
            return math.inf
        return max(self.repeats + 1, math.ceil(self.repeats * (half / effect) ** 2))


def step(
    cells: Cells, before: Combination, after: Combination, *, blocks: bool,
    fit: PlacementFit | None = None,
) -> Effect | None:  # fmt: skip
    """What turning on the factors of `after` that are not in `before` changes; None where one of
    the two was not measured. fit: of the cells, where they are of several placements."""
    if not cells.get(before) or not cells.get(after):
        return None
    return _effect(cells, {after: 1.0, before: -1.0}, (after - before, before), blocks, fit)


def contrast(
    cells: Cells, of: Combination, *, blocks: bool, fit: PlacementFit | None = None
) -> Effect | None:
    """A factor's main effect over all combinations, or the interaction of two: by how much more
    one multiplies the rate where the other is on. None where a combination is missing."""
    if not cells or any(not rates for rates in cells.values()):
        return None
    signs = {cell: _sign(of, cell) for cell in cells}
    ups = sum(sign > 0 for sign in signs.values())
    downs = len(signs) - ups
    if not ups or not downs:
        return None
    # An interaction is the effect where the other is on, over that where it is off.
    times = 2 ** (len(of) - 1)
    weights = {
        cell: times / ups if sign > 0 else -times / downs for cell, sign in signs.items()
    }  # fmt: skip
    return _effect(cells, weights, (of, frozenset()), blocks, fit)


def _sign(of: Combination, cell: Combination) -> int:
    """The product of the signs of these factors: + where a factor is on."""
    return -1 if len(of - cell) % 2 else 1


def pairs(factors: int) -> tuple[Combination, ...]:
    """Every two factors."""
    return tuple(frozenset(two) for two in combinations(range(factors), 2))


def mean(rates: Sequence[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(np.asarray(rates, dtype=float)))))


def scatter(cells: Cells) -> float:
    """The standard deviation of the logarithm within combinations, pooled; 0 without repeats."""
    logs = [np.log(np.asarray(rates, dtype=float)) for rates in cells.values()]
    freedom = sum(len(each) - 1 for each in logs)
    squares = sum(float(((each - each.mean()) ** 2).sum()) for each in logs if len(each))
    return math.sqrt(squares / freedom) if freedom > 0 else 0.0


def _effect(
    cells: Cells, weights: Mapping[Combination, float], named: tuple[Combination, Combination],
    blocks: bool, fit: PlacementFit | None,
) -> Effect:  # fmt: skip
    """named: the factors, and those that were on already."""
    logs = {cell: np.log(np.asarray(cells[cell], dtype=float)) for cell in weights}
    found = sum(weight * float(logs[cell].mean()) for cell, weight in weights.items())
    counts = {len(each) for each in logs.values()}
    low = high = None
    if fit is not None:
        half = fit.half_interval(weights)
        if half is not None:
            low, high = math.exp(found - half), math.exp(found + half)
    elif min(counts) > 1:
        paired = blocks and len(counts) == 1
        drawn = _resampled(logs, weights, paired)
        freedom = min(counts) - 1 if paired else sum(len(each) - 1 for each in logs.values())
        stretch = _stretch(min(counts), freedom)
        low, high = (
            float(np.exp(found + stretch * (each - found)))
            for each in np.percentile(drawn, _PERCENTILES)
        )
    return Effect(*named, float(np.exp(found)), low, high, min(counts))


def _stretch(repeats: int, freedom: int) -> float:
    """Return by how much percentiles of the bootstrap are too near to the effect."""
    return two_sided(freedom) / _NORMAL * math.sqrt(repeats / (repeats - 1))


def _resampled(
    logs: Mapping[Combination, Floats], weights: Mapping[Combination, float], blocks: bool
) -> Floats:
    """The contrast of _DRAWS samples of the repeats with replacement."""
    draw = np.random.default_rng(_SEED)
    total = np.zeros(_DRAWS)
    count = len(next(iter(logs.values())))
    together = draw.integers(count, size=(_DRAWS, count)) if blocks else None
    for cell, values in logs.items():
        chosen = together
        if chosen is None:
            chosen = draw.integers(len(values), size=(_DRAWS, len(values)))
        total += weights[cell] * values[chosen].mean(axis=1)
    return total
