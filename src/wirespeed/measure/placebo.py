# SPDX-License-Identifier: Apache-2.0
"""Test whether noise explains the loss in the excluded time (placebo test).

If noise had nothing to do with the loss, the same mask rotated by any number of windows would
exclude as much of it. A rotation keeps the lengths of the excluded stretches and the gaps between
them; only the windows that they coincide with change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wirespeed.measure.gate import Mask
from wirespeed.measure.windows import summed
from wirespeed.model.result.evidence import Windows

NEEDED_SHARE = 0.95
"""Share of rotations that must leave more loss in the counted time than the mask does."""


def noise_explains(
    trials: Sequence[tuple[Windows, Mask]], rotations: int = 1000, seed: int = 0
) -> bool | None:
    """Return whether noise explains the loss, over all trials, each with its own rotation.

    None where too many rotations leave exactly as much loss as the mask. That is so where nothing
    was lost, or where all windows count, or none.
    """
    rng = np.random.default_rng(seed)
    # The mask itself comes first, then its rotations.
    offered, lost = np.zeros(rotations + 1), np.zeros(rotations + 1)
    for windows, mask in trials:
        if windows.count:
            clean = np.array(mask.clean)
            offsets = rng.integers(0, windows.count, rotations + 1)
            offsets[0] = 0
            sent, received = summed(windows, "offered"), summed(windows, "received")
            offered += _rotated(clean, sent)[offsets]
            lost += _rotated(clean, sent - received)[offsets]
    if not offered[0]:
        return None
    ratios = lost / np.maximum(offered, 1)
    more = np.count_nonzero(ratios[1:] > ratios[0])
    as_much = np.count_nonzero(ratios[1:] == ratios[0])
    if more >= NEEDED_SHARE * rotations:
        return True
    return False if more + as_much < NEEDED_SHARE * rotations else None


def _rotated(clean: NDArray[np.bool_], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of the counts that the mask keeps, for each rotation in windows."""
    spectrum = np.conj(np.fft.rfft(clean)) * np.fft.rfft(counts)
    kept: NDArray[np.int64] = np.rint(np.fft.irfft(spectrum, len(clean))).astype(np.int64)
    return kept
