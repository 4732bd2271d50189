# SPDX-License-Identifier: Apache-2.0
"""Is run B worse than run A, and is the difference larger than what either would show again?"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.cpus import Proximity
from wirespeed.model.result import Interval
from wirespeed.model.trial import Stage
from wirespeed.store.records import PointRecord, PointState, RunRecord


class Verdict(StrEnum):
    SAME = "same"
    BETTER = "better"
    WITHIN_TOLERANCE = "worse, within tolerance"
    WORSE = "worse"
    GONE = "no figure in B"
    NEW = "no figure in A"


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of one point in both runs, in frames/s; None where a run has no figure.

    change: relative to A. noise: what the two runs leave open, relative, at one standard error or
    half a search width: (noise of A, noise of B) as the root of their squares.
    """

    label: str
    figure: str
    a_fps: float | None
    b_fps: float | None
    change: float | None
    noise: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Placement:
    """A point in whose valid trials the polling CPUs shared one thing in A, another in B."""

    label: str
    a: Proximity
    b: Proximity


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every figure that at least one of the runs has, and the points that only one has.

    placements: where the CPUs were placed differently; figures then differ for that alone.
    """

    differences: tuple[Difference, ...]
    placements: tuple[Placement, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def worse(self) -> tuple[Difference, ...]:
        """What makes B unacceptable: worse beyond tolerance, or not measured any more."""
        return tuple(d for d in self.differences if d.verdict in (Verdict.WORSE, Verdict.GONE))


def compare_runs(a: RunRecord, b: RunRecord, tolerance: float) -> Comparison:
    """Compare the points with the same parameters; tolerance is relative, e.g. 0.05."""
    in_a = {point.id: point for point in a.points if point.state is PointState.COMPLETE}
    in_b = {point.id: point for point in b.points if point.state is PointState.COMPLETE}
    both = [(in_a[point_id], in_b[point_id]) for point_id in in_a if point_id in in_b]
    return Comparison(
        tuple(d for pair in both for d in _differences(*pair, tolerance)),
        tuple(placement for pair in both if (placement := _placement(*pair)) is not None),
        tuple(in_a[i].label for i in in_a if i not in in_b),
        tuple(in_b[i].label for i in in_b if i not in in_a),
    )


def _differences(a: PointRecord, b: PointRecord, tolerance: float) -> Iterator[Difference]:
    values_a, values_b = _values(a), _values(b)
    for figure in ("NDR", "PDR", "MRR", "constant"):
        a_fps, b_fps = values_a.get(figure), values_b.get(figure)
        if a_fps is None and b_fps is None:
            continue
        noise = math.hypot(_noise(a, figure), _noise(b, figure))
        change = (b_fps - a_fps) / a_fps if a_fps and b_fps is not None else None
        if a_fps is None:
            verdict = Verdict.NEW
        elif change is None:
            verdict = Verdict.GONE
        else:
            verdict = _judge(change, noise, tolerance)
        yield Difference(a.label, figure, a_fps, b_fps, change, noise, verdict)


def _placement(a: PointRecord, b: PointRecord) -> Placement | None:
    in_a, in_b = _proximity(a), _proximity(b)
    if in_a is None or in_b is None or in_a.like(in_b):
        return None
    return Placement(a.label, in_a, in_b)


def _proximity(point: PointRecord) -> Proximity | None:
    """What the polling CPUs shared in the middle one of the valid trials."""
    seen = [stored.trial.seen.proximity for stored in point.trials if stored.trial.valid]
    before = [pair[0] for pair in seen if pair is not None]
    if not before:
        return None
    return Proximity(
        statistics.median(where.core_to_core_ns for where in before),
        statistics.median(where.slowdown for where in before),
    )


def _judge(change: float, noise: float, tolerance: float) -> Verdict:
    """The tolerance decides; noise only tells a real difference inside it from none."""
    if change < -tolerance:
        return Verdict.WORSE
    if abs(change) <= noise:
        return Verdict.SAME
    return Verdict.BETTER if change > 0 else Verdict.WITHIN_TOLERANCE


def _values(point: PointRecord) -> dict[str, float]:
    """The figures that the point has, in frames/s."""
    result = point.result
    if result is None:
        return {}
    found = {
        "NDR": result.ndr.lower.load_fps if result.ndr and result.ndr.lower else None,
        "PDR": result.pdr.lower.load_fps if result.pdr and result.pdr.lower else None,
        "MRR": result.mrr_fps,
        "constant": result.constant.forwarding_fps if result.constant else None,
    }
    return {figure: fps for figure, fps in found.items() if fps is not None}


def _noise(point: PointRecord, figure: str) -> float:
    """What the run itself leaves open, relative: the search's width, the trials' scatter."""
    result = point.result
    if result is None:
        return 0.0
    scatter = _scatter(point, Stage.CONSTANT if figure == "constant" else Stage.MRR)
    interval = {"NDR": result.ndr, "PDR": result.pdr}.get(figure)
    return math.hypot(scatter, _half_width(interval))


def _half_width(interval: Interval | None) -> float:
    if interval is None or interval.lower is None or interval.upper is None:
        return 0.0
    return (interval.upper.load_fps - interval.lower.load_fps) / (2 * interval.lower.load_fps)


def _scatter(point: PointRecord, stage: Stage) -> float:
    """The standard deviation of what valid trials of that stage forwarded, relative to the mean."""
    rates = [
        stored.trial.forwarding_fps
        for stored in point.trials
        if stored.trial.valid and stored.trial.stage is stage
    ]
    if len(rates) < 2 or not any(rates):
        return 0.0
    return statistics.stdev(rates) / statistics.fmean(rates)
