# SPDX-License-Identifier: Apache-2.0
"""Measure the gain of a change over pairs of measurements with and without it.

The interval uses ranks, because few pairs show no distribution. The true median of n ratios lies
between the k-th lowest and the k-th highest. The confidence is that of the sign test, for any
distribution. With three pairs even the widest interval has a confidence of only 75%, so the
confidence is always reported.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

WANTED = 0.95


class Verdict(StrEnum):
    """Conclusion about a change."""

    MORE = "brings more"
    LESS = "brings less"
    UNDECIDED = "no difference shown"


@dataclass(frozen=True, slots=True)
class MeasuredGain:
    """Gain of a change over pairs of measurements."""

    before: float
    after: float
    gain: float
    """Median of after / before - 1."""
    low: float
    """Lower bound of the gain."""
    high: float
    """Upper bound of the gain."""
    confidence: float
    """Confidence of the interval; at least WANTED with six pairs or more."""
    pairs: int

    @property
    def verdict(self) -> Verdict:
        if self.confidence < WANTED:
            return Verdict.UNDECIDED
        if self.low > 0:
            return Verdict.MORE
        return Verdict.LESS if self.high < 0 else Verdict.UNDECIDED


def measured_gain(pairs: Sequence[tuple[float, float]]) -> MeasuredGain:
    """Return the median gain and its interval.

    pairs: rate before and after the change, at least one pair; each rate before is above 0.
    """
    ratios = sorted(after / before - 1 for before, after in pairs)
    count = len(ratios)
    skipped = max(
        (k for k in range((count + 1) // 2) if _confidence(count, k) >= WANTED), default=0
    )
    return MeasuredGain(
        statistics.median(before for before, _ in pairs),
        statistics.median(after for _, after in pairs),
        statistics.median(ratios), ratios[skipped], ratios[-1 - skipped],
        _confidence(count, skipped), count,
    )  # fmt: skip


def _confidence(count: int, skipped: int) -> float:
    """Return the confidence that the median lies within the ratios.

    skipped: number of ratios excluded at each end.
    """
    outside = sum(math.comb(count, i) for i in range(skipped + 1))
    return max(0.0, 1 - float(outside) / 2.0 ** (count - 1))
