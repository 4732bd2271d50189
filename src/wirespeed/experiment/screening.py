# SPDX-License-Identifier: Apache-2.0
"""Estimate the effects of many factors from few measurements on a host whose CPUs move. Pure.

The logarithm of a rate is the sum of terms for its factors, its interactions, its CPU placement and
its block. Least squares estimates all terms together. Verdicts over several effects are corrected
by Holm's procedure (Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wirespeed.experiment.combinations import Combination, sign
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.quantile import student, two_sided

Floats = npt.NDArray[np.float64]
# Chance that any effect of a family is called proven where none exists.
ERROR = 0.05
START: Combination = frozenset()
"""Combination with every factor at its present level."""
# Every subset of the factors of proven interactions is looked at: 2 to this power.
_MOST_NAMED = 16
# No rate is known better than this: the logarithms' standard deviation is at least so large.
_FINEST = 1e-4


@dataclass(frozen=True, slots=True)
class Screened:
    """One measurement of a combination."""

    on: Combination
    fps: float
    """Rate; above 0."""
    placement: PlacementKind | None
    block: int


@dataclass(frozen=True, slots=True)
class Term:
    """Effect of a factor, or of an interaction of two, as a ratio of rates on over off."""

    of: Combination
    log: float
    """Logarithm of the ratio."""
    error: float
    """Standard error of the logarithm."""
    freedom: int
    proven: bool = False
    """True if Holm's procedure rejects that it has no effect."""
    or_else: tuple[Combination, ...] = ()
    """Interactions that the measurements cannot separate from it."""

    @property
    def gain(self) -> float:
        """Relative change of the rate."""
        return math.expm1(self.log)

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of the gain, of this effect alone."""
        half = two_sided(self.freedom) * self.error
        return math.expm1(self.log - half), math.expm1(self.log + half)


@dataclass(frozen=True, slots=True)
class Fit:
    """Effects, and what else the rates depend on."""

    terms: tuple[Term, ...]
    placements: Mapping[PlacementKind | None, float]
    """Ratio of each placement's rate to that of the placement that was met most."""
    blocks: Mapping[int, float]
    """Ratio of each block's rate to that of the first one."""
    scatter: float
    """Standard deviation of the logarithm that no term explains."""


class NotSeparable(ValueError):
    """The measurements are too few, or too alike, to separate the effects."""


def fit(runs: Sequence[Screened], effects: Sequence[Combination]) -> Fit:
    """Estimate the effects. Raises NotSeparable."""
    placements = _most_first([run.placement for run in runs])
    blocks = list(dict.fromkeys(run.block for run in runs))
    columns = [np.ones(len(runs))]
    columns += [np.array([float(sign(of, run.on)) for run in runs]) for of in effects]
    columns += [np.array([float(run.placement is kind) for run in runs]) for kind in placements[1:]]
    columns += [np.array([float(run.block == block) for run in runs]) for block in blocks[1:]]
    matrix: Floats = np.column_stack(columns) if runs else np.zeros((0, len(columns)))
    freedom = len(runs) - matrix.shape[1]
    if freedom < 2 or np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        raise NotSeparable(f"{len(runs)} measurements cannot separate {len(effects)} effects")
    inverse = np.linalg.inv(matrix.T @ matrix)
    logs = np.log([run.fps for run in runs])
    found = inverse @ matrix.T @ logs
    residuals = logs - matrix @ found
    scatter = max(_FINEST, math.sqrt(float(residuals @ residuals) / freedom))
    terms = tuple(
        # From off to on is twice the coefficient of a sign.
        Term(of, 2 * float(found[at]), 2 * scatter * math.sqrt(float(inverse[at, at])), freedom)
        for at, of in enumerate(effects, start=1)
    )
    rest = [float(math.exp(each)) for each in found[1 + len(effects) :]]
    others = len(placements) - 1
    return Fit(
        terms,
        dict(zip(placements, [1.0, *rest[:others]], strict=True)),
        dict(zip(blocks, [1.0, *rest[others:]], strict=True)),
        scatter,
    )


def holm(terms: Sequence[Term], error: float = ERROR) -> frozenset[Combination]:
    """Return the proven effects: the family-wise error rate is at most `error`."""
    proven: set[Combination] = set()
    order = sorted(terms, key=lambda term: -abs(term.log) / term.error)
    for at, term in enumerate(order):
        limit = student(1 - error / (len(terms) - at) / 2, term.freedom)
        if abs(term.log) <= limit * term.error:
            break
        proven.add(term.of)
    return frozenset(proven)


def best_combination(
    factors: int, terms: Sequence[Term], groups: Sequence[Combination] = ()
) -> Combination:
    """Return the combination that the proven effects make fastest; of equals the smallest.

    A factor of an interaction that brings less than its error there, on top of the others, stays
    at its level. groups: levels that exclude each other.
    """
    proven = [term for term in terms if term.proven]
    coupled = [term for term in proven if len(term.of) > 1]
    named = _strongest(factors, proven, coupled)
    bound = [term for term in proven if not term.of.isdisjoint(named)]
    others = frozenset().union(*(term.of for term in proven)) - set(named)
    instead = _instead(proven, groups, named)
    cells = (cell for cell in _subsets(named) if all(len(cell & group) < 2 for group in groups))
    best = max(
        cells,
        key=lambda cell: (
            _log_gain(bound, cell) + sum(log for group, log in instead.items() if not group & cell)
        ),
    )
    best = _completed(proven, groups, best, others)
    interacting = frozenset().union(*(term.of for term in coupled))
    while unsure := [at for at in sorted(best & interacting) if not _pays(proven, best, at)]:
        best -= {unsure[0]}
    return best


def _instead(
    proven: Sequence[Term], groups: Sequence[Combination], named: Sequence[int]
) -> dict[Combination, float]:
    """Return, by group that has named levels, the gain of its best level that is not named."""
    return {
        group: max(
            (term.log for term in proven if len(term.of) == 1 and term.of <= group - set(named)),
            default=0.0,
        )
        for group in groups
        if group & set(named)
    }


def _completed(
    proven: Sequence[Term], groups: Sequence[Combination], cell: Combination, others: Combination
) -> Combination:
    """Add the other factors that gain, the strongest first."""
    while True:
        here = _log_gain(proven, cell)
        barred = cell.union(*(group for group in groups if group & cell))
        gains = {at: _log_gain(proven, cell | {at}) - here for at in sorted(others - barred)}
        strongest = max(gains, key=lambda at: gains[at], default=None)
        if strongest is None or gains[strongest] <= 0:
            return cell
        cell |= {strongest}


def _strongest(factors: int, proven: Sequence[Term], coupled: Sequence[Term]) -> list[int]:
    """Return the factors of proven interactions; of very many those that may gain most."""
    gains = dict.fromkeys(range(factors), 0.0)
    for term in proven:
        for factor in term.of:
            gains[factor] += term.log if len(term.of) == 1 else abs(term.log)
    named = [factor for factor in gains if any(factor in term.of for term in coupled)]
    return sorted(sorted(named, key=lambda factor: -gains[factor])[:_MOST_NAMED])


def _log_gain(terms: Sequence[Term], cell: Combination) -> float:
    return sum(term.log / 2 * (sign(term.of, cell) - sign(term.of, START)) for term in terms)


def _pays(terms: Sequence[Term], cell: Combination, factor: int) -> bool:
    """Return whether a factor of the combination gains more than two standard errors in it."""
    gain = _log_gain(terms, cell) - _log_gain(terms, cell - {factor})
    error = math.sqrt(sum(term.error**2 for term in terms if factor in term.of))
    return gain > 2 * error


def _subsets(named: Sequence[int]) -> Iterator[Combination]:
    """Yield every subset, the smallest first."""
    masks = sorted(range(2 ** len(named)), key=lambda mask: mask.bit_count())
    for mask in masks:
        yield frozenset(each for at, each in enumerate(named) if mask >> at & 1)


def _most_first(kinds: Sequence[PlacementKind | None]) -> list[PlacementKind | None]:
    return sorted(dict.fromkeys(kinds), key=lambda kind: -kinds.count(kind))
