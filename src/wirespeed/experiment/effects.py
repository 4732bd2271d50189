# SPDX-License-Identifier: Apache-2.0
"""Estimate a factor's effect on a rate, with its interval. Pure.

Effects are ratios of geometric means: 1.2 is 20% more. Rates and their errors differ by ratios, not
by amounts. Intervals come from the bootstrap over repeats: 95% percentiles of the resampled effect.
With few repeats they are far too narrow (Hesterberg, What Teachers Should Know About the Bootstrap,
2015, section 5.3). Their distance from the effect is therefore stretched by the ratio of Student's
t and an unbiased variance to theirs: 2.7 for three repeats, 1.2 for ten. Where repeats were
measured in blocks, whole blocks are drawn. The state of the machine in a block then cancels out of
every difference. Rates of several CPU placements have intervals of their fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from wirespeed.experiment.combinations import Combination, sign
from wirespeed.experiment.placement_fit import PlacementFit
from wirespeed.model.result.quantile import two_sided

Floats = npt.NDArray[np.float64]
# Rates of each combination, one per repeat, in the order of repeats.
Cells = Mapping[Combination, Sequence[float]]

_DRAWS = 4000
_PERCENTILES = (2.5, 97.5)
# Logarithms of equal rates differ by rounding: by 1e-15 in sums of a hundred.
_ROUNDING = 1e-9
# The normal distribution's quantile at 97.5%.
_NORMAL = 1.96
# No design has more repeats.
_MOST_REPEATS = 100
# The same rates must give the same interval in every report.
_SEED = 20_250_101


class Verdict(StrEnum):
    """Conclusion from an interval."""

    GAIN = "gains"
    LOSS = "loses"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of one factor, or interaction of two."""

    of: Combination
    """The factors: two for an interaction."""
    on_top_of: Combination
    """Factors that were already on."""
    ratio: float
    """Ratio of the rates."""
    low: float | None
    """Lower end of the 95% interval; None where nothing was measured more than once."""
    high: float | None
    repeats: int
    """Lowest number of repeats of a combination in it."""

    @property
    def verdict(self) -> Verdict:
        """Conclusion, by whether the interval excludes 1."""
        if self.low is None or self.high is None:
            return Verdict.UNSURE
        if self.low > 1 + _ROUNDING:
            return Verdict.GAIN
        return Verdict.LOSS if self.high < 1 - _ROUNDING else Verdict.UNSURE

    @property
    def repeats_to_be_sure(self) -> float | None:
        """Estimate of the repeats after which the interval excludes 1.

        The interval shrinks with the root of their number. Infinite for more repeats than a design
        may have. None where the effect is sure, or has no interval.
        """
        if self.verdict is not Verdict.UNSURE or self.low is None or self.high is None:
            return None
        effect = abs(math.log(self.ratio))
        half = math.log(self.high / self.low) / 2
        none = effect <= _ROUNDING
        if none or effect * math.sqrt(_MOST_REPEATS) <= half * math.sqrt(self.repeats):
            return math.inf
        return max(self.repeats + 1, math.ceil(self.repeats * (half / effect) ** 2))


def step(
    cells: Cells, before: Combination, after: Combination, *, blocks: bool,
    fit: PlacementFit | None = None,
) -> Effect | None:  # fmt: skip
    """Estimate the effect of turning on the factors of `after` that are not in `before`.

    Returns None where one of the two was not measured. fit: of the cells, where they have several
    placements.
    """
    if not cells.get(before) or not cells.get(after):
        return None
    return _effect(cells, {after: 1.0, before: -1.0}, (after - before, before), blocks, fit)


def contrast(
    cells: Cells, of: Combination, *, blocks: bool, fit: PlacementFit | None = None
) -> Effect | None:
    """Estimate a factor's main effect over all combinations, or the interaction of two factors.

    The interaction is the ratio of one factor's effects with the other on and off. Returns None
    where a combination is missing.
    """
    if not cells or any(not rates for rates in cells.values()):
        return None
    signs = {cell: sign(of, cell) for cell in cells}
    ups = sum(each > 0 for each in signs.values())
    downs = len(signs) - ups
    if not ups or not downs:
        return None
    # An interaction is the effect with the other factor on, divided by that with it off.
    times = 2 ** (len(of) - 1)
    weights = {
        cell: times / ups if each > 0 else -times / downs for cell, each in signs.items()
    }  # fmt: skip
    return _effect(cells, weights, (of, frozenset()), blocks, fit)


def mean(rates: Sequence[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(np.asarray(rates, dtype=float)))))


def scatter(cells: Cells) -> float:
    """Return the pooled standard deviation of the logarithm within combinations.

    Returns 0 without repeats.
    """
    logs = [np.log(np.asarray(rates, dtype=float)) for rates in cells.values()]
    freedom = sum(len(each) - 1 for each in logs)
    squares = sum(float(((each - each.mean()) ** 2).sum()) for each in logs if len(each))
    return math.sqrt(squares / freedom) if freedom > 0 else 0.0


def _effect(
    cells: Cells, weights: Mapping[Combination, float], named: tuple[Combination, Combination],
    blocks: bool, fit: PlacementFit | None,
) -> Effect:  # fmt: skip
    """Estimate a weighted sum of logarithms. named: the factors, and those already on."""
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
    """Return the factor by which bootstrap percentiles are too near to the effect."""
    return two_sided(freedom) / _NORMAL * math.sqrt(repeats / (repeats - 1))


def _resampled(
    logs: Mapping[Combination, Floats], weights: Mapping[Combination, float], blocks: bool
) -> Floats:
    """Return the contrast of _DRAWS samples of the repeats with replacement."""
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
