# SPDX-License-Identifier: Apache-2.0
"""Is run B worse than run A, and by more than what the two leave open?

Figures of undisturbed time decide. What a host gives as it is is shown beside them and decides
nothing: it tells how loud the host was that day as much as what was changed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result import Bracket, Grade, Interval, SearchResult
from wirespeed.model.trial import Stage, Trial
from wirespeed.store.records import PointRecord, PointState, RunRecord


class Verdict(StrEnum):
    SAME = "same"
    BETTER = "better"
    WITHIN_TOLERANCE = "worse, within tolerance"
    OPEN = "worse, but within what the runs leave open"
    OVERLAP = "brackets overlap"
    WORSE = "worse"
    GONE = "no figure in B"
    NEW = "no figure in A"
    AS_IS = "as is: decides nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of one point in both runs, in frames/s; None where a run has no figure.

    a_bracket, b_bracket: of a point of grade D, instead of its figure. change: relative to A; of
    brackets that do not overlap, the least that it can be. noise: what the two runs leave open with
    95% confidence, relative, as the root of their squares.
    """

    label: str
    figure: str
    a_fps: float | None
    b_fps: float | None
    change: float | None
    noise: float
    verdict: Verdict
    a_bracket: Bracket | None = None
    b_bracket: Bracket | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """A point in whose trials the polling CPUs shared one thing in A, another in B."""

    label: str
    a: CpuPlacement
    b: CpuPlacement


@dataclass(frozen=True, slots=True)
class GradeChange:
    """A point whose figures are surer in one run than in the other; None: not recorded."""

    label: str
    a: Grade | None
    b: Grade | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every figure that at least one of the runs has, and the points that only one has.

    placements: where the CPUs were placed differently; figures then differ for that alone.
    """

    differences: tuple[Difference, ...]
    placements: tuple[Placement, ...]
    grades: tuple[GradeChange, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def worse(self) -> tuple[Difference, ...]:
        """What makes B unacceptable: worse beyond tolerance and doubt, or not measured any more."""
        return tuple(d for d in self.differences if d.verdict in (Verdict.WORSE, Verdict.GONE))


def compare_runs(a: RunRecord, b: RunRecord, tolerance: float) -> Comparison:
    """Compare the points with the same parameters; tolerance is relative, e.g. 0.05."""
    in_a = {point.id: point for point in a.points if point.state is PointState.COMPLETE}
    in_b = {point.id: point for point in b.points if point.state is PointState.COMPLETE}
    both = [(in_a[point_id], in_b[point_id]) for point_id in in_a if point_id in in_b]
    return Comparison(
        tuple(d for pair in both for d in _differences(*pair, tolerance)),
        tuple(placement for pair in both if (placement := _placement(*pair)) is not None),
        tuple(change for pair in both if (change := _grade_change(*pair)) is not None),
        tuple(in_a[i].label for i in in_a if i not in in_b),
        tuple(in_b[i].label for i in in_b if i not in in_a),
    )


def _differences(a: PointRecord, b: PointRecord, tolerance: float) -> Iterator[Difference]:
    bracket_a, bracket_b = _bracket(a), _bracket(b)
    bracketed = bracket_a is not None or bracket_b is not None
    if bracketed:
        yield _between(a, b, tolerance)
    values_a, values_b = _values(a.result), _values(b.result)
    for figure in ("NDR", "PDR", "MRR", "constant"):
        a_fps, b_fps = values_a.get(figure), values_b.get(figure)
        if (a_fps is None and b_fps is None) or (bracketed and figure in ("NDR", "PDR")):
            continue
        # With grade D nothing is known of undisturbed time: its MRR is neither gone nor new.
        if bracketed and (a_fps is None or b_fps is None):
            continue
        noise = math.hypot(_open(a, figure), _open(b, figure))
        change = (b_fps - a_fps) / a_fps if a_fps and b_fps is not None else None
        if a_fps is None:
            verdict = Verdict.NEW
        elif change is None:
            verdict = Verdict.GONE
        else:
            verdict = _judge(change, noise, tolerance)
        yield Difference(a.label, figure, a_fps, b_fps, change, noise, verdict)
    yield from _as_is(a, b)


def _judge(change: float, noise: float, tolerance: float) -> Verdict:
    """Worse is what both the tolerance and the runs' own doubt leave no room for."""
    if change < -tolerance:
        return Verdict.WORSE if -change > noise else Verdict.OPEN
    if abs(change) <= noise:
        return Verdict.SAME
    return Verdict.BETTER if change > 0 else Verdict.WITHIN_TOLERANCE


def _between(a: PointRecord, b: PointRecord, tolerance: float) -> Difference:
    """The NDR where a run knows only a bracket: only brackets that are disjoint differ."""
    values = _values(a.result).get("NDR"), _values(b.result).get("NDR")
    (low_a, high_a), (low_b, high_b) = _range(a), _range(b)
    change, verdict = None, Verdict.OVERLAP
    if not _has_ndr(b):
        verdict = Verdict.GONE
    elif not _has_ndr(a):
        verdict = Verdict.NEW
    elif high_b < low_a:
        change = high_b / low_a - 1
        verdict = Verdict.WORSE if change < -tolerance else Verdict.WITHIN_TOLERANCE
    elif low_b > high_a:
        change, verdict = low_b / high_a - 1, Verdict.BETTER
    return Difference(a.label, "NDR", *values, change, 0.0, verdict, _bracket(a), _bracket(b))


def _has_ndr(point: PointRecord) -> bool:
    return _bracket(point) is not None or "NDR" in _values(point.result)


def _range(point: PointRecord) -> tuple[float, float]:
    """Between which loads the NDR lies, as far as the run knows."""
    bracket = _bracket(point)
    if bracket is None:
        ndr = point.result.ndr if point.result is not None else None
        bracket = Bracket(
            ndr.lower.load_fps if ndr is not None and ndr.lower is not None else None,
            ndr.upper.load_fps if ndr is not None and ndr.upper is not None else None,
        )
    high = math.inf if bracket.overloads_fps is None else bracket.overloads_fps
    return bracket.carried_fps or 0.0, high


def _as_is(a: PointRecord, b: PointRecord) -> Iterator[Difference]:
    in_a = a.result.as_is if a.result is not None else None
    in_b = b.result.as_is if b.result is not None else None
    if in_a is None or in_b is None:
        return
    pairs = (
        ("lossless, as is", in_a.lossless_fps, in_b.lossless_fps),
        ("MRR, as is", in_a.mrr_fps, in_b.mrr_fps),
    )
    for figure, a_fps, b_fps in pairs:
        if a_fps is not None or b_fps is not None:
            change = (b_fps - a_fps) / a_fps if a_fps and b_fps is not None else None
            yield Difference(a.label, figure, a_fps, b_fps, change, 0.0, Verdict.AS_IS)


def _grade_change(a: PointRecord, b: PointRecord) -> GradeChange | None:
    if a.result is None or b.result is None or a.result.grade is b.result.grade:
        return None
    return GradeChange(a.label, a.result.grade, b.result.grade)


def _placement(a: PointRecord, b: PointRecord) -> Placement | None:
    in_a, in_b = _placed(a), _placed(b)
    if in_a is None or in_b is None or in_a.same_as(in_b):
        return None
    return Placement(a.label, in_a, in_b)


def _placed(point: PointRecord) -> CpuPlacement | None:
    """What the polling CPUs shared in the middle one of the trials."""
    seen = [stored.trial.seen.placement for stored in point.trials]
    before = [pair[0] for pair in seen if pair is not None]
    if not before:
        return None
    return CpuPlacement(
        statistics.median(where.core_to_core_ns for where in before),
        statistics.median(where.slowdown for where in before),
    )


def _bracket(point: PointRecord) -> Bracket | None:
    return point.result.bracket if point.result is not None else None


def _values(result: SearchResult | None) -> dict[str, float]:
    """The figures of undisturbed time that a point has, in frames/s."""
    if result is None:
        return {}
    found = {
        "NDR": result.ndr.lower.load_fps if result.ndr and result.ndr.lower else None,
        "PDR": result.pdr.lower.load_fps if result.pdr and result.pdr.lower else None,
        "MRR": result.mrr_fps,
        "constant": result.constant.forwarding_fps if result.constant else None,
    }
    return {figure: fps for figure, fps in found.items() if fps is not None}


def _open(point: PointRecord, figure: str) -> float:
    """What the run itself leaves open, relative, with 95% confidence."""
    result = point.result
    if result is None:
        return 0.0
    if figure == "MRR":
        return 2 * (result.mrr_error or _scatter(point, Stage.MRR))
    if figure == "constant":
        return 2 * _scatter(point, Stage.CONSTANT)
    growth = result.undisturbed.growth_error if result.undisturbed is not None else 0.0
    interval = result.ndr if figure == "NDR" else result.pdr
    return _half_width(interval) + (growth if math.isfinite(growth) else 0.0)


def _half_width(interval: Interval | None) -> float:
    if interval is None or interval.lower is None or interval.upper is None:
        return 0.0
    return (interval.upper.load_fps - interval.lower.load_fps) / (2 * interval.lower.load_fps)


def _scatter(point: PointRecord, stage: Stage) -> float:
    """The standard error of what the trials of that stage forwarded, relative to their mean."""
    rates = [
        rate
        for stored in point.trials
        if stored.trial.stage is stage and (rate := _forwarded(stored.trial)) is not None
    ]
    if len(rates) < 2 or not any(rates):
        return 0.0
    return statistics.stdev(rates) / statistics.fmean(rates) / math.sqrt(len(rates))


def _forwarded(trial: Trial) -> float | None:
    """Undisturbed, or of a quiet trial; None where it has nothing to say."""
    if trial.quiet:
        return trial.forwarding_fps
    return trial.gated.receive_fps if trial.gated is not None else None
