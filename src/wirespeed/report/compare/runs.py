# SPDX-License-Identifier: Apache-2.0
"""Compare two runs point by point, within each CPU placement that both met.

Clean rates decide. Rates over all time are shown next to them and decide nothing. They depend on
the noise of that day as much as on what was changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from wirespeed.model.cpus import NEAREST, PlacementKind
from wirespeed.model.result.convergence import ConvergenceResult
from wirespeed.model.result.result import Bracket, SearchResult, lower_fps
from wirespeed.report.base.answers import answers_with_merged, by_placement
from wirespeed.report.base.uncertainty import combined, uncertainty
from wirespeed.report.compare.comparison import (
    Comparison,
    Difference,
    GradeChange,
    Judgement,
    PlacementChange,
)
from wirespeed.report.compare.events import event_differences
from wirespeed.report.compare.judge import judge
from wirespeed.store.records import PointRecord, PointState, RunRecord


def compare_runs(a: RunRecord, b: RunRecord, tolerance: float) -> Comparison:
    """Compare the points with the same parameters; tolerance is relative, e.g. 0.05."""
    in_a = {point.key: point for point in a.points if point.state is PointState.COMPLETE}
    in_b = {point.key: point for point in b.points if point.state is PointState.COMPLETE}
    both = [(in_a[key], in_b[key]) for key in in_a if key in in_b]
    return Comparison(
        tuple(d for pair in both for d in _of_point(*pair, tolerance)),
        tuple(placement for pair in both if (placement := _placement_change(*pair)) is not None),
        tuple(change for pair in both if (change := _grade_change(*pair)) is not None),
        tuple(in_a[i].label for i in in_a if i not in in_b),
        tuple(in_b[i].label for i in in_b if i not in in_a),
    )


_MISSING = (Judgement.GONE, Judgement.NEW)


def _of_point(a: PointRecord, b: PointRecord, tolerance: float) -> Iterator[Difference]:
    """Compare a point in every placement that both runs met.

    A rate of one run is missing from the other only if no placement has it.
    """
    placed_a, placed_b = by_placement(a), by_placement(b)
    if (change := _placement_change(a, b)) is not None and change.a and change.b:
        yield from (replace(d, change=None, error=None, verdict=Judgement.APART)
                    for d in _differences(a, b, tolerance))  # fmt: skip
    else:
        several = max(len(placed_a), len(placed_b)) > 1
        found = [
            replace(difference, placement=kind if several else None)
            for kind, one, other in _common(placed_a, placed_b)
            for difference in _differences(one, other, tolerance)
        ] or list(_differences(a, b, tolerance))
        judged = {d.figure for d in found if d.verdict not in _MISSING}
        yield from (d for d in found if d.verdict not in _MISSING or d.figure not in judged)
    yield from _as_is(a, b)


_Placed = Mapping[PlacementKind | None, PointRecord]


def _common(a: _Placed, b: _Placed) -> Iterator[tuple[PlacementKind, PointRecord, PointRecord]]:
    """Yield every result of a with that of b in the same placement, once each.

    The placement is the one of b where both hold for it: a's may stand for several merged ones.
    """
    for kind, one in a.items():
        for other_kind, other in b.items():
            both = _where(kind, one) & _where(other_kind, other)
            shared = [each for each in both if each is not None]
            if shared:
                yield min(shared, key=(other_kind, kind, *NEAREST).index), one, other


def _where(kind: PlacementKind | None, point: PointRecord) -> set[PlacementKind | None]:
    """Return the placements that a result holds for."""
    return {kind, *(point.result.merged if point.result is not None else ())}


def _differences(a: PointRecord, b: PointRecord, tolerance: float) -> Iterator[Difference]:
    if not a.offers_frames:
        yield from _of_outcomes(a, b, tolerance)
        return
    bracketed = _printed_range(a) is not None or _printed_range(b) is not None
    if bracketed:
        yield _between(a, b, tolerance)
    values_a, values_b = _values(a.result), _values(b.result)
    for figure in ("NDR", "PDR", "MRR", "constant"):
        a_fps, b_fps = values_a.get(figure), values_b.get(figure)
        if (a_fps is None and b_fps is None) or (bracketed and figure in ("NDR", "PDR")):
            continue
        # With grade D nothing is known of clean time: its MRR is neither gone nor new.
        if bracketed and (a_fps is None or b_fps is None):
            continue
        error = combined(uncertainty(a, figure), uncertainty(b, figure), figure)
        unjudged = Difference(a.label, figure, a_fps, b_fps, None, error, Judgement.CANNOT_TELL)
        yield _judged(unjudged, tolerance)


def _judged(found: Difference, tolerance: float) -> Difference:
    """Return the difference with its change and verdict."""
    a, b = found.a_fps, found.b_fps
    change = (b - a) / a if a and b is not None else None
    if a is None:
        verdict = Judgement.NEW
    elif change is None:
        verdict = Judgement.GONE
    else:
        verdict = judge(change, found.error, tolerance)
    return replace(found, change=change, verdict=verdict)


def _of_outcomes(a: PointRecord, b: PointRecord, tolerance: float) -> Iterator[Difference]:
    """Compare results without a search: over clean time if both have some, else over all time.

    Events are compared by type.
    """
    one, other = (None if p.result is None else p.result.outcome for p in (a, b))
    if isinstance(one, ConvergenceResult) and isinstance(other, ConvergenceResult):
        yield from event_differences(a.label, one, other, tolerance)
        return
    clean = one is None or one.clean is not None, other is None or other.clean is not None
    totals = [
        None if found is None else found.clean if all(clean) else found.total
        for found in (one, other)
    ]
    known = next((each for each in totals if each is not None), None)
    if known is None:
        return
    (value_a, error_a), (value_b, error_b) = (
        (None, None) if each is None else (each.value, each.error) for each in totals
    )
    error = combined(error_a, error_b, known.name)
    unjudged = Difference(
        a.label, known.name, value_a, value_b, None, error, Judgement.CANNOT_TELL, unit=known.unit
    )
    yield _judged(unjudged, tolerance)


def _between(a: PointRecord, b: PointRecord, tolerance: float) -> Difference:
    """Compare NDRs of which one is only a bracket: two brackets differ where they are disjoint."""
    values = _values(a.result).get("NDR"), _values(b.result).get("NDR")
    (low_a, high_a), (low_b, high_b) = _range(a), _range(b)
    change, verdict = None, Judgement.CANNOT_TELL
    if not _has_ndr(b):
        verdict = Judgement.GONE
    elif not _has_ndr(a):
        verdict = Judgement.NEW
    elif high_b < low_a:
        change = high_b / low_a - 1
        verdict = Judgement.WORSE if change < -tolerance else Judgement.WITHIN_TOLERANCE
    elif low_b > high_a:
        change = low_b / high_a - 1
        within = Judgement.BETTER_WITHIN_TOLERANCE
        verdict = Judgement.BETTER if change > tolerance else within
    ranges = _printed_range(a), _printed_range(b)
    return Difference(a.label, "NDR", *values, change, None, verdict, *ranges)


def _printed_range(point: PointRecord) -> Bracket | None:
    """Return the bracket, or an NDR that is only a lower bound; else None."""
    ndr = point.result.ndr if point.result is not None else None
    if ndr is not None and ndr.lower is not None and ndr.upper is None:
        return Bracket(ndr.lower.load_fps, None)
    return _bracket(point)


def _has_ndr(point: PointRecord) -> bool:
    return _bracket(point) is not None or "NDR" in _values(point.result)


def _range(point: PointRecord) -> tuple[float, float]:
    """Return the loads between which the NDR lies."""
    bracket = _bracket(point)
    if bracket is None:
        ndr = point.result.ndr if point.result is not None else None
        bracket = Bracket(
            lower_fps(ndr),
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


def _placement_change(a: PointRecord, b: PointRecord) -> PlacementChange | None:
    """Return the placements of both; None where they share one, or nothing is known of either."""
    met_a, met_b = _met(a), _met(b)
    if set(met_a) & set(met_b) or not (met_a or met_b):
        return None
    return PlacementChange(a.label, met_a, met_b)


def _met(point: PointRecord) -> tuple[PlacementKind, ...]:
    return tuple(kind for kind in answers_with_merged(point) if kind is not None)


def _bracket(point: PointRecord) -> Bracket | None:
    return point.result.bracket if point.result is not None else None


def _values(result: SearchResult | None) -> dict[str, float]:
    """Return the clean rates of a point, in frames/s."""
    if result is None:
        return {}
    found = {
        "NDR": lower_fps(result.ndr),
        "PDR": lower_fps(result.pdr),
        "MRR": result.mrr_fps,
        "constant": result.constant.forwarding_fps if result.constant else None,
    }
    return {figure: fps for figure, fps in found.items() if fps is not None}
