# SPDX-License-Identifier: Apache-2.0
"""Is run B worse than run A, beyond the uncertainty of both?

Figures of undisturbed time decide. Figures of the host as it is are shown beside them and decide
nothing: they depend on how noisy the host was that day as much as on what was changed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.result import Bracket, SearchResult
from wirespeed.report.comparison import (
    Comparison,
    Difference,
    GradeChange,
    Judgement,
    PlacementChange,
)
from wirespeed.report.uncertainty import combined, uncertainty
from wirespeed.store.records import PointRecord, PointState, RunRecord


def compare_runs(a: RunRecord, b: RunRecord, tolerance: float) -> Comparison:
    """Compare the points with the same parameters; tolerance is relative, e.g. 0.05."""
    in_a = {point.key: point for point in a.points if point.state is PointState.COMPLETE}
    in_b = {point.key: point for point in b.points if point.state is PointState.COMPLETE}
    both = [(in_a[key], in_b[key]) for key in in_a if key in in_b]
    return Comparison(
        tuple(d for pair in both for d in _differences(*pair, tolerance)),
        tuple(placement for pair in both if (placement := placement_change(*pair)) is not None),
        tuple(change for pair in both if (change := _grade_change(*pair)) is not None),
        tuple(in_a[i].label for i in in_a if i not in in_b),
        tuple(in_b[i].label for i in in_b if i not in in_a),
    )


def _differences(a: PointRecord, b: PointRecord, tolerance: float) -> Iterator[Difference]:
    bracketed = _printed_range(a) is not None or _printed_range(b) is not None
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
        error = combined(uncertainty(a, figure), uncertainty(b, figure), figure)
        change = (b_fps - a_fps) / a_fps if a_fps and b_fps is not None else None
        if a_fps is None:
            verdict = Judgement.NEW
        elif change is None:
            verdict = Judgement.GONE
        else:
            verdict = _judge(change, error, tolerance)
        yield Difference(a.label, figure, a_fps, b_fps, change, error, verdict)
    yield from _as_is(a, b)


def _judge(change: float, error: float | None, tolerance: float) -> Judgement:
    """A change counts where it exceeds both the tolerance and the error. What is within an error
    that is larger than the tolerance may be anything."""
    if error is None:
        return Judgement.CANNOT_TELL
    if abs(change) <= error:
        if change < -tolerance:
            return Judgement.WITHIN_ERROR
        return Judgement.SAME if error <= tolerance else Judgement.CANNOT_TELL
    if abs(change) > tolerance:
        return Judgement.BETTER if change > 0 else Judgement.WORSE
    return Judgement.BETTER_WITHIN_TOLERANCE if change > 0 else Judgement.WITHIN_TOLERANCE


def _between(a: PointRecord, b: PointRecord, tolerance: float) -> Difference:
    """The NDR where a run knows only a bracket: two brackets differ where they are disjoint."""
    values = _values(a.result).get("NDR"), _values(b.result).get("NDR")
    (low_a, high_a), (low_b, high_b) = _range(a), _range(b)
    change, verdict = None, Judgement.OVERLAP
    if not _has_ndr(b):
        verdict = Judgement.GONE
    elif not _has_ndr(a):
        verdict = Judgement.NEW
    elif high_b < low_a:
        change = high_b / low_a - 1
        verdict = Judgement.WORSE if change < -tolerance else Judgement.WITHIN_TOLERANCE
    elif low_b > high_a:
        change, verdict = low_b / high_a - 1, Judgement.BETTER
    ranges = _printed_range(a), _printed_range(b)
    return Difference(a.label, "NDR", *values, change, None, verdict, *ranges)


def _printed_range(point: PointRecord) -> Bracket | None:
    """The bracket, or an NDR that is a lower bound only, as no load above it failed; else None."""
    ndr = point.result.ndr if point.result is not None else None
    if ndr is not None and ndr.lower is not None and ndr.upper is None:
        return Bracket(ndr.lower.load_fps, None)
    return _bracket(point)


def _has_ndr(point: PointRecord) -> bool:
    return _bracket(point) is not None or "NDR" in _values(point.result)


def _range(point: PointRecord) -> tuple[float, float]:
    """The loads between which the NDR lies."""
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
        ("lossless as is", in_a.lossless_fps, in_b.lossless_fps),
        ("MRR as is", in_a.mrr_fps, in_b.mrr_fps),
    )
    for figure, a_fps, b_fps in pairs:
        if a_fps is not None or b_fps is not None:
            change = (b_fps - a_fps) / a_fps if a_fps and b_fps is not None else None
            yield Difference(a.label, figure, a_fps, b_fps, change, None, Judgement.AS_IS)


def _grade_change(a: PointRecord, b: PointRecord) -> GradeChange | None:
    if a.result is None or b.result is None or a.result.grade is b.result.grade:
        return None
    return GradeChange(a.label, a.result.grade, b.result.grade)


def placement_change(a: PointRecord, b: PointRecord) -> PlacementChange | None:
    """How differently the polling CPUs were placed; None where they may have been the same."""
    in_a, in_b = _placed(a), _placed(b)
    if in_a is None or in_b is None or in_a.same_as(in_b):
        return None
    return PlacementChange(a.label, in_a, in_b)


def _placed(point: PointRecord) -> CpuPlacement | None:
    """The median placement of the polling CPUs over the trials."""
    placements = [stored.trial.observation.placement for stored in point.trials]
    before = [pair[0] for pair in placements if pair is not None]
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
