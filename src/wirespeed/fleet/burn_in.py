# SPDX-License-Identifier: Apache-2.0
"""What became of a host while the same trial was repeated on it for hours?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from wirespeed.model.snapshot import Repeat

# Fewer trials tell no trend.
FEWEST = 20
# A trend is told when chance alone would show one as strong less often than this, over both signs.
_SIGNIFICANT_Z = 3.29
# A trial that loses a larger share than this has failed.
LOSS_GOAL = 0.0
# Pairs of trials that a slope is taken from; more of them change nothing that can be seen.
_MOST_TRIALS = 600


@dataclass(frozen=True, slots=True)
class Trend:
    """Change in an hour, by Theil and Sen, relative to the median; certain: by Mann and Kendall,
    at a chance of 1 in 1000."""

    per_hour: float
    certain: bool


@dataclass(frozen=True, slots=True)
class BurnIn:
    """Trials of one host at one point. first_failure_s: of the first that lost more than nothing,
    seconds after the first trial began to count; None where none did. failures: how many did.

    rate, p99, temperature, frequency: their trends; None where the trials do not tell.
    """

    host: str
    study: str
    point: str
    trials: tuple[Repeat, ...]
    hours: float
    failures: int
    first_failure_s: float | None
    rate: Trend
    p99: Trend | None
    temperature: Trend | None
    frequency: Trend | None

    @property
    def worth_a_look(self) -> bool:
        trends = (self.rate, self.p99, self.temperature, self.frequency)
        return bool(self.failures) or any(trend is not None and trend.certain for trend in trends)


def burn_ins(repeats: Iterable[Repeat]) -> tuple[BurnIn, ...]:
    """Of every host and point with at least 20 trials; those worth a look first."""
    alike: dict[tuple[str, str, str], list[Repeat]] = defaultdict(list)
    for one in repeats:
        alike[one.host, one.study, one.point].append(one)
    found = [_burn_in(trials) for trials in alike.values() if len(trials) >= FEWEST]
    return tuple(
        sorted(found, key=lambda b: (not b.worth_a_look, -b.failures, b.host, b.study, b.point))
    )


def _burn_in(trials: list[Repeat]) -> BurnIn:
    trials.sort(key=lambda one: one.ended_at)
    seconds = [
        (datetime.fromisoformat(one.ended_at) - datetime.fromisoformat(trials[0].ended_at))
        .total_seconds()
        for one in trials
    ]  # fmt: skip
    failed = [at for at, one in zip(seconds, trials, strict=True) if one.loss > LOSS_GOAL]
    first = trials[0]
    return BurnIn(
        first.host, first.study, first.point, tuple(trials), seconds[-1] / 3600,
        len(failed), failed[0] if failed else None,
        trend(seconds, [one.rate_fps for one in trials]),
        _optional(seconds, [one.p99_us for one in trials]),
        _optional(seconds, [one.temperature_c for one in trials]),
        _optional(seconds, [one.frequency_mhz for one in trials]),
    )  # fmt: skip


def _optional(seconds: Sequence[float], values: Sequence[float | None]) -> Trend | None:
    told = [(at, value) for at, value in zip(seconds, values, strict=True) if value is not None]
    if len(told) < FEWEST:
        return None
    return trend([at for at, _ in told], [value for _, value in told])


def trend(seconds: Sequence[float], values: Sequence[float]) -> Trend:
    """The median slope of all pairs (Sen, 1968), and whether it is certain (Kendall, 1975)."""
    step = max(1, math.ceil(len(values) / _MOST_TRIALS))
    at, of = seconds[::step], values[::step]
    slopes: list[float] = []
    score = 0
    for late in range(1, len(of)):
        for early in range(late):
            score += (of[late] > of[early]) - (of[late] < of[early])
            if at[late] > at[early]:
                slopes.append((of[late] - of[early]) / (at[late] - at[early]))
    middle = median(of)
    slope = median(slopes) if slopes else 0.0
    relative = slope * 3600 / middle if middle else 0.0
    return Trend(relative, abs(_kendall_z(score, of)) > _SIGNIFICANT_Z)


def _kendall_z(score: int, values: Sequence[float]) -> float:
    """Standardised with the correction for ties and for continuity."""
    n = len(values)
    ties: dict[float, int] = defaultdict(int)
    for value in values:
        ties[value] += 1
    variance = n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties.values())
    if variance <= 0 or score == 0:
        return 0.0
    return (score - math.copysign(1, score)) / math.sqrt(variance / 18)
