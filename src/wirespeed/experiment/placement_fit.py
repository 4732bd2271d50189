# SPDX-License-Identifier: Apache-2.0
"""Separate the effect of a CPU placement on a rate from the effects of factors. Pure.

The logarithm of a rate is the sum of terms for its combination, its placement and its block: an
analysis of covariance (Montgomery, Design and Analysis of Experiments, chapter 15). Least squares
estimates all terms together. A combination that met a fast placement more often therefore gains
nothing from it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wirespeed.experiment.combinations import Combination
from wirespeed.model.cpus import NEAREST, PlacementKind
from wirespeed.model.result.quantile import two_sided

Floats = npt.NDArray[np.float64]

# Contrasts with a larger component outside the row space of the rates cannot be estimated.
_OUTSIDE = 1e-6
# Eigenvalues of a matrix of counts below this, relative to the largest, are 0 but for rounding,
# which differs between CPUs and reaches 1e-15.
_SINGULAR = 1e-10


@dataclass(frozen=True, slots=True)
class Sample:
    """One rate of a combination."""

    fps: float
    placement: PlacementKind
    block: int = 0
    """The same for rates that were measured close in time."""


@dataclass(frozen=True, slots=True)
class PlacementFit:
    """Rates adjusted to one placement."""

    reference: PlacementKind
    """Placement of most rates."""
    cells: Mapping[Combination, tuple[float, ...]]
    """Rates of each combination, adjusted to the reference placement and an average block.

    Empty where no common placement connects the combination to the first one.
    """
    _columns: Mapping[Combination, int]
    _inverse: Floats
    _variance: float
    _freedom: int

    def half_interval(self, weights: Mapping[Combination, float]) -> float | None:
        """Return half of the 95% interval of a weighted sum of the combinations' logarithms.

        None where no degree of freedom is left for the scatter.
        """
        if self._freedom < 1:
            return None
        row = self._row(weights)
        spread = float(row @ self._inverse @ row) * self._variance
        return two_sided(self._freedom) * math.sqrt(max(0.0, spread))

    def _row(self, weights: Mapping[Combination, float]) -> Floats:
        row = np.zeros(len(self._inverse))
        for cell, weight in weights.items():
            row[self._columns[cell]] = weight
        return row


def fit_placements(
    samples: Mapping[Combination, Sequence[Sample]], *, blocks: bool
) -> PlacementFit:
    """Fit all terms to rates above 0 of at least one combination.

    blocks: whether blocks have terms.
    """
    flat = [(cell, sample) for cell, of in samples.items() for sample in of]
    seen = Counter(sample.placement for _, sample in flat)
    reference = max(NEAREST, key=lambda kind: seen[kind])
    columns: dict[object, int] = {cell: at for at, cell in enumerate(samples)}
    terms = [
        (cell, sample.placement if sample.placement is not reference else None,
         sample.block if blocks and sample.block != flat[0][1].block else None)
        for cell, sample in flat
    ]  # fmt: skip
    for _, *others in terms:
        for other in others:
            if other is not None:
                columns.setdefault(other, len(columns))
    matrix = np.zeros((len(flat), len(columns)))
    for number, row in enumerate(terms):
        for term in row:
            if term is not None:
                matrix[number, columns[term]] = 1.0
    logs = np.log([sample.fps for _, sample in flat])
    square = matrix.T @ matrix
    inverse: Floats = np.linalg.pinv(square, rcond=_SINGULAR, hermitian=True).astype(np.float64)
    found: Floats = inverse @ matrix.T @ logs
    rank = np.linalg.matrix_rank(matrix)
    residuals = logs - matrix @ found
    freedom = len(flat) - int(rank)
    variance = float(residuals @ residuals) / freedom if freedom > 0 else 0.0
    outside = np.eye(len(columns)) - inverse @ square
    at = {cell: columns[cell] for cell in samples}
    block_term = _mean_block(found, columns, terms)
    rates: dict[Combination, tuple[float, ...]] = dict.fromkeys(samples, ())
    for (cell, _), residual in zip(flat, residuals, strict=True):
        if np.linalg.norm(outside[at[cell]] - outside[at[flat[0][0]]]) < _OUTSIDE:
            rates[cell] += (float(np.exp(found[at[cell]] + block_term + residual)),)
    return PlacementFit(reference, rates, at, inverse, variance, freedom)


def _mean_block(
    found: Floats, columns: Mapping[object, int],
    terms: Sequence[tuple[Combination, PlacementKind | None, int | None]],
) -> float:  # fmt: skip
    """Return the blocks' mean term, so that adjusted rates are those of an average block."""
    blocks = [0.0 if block is None else float(found[columns[block]]) for _, _, block in terms]
    return sum(blocks) / len(blocks)
