# SPDX-License-Identifier: Apache-2.0
"""Which values of many lie apart, when some may be arbitrarily wrong?

By the median and the median absolute deviation (MAD): half of the values may be wrong before these
are (Rousseeuw and Croux, 1993). A value lies apart when its modified z-score is above 3.5 (Iglewicz
and Hoaglin, 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

# With fewer values a single wrong one cannot be told from the others.
FEWEST = 5
THRESHOLD = 3.5
_NORMAL = 1.4826
# Where more than half of the values are equal the MAD is 0: the mean deviation, for normal values.
_MEAN_NORMAL = 1.2533
# By how much the MAD of few values is too small (Croux and Rousseeuw, 1992, table 1).
_SMALL = {5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of `count` values, their standard deviation as the MAD estimates it, and the
    interval outside of which a value lies apart."""

    count: int
    median: float
    deviation: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread | None:
    """None for fewer than 5 values."""
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
    """By how many deviations a figure known to be within low..high is outside of the interval's
    middle, negative below it; 0 where part of low..high is within the interval."""
    if low <= one.high and high >= one.low:
        return 0.0
    nearest = high if high < one.low else low
    return (nearest - one.median) / one.deviation if one.deviation else 0.0
