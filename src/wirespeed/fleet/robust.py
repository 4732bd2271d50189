# SPDX-License-Identifier: Apache-2.0
"""Find outliers among values of which some may be arbitrarily wrong.

The median and the median absolute deviation (MAD) stay right while less than half of the values are
wrong (Rousseeuw and Croux, 1993). A value is an outlier when its modified z-score is above 3.5
(Iglewicz and Hoaglin, 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

# Among fewer values, a single wrong one cannot be identified.
FEWEST = 5
THRESHOLD = 3.5
_NORMAL = 1.4826
# The MAD is 0 where more than half of the values are equal. The mean deviation replaces it, scaled
# for normal values.
_MEAN_NORMAL = 1.2533
# Corrections for the MAD of few values, which is too small (Croux and Rousseeuw, 1992, table 1).
_SMALL = {5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution of `count` values."""

    count: int
    median: float
    deviation: float
    """Standard deviation, as the MAD estimates it."""
    low: float
    """Lower end of the interval outside of which a value is an outlier."""
    high: float


def spread(values: Sequence[float]) -> Spread | None:
    """Return the distribution; None for fewer than 5 values."""
    count = len(values)
    if count < FEWEST:
        return None
    middle = median(values)
    distances = [abs(value - middle) for value in values]
    correction = _SMALL.get(count, count / (count - 0.8))
    deviation = _NORMAL * correction * median(distances)
    if deviation == 0:
        deviation = _MEAN_NORMAL * sum(distances) / count
    reach = THRESHOLD * deviation
    return Spread(count, middle, deviation, middle - reach, middle + reach)


def apart(one: Spread, low: float, high: float) -> float:
    """Return the distance of a value from the median, in deviations; negative below.

    low, high: interval of the value. Returns 0 where the two intervals overlap.
    """
    if low <= one.high and high >= one.low:
        return 0.0
    nearest = high if high < one.low else low
    return (nearest - one.median) / one.deviation if one.deviation else 0.0
