# SPDX-License-Identifier: Apache-2.0
"""Evaluate a host on which the same trial was repeated for hours."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from wirespeed.model.snapshot import Repeat

# Fewer trials show no trend.
FEWEST = 20
# A trend is certain when chance alone would show one as strong in 1 of 1000 cases, in either
# direction.
_SIGNIFICANT_Z = 3.29
# A trial with a larger loss ratio has failed.
LOSS_GOAL = 0.0
# Trials from whose pairs a slope is taken; more of them change nothing visible.
_MOST_TRIALS = 600


@dataclass(frozen=True, slots=True)
class Trend:
    """Change of a value over time."""

    per_hour: float
    """Change per hour relative to the median (Theil and Sen)."""
    certain: bool
    """True if the trend is significant at 1 in 1000 (Mann and Kendall)."""


@dataclass(frozen=True, slots=True)
class BurnIn:
    """Trials of one host at one point."""

    host: str
    study: str
    point: str
    trials: tuple[Repeat, ...]
    hours: float
    failures: int
    """Number of trials that lost frames."""
    first_failure_s: float | None
    """Time from the first trial to the first with loss; None without loss."""
    rate: Trend
    """Trend of the rate."""
    p99: Trend | None
    """None, as below, where fewer than 20 trials have the value."""
    temperature: Trend | None
    frequency: Trend | None

    @property
    def worth_a_look(self) -> bool:
        trends = (self.rate, self.p99, self.temperature, self.frequency)
        return bool(self.failures) or any(trend is not None and trend.certain for trend in trends)


def burn_ins(repeats: Iterable[Repeat]) -> tuple[BurnIn, ...]:
    """Evaluate every host and point with at least 20 trials; those worth a look come first."""
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
    """Return the median slope of all pairs (Sen, 1968), and its significance (Kendall, 1975)."""
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
    """Standardise the score, with the corrections for ties and for continuity."""
    n = len(values)
    ties: dict[float, int] = defaultdict(int)
    for value in values:
        ties[value] += 1
    variance = n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties.values())
    if variance <= 0 or score == 0:
        return 0.0
    return (score - math.copysign(1, score)) / math.sqrt(variance / 18)
