# SPDX-License-Identifier: Apache-2.0
"""How much did a change bring, over pairs of measurements with and without it?

By ranks, since few pairs tell no distribution: the true median lies between the k-th lowest and the
k-th highest of n ratios with the confidence of the sign test, whatever their distribution. With
three pairs even the widest interval has only 75%: how sure it is, is always said.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

WANTED = 0.95


class Verdict(StrEnum):
    MORE = "brings more"
    LESS = "brings less"
    UNDECIDED = "no difference shown"


@dataclass(frozen=True, slots=True)
class MeasuredGain:
    """gain: the median of after / before - 1 over `pairs` pairs. low, high: its interval, with that
    confidence, at least WANTED where there are six pairs or more."""

    before: float
    after: float
    gain: float
    low: float
    high: float
    confidence: float
    pairs: int

    @property
    def verdict(self) -> Verdict:
        if self.confidence < WANTED:
            return Verdict.UNDECIDED
        if self.low > 0:
            return Verdict.MORE
        return Verdict.LESS if self.high < 0 else Verdict.UNDECIDED


def measured_gain(pairs: Sequence[tuple[float, float]]) -> MeasuredGain:
    """pairs: the figure before and after, at least one; each before is above 0."""
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
    """That the median lies within the ratios, without `skipped` of them at either end."""
    outside = sum(math.comb(count, i) for i in range(skipped + 1))
    return max(0.0, 1 - float(outside) / 2.0 ** (count - 1))
