# SPDX-License-Identifier: Apache-2.0
"""Evaluate a host on which the same trial was repeated for hours."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from statistics import median

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.host.snapshot import Repeat

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
    rate: Trend | None
    """Trend within a CPU placement, over the trials during which the CPUs stayed; None, as below,
    where fewer than 20 of these have the value."""
    p99: Trend | None
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
    begin = datetime.fromisoformat(trials[0].ended_at)
    at_s = [(datetime.fromisoformat(one.ended_at) - begin).total_seconds() for one in trials]
    failed = [at for at, one in zip(at_s, trials, strict=True) if one.loss > LOSS_GOAL]
    stayed = [(at, one) for at, one in zip(at_s, trials, strict=True) if not one.moved]

    def trend_of(pick: Callable[[Repeat], float | None]) -> Trend | None:
        samples = [
            Sample(at, value, one.placement)
            for at, one in stayed
            if (value := pick(one)) is not None
        ]
        return trend(samples) if len(samples) >= FEWEST else None

    first = trials[0]
    return BurnIn(
        first.host, first.study, first.point, tuple(trials), at_s[-1] / 3600,
        len(failed), failed[0] if failed else None,
        trend_of(lambda one: one.rate_fps), trend_of(lambda one: one.p99_us),
        trend_of(lambda one: one.temperature_c), trend_of(lambda one: one.frequency_mhz),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sample:
    """A value at a time in seconds, and where the polling CPUs were; None: not known."""

    at_s: float
    value: float
    placement: PlacementKind | None = None


def trend(samples: Sequence[Sample]) -> Trend:
    """Return the median slope of all pairs (Sen, 1968), and whether it is certain (Kendall, 1975).

    Only samples of one placement are a pair, and slopes are relative to its median: the seasonal
    Kendall test (Hirsch, 1982), with placements as seasons. samples: in the order of time.
    """
    step = max(1, math.ceil(len(samples) / _MOST_TRIALS))
    slopes: list[float] = []
    score, variance = 0, 0.0
    for placement in dict.fromkeys(sample.placement for sample in samples):
        of = [sample for sample in samples if sample.placement is placement][::step]
        middle = median(sample.value for sample in of)
        for early, late in combinations(of, 2):
            score += (late.value > early.value) - (late.value < early.value)
            if late.at_s > early.at_s and middle:
                slopes.append((late.value - early.value) / (late.at_s - early.at_s) / middle)
        variance += _kendall_variance([sample.value for sample in of])
    per_hour = median(slopes) * 3600 if slopes else 0.0
    return Trend(per_hour, abs(_kendall_z(score, variance)) > _SIGNIFICANT_Z)


def _kendall_variance(values: Sequence[float]) -> float:
    """Return the variance of the score without a trend, corrected for ties."""
    n = len(values)
    ties = Counter(values).values()
    return (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18


def _kendall_z(score: int, variance: float) -> float:
    """Standardise the score, with the correction for continuity."""
    if variance <= 0 or score == 0:
        return 0.0
    return (score - math.copysign(1, score)) / math.sqrt(variance)
