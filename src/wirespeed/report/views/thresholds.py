# SPDX-License-Identifier: Apache-2.0
"""Judge the points of a run by thresholds, e.g. "p2p, 64 B: ndr >= 5e6"."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.result.result import Grade, Interval, SearchResult
from wirespeed.store.records import PointRecord, PointState, RunRecord

EVERY_POINT = "*"


class Metric(StrEnum):
    """Quantity that a threshold limits.

    Rates in frames/s. Latencies in µs at half the PDR: of clean time where it is known, else of
    all time, as in the table.
    """

    NDR = "ndr"
    PDR = "pdr"
    MRR = "mrr"
    P50 = "p50"
    P99 = "p99"
    GRADE = "grade"


class Verdict(StrEnum):
    """Result of a point against a threshold. Only MET counts as met."""

    MET = "met"
    MISSED = "missed"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit that points are held to."""

    label: str
    """A point as the table prints it, or EVERY_POINT."""
    metric: Metric
    comparison: str
    """One of COMPARISONS; of a grade ">=": that grade or a better one."""
    limit: float | Grade
    asked: str
    """Metric, comparison and limit as they were typed, e.g. "ndr >= 5e6"."""

    def __str__(self) -> str:
        return f"{self.label}: {self.asked}"

    def names(self, *labels: str) -> bool:
        """Return whether the threshold is for a point that has one of these labels."""
        return self.label in (EVERY_POINT, *labels)


@dataclass(frozen=True, slots=True)
class Judged:
    """A threshold at one point."""

    threshold: Threshold
    label: str
    """The point's caption; EVERY_POINT where the run measured none."""
    verdict: Verdict
    found: str
    """The point's value in words, or why it has none."""
    key: str = ""
    """PointRecord.key of the point."""

    def __str__(self) -> str:
        return f"{self.label}: {self.threshold.asked}: {self.verdict} ({self.found})"


COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class _Range:
    """The values between which a point's value lies; both the same where it is one value."""

    low: float
    high: float
    words: str


def judge(run: RunRecord, thresholds: Sequence[Threshold]) -> tuple[Judged, ...]:
    """Judge every point that a threshold names. EVERY_POINT skips those the host cannot run."""
    return tuple(judged for one in thresholds for judged in _judged(run, one))


def unmet(judged: Sequence[Judged]) -> tuple[Judged, ...]:
    """Return those that are missed, or of which nobody can tell."""
    return tuple(one for one in judged if one.verdict is not Verdict.MET)


def _judged(run: RunRecord, threshold: Threshold) -> Iterator[Judged]:
    found = [
        point
        for point in run.points
        if threshold.names(point.label, point.caption)
        and not (threshold.label == EVERY_POINT and point.state is PointState.NOT_RUN)
    ]
    for point in found:
        yield Judged(threshold, point.caption, *_of_point(point, threshold), point.key)
    if not found:
        yield Judged(threshold, threshold.label, Verdict.CANNOT_TELL, "no point was measured")


def _of_point(point: PointRecord, threshold: Threshold) -> tuple[Verdict, str]:
    result = point.result
    if result is None:
        state = str(point.state).replace("_", " ")
        return Verdict.CANNOT_TELL, state if point.error is None else f"{state}: {point.error}"
    if isinstance(threshold.limit, Grade):
        return _of_grade(result, threshold.limit)
    found = _FOUND[threshold.metric](result)
    if found is None:
        why = result.not_measurable or f"search {result.search} gives none"
        return Verdict.CANNOT_TELL, f"no {threshold.metric}: {why}"
    return _of_range(found, COMPARISONS[threshold.comparison], threshold.limit), found.words


def _of_grade(result: SearchResult, wanted: Grade) -> tuple[Verdict, str]:
    if result.grade is None:
        return Verdict.CANNOT_TELL, "no grade"
    return (Verdict.MET if result.grade <= wanted else Verdict.MISSED), f"grade {result.grade}"


def _of_range(found: _Range, holds: Callable[[float, float], bool], limit: float) -> Verdict:
    """Compare both ends, as comparisons with one limit are monotonic."""
    ends = holds(found.low, limit), holds(found.high, limit)
    if all(ends):
        return Verdict.MET
    return Verdict.CANNOT_TELL if any(ends) else Verdict.MISSED


def _ndr(result: SearchResult) -> _Range | None:
    if result.bracket is not None:
        return _between(result.bracket.carried_fps, result.bracket.overloads_fps)
    return _searched(result.ndr)


def _pdr(result: SearchResult) -> _Range | None:
    return _searched(result.pdr)


def _searched(interval: Interval | None) -> _Range | None:
    """Return the rate that passed; a range where no load above it failed, or none passed."""
    if interval is None:
        return None
    low_fps = interval.lower.load_fps if interval.lower is not None else None
    high_fps = interval.upper.load_fps if interval.upper is not None else None
    if low_fps is not None and high_fps is not None:
        return _exact(low_fps)
    return _between(low_fps, high_fps)


def _mrr(result: SearchResult) -> _Range | None:
    return None if result.mrr_fps is None else _exact(result.mrr_fps)


def _latency(of_median: bool) -> Callable[[SearchResult], _Range | None]:
    def found(result: SearchResult) -> _Range | None:
        latency = result.half_load_latency
        if latency is None:
            return None
        us = (latency.p50_ns if of_median else latency.p99_ns) / 1e3
        at = result.latency_at(0.5)
        clean = at is not None and at.undisturbed is not None
        time = "clean time" if clean else "all time"
        return _Range(us, us, f"{us:.4g} \N{MICRO SIGN}s at half the PDR, {time}")

    return found


def _exact(fps: float) -> _Range:
    return _Range(fps, fps, f"{fps:,.0f} frames/s")


def _between(low_fps: float | None, high_fps: float | None) -> _Range | None:
    if low_fps is None and high_fps is None:
        return None
    ends = [f"at least {low_fps:,.0f}"] if low_fps is not None else []
    ends += [f"below {high_fps:,.0f}"] if high_fps is not None else []
    words = f"{' and '.join(ends)} frames/s"
    # A load that failed is above the rate, never equal to it.
    highest_fps = math.inf if high_fps is None else math.nextafter(high_fps, 0.0)
    return _Range(low_fps or 0.0, highest_fps, words)


_FOUND: Mapping[Metric, Callable[[SearchResult], _Range | None]] = {
    Metric.NDR: _ndr,
    Metric.PDR: _pdr,
    Metric.MRR: _mrr,
    Metric.P50: _latency(of_median=True),
    Metric.P99: _latency(of_median=False),
}
