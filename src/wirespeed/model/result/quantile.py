# SPDX-License-Identifier: Apache-2.0
"""Compute 95% intervals and percentiles, for every value by the same functions.

Student's t quantile: Abramowitz and Stegun, 26.7.5 (Cornish and Fisher's expansion).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Final

CONFIDENCE: Final = 0.95
"""Confidence of every interval that is printed, stored or compared."""


def student(share: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution, to 1%.

    freedom: degrees of freedom; the quantile is infinite below 1.
    """
    if freedom < 1:
        return math.inf
    if freedom == 1:
        return math.tan(math.pi * (share - 0.5))
    if freedom == 2:
        return (2 * share - 1) * math.sqrt(2 / (1 - (2 * share - 1) ** 2))
    z = statistics.NormalDist().inv_cdf(share)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


def two_sided(freedom: int) -> float:
    """Return half the width of a 95% interval, in standard errors."""
    return student(0.5 + CONFIDENCE / 2, freedom)


def half_interval(values: Sequence[float]) -> float | None:
    """Return half of the 95% interval of the values' mean, relative to the mean.

    Returns None for fewer than two values, or for a mean of 0.
    """
    if len(values) < 2 or not (middle := statistics.fmean(values)):
        return None
    error = statistics.stdev(values) / math.sqrt(len(values))
    return two_sided(len(values) - 1) * error / abs(middle)


def nearest_rank(per_mille: int, count: int) -> int:
    """Return the rank, from 1, of the smallest value that per_mille of `count` values reach."""
    return max(1, -(-per_mille * count // 1000))
