# SPDX-License-Identifier: Apache-2.0
"""Fit the loss at a load against the excluded share of time.

Where noise causes the loss, time without exclusions loses nothing: the fitted line passes through
zero. An overload loses the same share in all of its time: the line begins at that loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from wirespeed.measure.gate import Mask
from wirespeed.measure.windows import summed
from wirespeed.model.result.evidence import Windows
from wirespeed.model.result.quantile import two_sided

BLOCK_WINDOWS: Final = 20
"""Windows that are one point of the fit."""
MIN_BLOCKS: Final = 10

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fit:
    """The line loss = begins + rises x share, with half of the 95% interval of its intercept.

    All are shares: of the frames offered, and of the time excluded.
    """

    begins: float
    begins_error: float
    rises: float

    @property
    def through_zero(self) -> bool:
        """Return whether no loss is left where nothing is excluded."""
        return self.begins - self.begins_error <= 0


def loss_fit(trials: Sequence[tuple[Windows, Mask]]) -> Fit | None:
    """Return the fit over blocks of windows of all trials, at one load.

    Blocks with much excluded time differ most in their loss, so each weighs by the inverse of that
    time. None where there are too few blocks, or all have the same excluded share.
    """
    shares, losses = [], []
    for windows, mask in trials:
        left_out = 1 - np.array(mask.clean, dtype=np.float64)
        offered = summed(windows, "offered")
        lost = np.maximum(offered - summed(windows, "received"), 0)
        for first in range(0, windows.count - BLOCK_WINDOWS + 1, BLOCK_WINDOWS):
            block = slice(first, first + BLOCK_WINDOWS)
            if sent := int(offered[block].sum()):
                shares.append(float(left_out[block].mean()))
                losses.append(float(lost[block].sum()) / sent)
    if len(shares) < MIN_BLOCKS or max(shares) == min(shares):
        return None
    return _line(np.array(shares), np.array(losses))


def _line(shares: Floats, losses: Floats) -> Fit:
    """Fit by weighted least squares, with the errors of unequal scatter (White's, HC1)."""
    weights = 1 / np.maximum(shares, 1 / BLOCK_WINDOWS)
    design = np.column_stack((np.ones_like(shares), shares))
    inverse = np.linalg.inv(design.T @ (weights[:, None] * design))
    begins, rises = (inverse @ (design.T @ (weights * losses))).tolist()
    beyond = weights * (losses - begins - rises * shares)
    freedom = len(shares) - 2
    scatter = design.T @ (np.square(beyond)[:, None] * design) * len(shares) / freedom
    error = math.sqrt((inverse @ scatter @ inverse)[0, 0])
    return Fit(begins, two_sided(freedom) * error, rises)
