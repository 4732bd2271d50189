# SPDX-License-Identifier: Apache-2.0
"""Write a run as one JSON document (schemas/result.schema.json).

Names follow the test-case schema of FD.io CSIT where it has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from wirespeed.model.result.result import (
    AsIs,
    Bound,
    Bracket,
    Interval,
    LatencyAtLoad,
    SearchResult,
    Undisturbed,
)
from wirespeed.model.study.spec import Frames, SearchKind
from wirespeed.report.json import result_types as types
from wirespeed.report.json.trial_document import latency_us, left_out, trial_document
from wirespeed.report.json.types import Point, RunDocument, TheoreticalMax
from wirespeed.report.text.limits import explanations
from wirespeed.report.views.figures import rate
from wirespeed.report.views.thresholds import Judged
from wirespeed.report.views.workloads import view_of
from wirespeed.store.codec import encode
from wirespeed.store.records import PointRecord, RunRecord

# Raise the second number when a field is added, the first when one changes or goes.
SCHEMA_VERSION = "4.4"


def document(run: RunRecord, judged: Sequence[Judged] = ()) -> RunDocument:
    """Return the whole run; every value is a JSON type. judged: its points by thresholds."""
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            "id": run.id,
            "study": run.study,
            "title": run.title,
            "description": run.description,
            "started_at": run.started_at,
            "finished_at": run.finished_at,
            "complete": run.complete,
            "command": list(run.command),
            "resolved_study": run.resolved,
        },
        "versions": run.versions,
        "hosts": [encode(run.host)],
        "audits": None if run.audits is None else [encode(audit) for audit in run.audits],
        "points": [_point(point, run.versions) for point in run.points],
        "thresholds": [
            {
                "threshold": str(one.threshold),
                "point": one.label,
                "verdict": one.verdict,
                "found": one.found,
            }
            for one in judged
        ],
    }


def _point(point: PointRecord, versions: dict[str, str]) -> Point:
    return {
        "id": point.id,
        "label": point.label,
        "factors": list(point.factors),
        "repeat": point.repeat,
        "state": point.state,
        "error": point.error,
        "started_at": point.started_at,
        "finished_at": point.finished_at,
        "dut_type": None if point.sut is None else point.sut.kind,
        "tg_type": "wirespeed",
        "tg_version": versions.get("wirespeed"),
        "parameters": point.parameters,
        "theoretical_max": _theoretical_max(point),
        "plan": None if point.plan is None else encode(point.plan),
        "bench": point.bench,
        "result": _any_result(point),
        "explanations": [encode(explanation) for explanation in explanations(point)],
        "predicted": None if point.predicted is None else encode(point.predicted),
        "trials": [trial_document(stored) for stored in point.trials],
    }


def _theoretical_max(point: PointRecord) -> TheoreticalMax | None:
    """Return the theoretical maximum; None without frames, as virtual cables have no speed."""
    if not point.offers_frames:
        return None
    return {"rate": {"value": point.frames.line_rate_fps, "unit": "fps"}}


# Meaning of a search's rates, for programs that do not know its name.
_TYPES: Final[dict[SearchKind, Literal["ndrpdr", "mrr", "constant", "back_to_back"]]] = {
    SearchKind.RFC2544: "ndrpdr",
    SearchKind.TST009: "ndrpdr",
    SearchKind.MLR: "ndrpdr",
    SearchKind.QUICK: "ndrpdr",
    SearchKind.MRR: "mrr",
    SearchKind.FIXED: "constant",
    SearchKind.SOAK: "constant",
    SearchKind.B2B: "back_to_back",
}


def _any_result(point: PointRecord) -> types.Result | Any | None:
    result = point.result
    if result is None:
        return None
    return _of_frames(result, point.frames) if result.searched else _outcome(result)


def _outcome(result: SearchResult) -> Any:
    """Return the result of a workload without a search: a type of result_types."""
    return {
        "type": result.search,
        "search": result.search,
        "rfc2544_conformant": False,
        "not_measurable": result.not_measurable,
        "grade": result.grade,
        "because": list(result.because),
        "notes": list(result.notes),
        result.search: view_of(result).json(result),
    }


def _of_frames(result: SearchResult, spec: Frames) -> types.Result:
    search = SearchKind(result.search)
    return {
        "type": _TYPES[search],
        "search": search,
        "rfc2544_conformant": result.conformant,
        "grade": result.grade,
        "because": list(result.because),
        "limited_by": result.limited_by,
        "emulated": result.emulated,
        "not_measurable": result.not_measurable,
        "notes": list(result.notes),
        "max_load": _rate(result.max_load_fps, spec),
        "mrr": _rate(result.mrr_fps, spec),
        "mrr_relative_error": result.mrr_half_interval,
        "ndr": _interval(result.ndr, spec),
        "pdr": _interval(result.pdr, spec),
        "constant": _bound(result.constant, spec),
        "undisturbed": _undisturbed(result.undisturbed),
        "as_is": _as_is(result.as_is, spec),
        "bracket": _bracket(result.bracket, spec),
        "back_to_back": None if result.back_to_back is None else encode(result.back_to_back),
        "latency_forward": {f"pdr_{at.share * 100:g}": _latency_at(at) for at in result.latency},
        "placement": result.placement,
        "by_placement": [_of_frames(other, spec) for other in result.by_placement],
    }


def _rate(fps: float | None, spec: Frames) -> types.Rate | None:
    return None if fps is None else _known_rate(fps, spec)


def _known_rate(fps: float, spec: Frames) -> types.Rate:
    """Return CSIT's rate and bandwidth; its bandwidth is that of the wire (L1)."""
    converted = rate(fps, spec)
    return {
        "rate": {"value": fps, "unit": "fps"},
        "bandwidth": {"value": converted.l1_bps, "unit": "bps"},
        "bandwidth_l2": {"value": converted.l2_bps, "unit": "bps"},
        "line_share": converted.line_share,
    }


def _interval(interval: Interval | None, spec: Frames) -> types.Interval | None:
    if interval is None:
        return None
    return {"lower": _bound(interval.lower, spec), "upper": _bound(interval.upper, spec)}


def _bound(bound: Bound | None, spec: Frames) -> types.Bound | None:
    if bound is None:
        return None
    forwarding: types.Fps = {"value": bound.forwarding_fps, "unit": "fps"}
    rates = _known_rate(bound.load_fps, spec)
    return {**rates, "forwarding_rate": forwarding, "loss_ratio": bound.loss_ratio}


def _undisturbed(found: Undisturbed | None) -> types.Undisturbed | None:
    """Return the evidence behind the clean rates."""
    if found is None:
        return None
    encoded = encode(found)
    del encoded["load_fps"]
    own: types.Undisturbed = encoded
    return {
        **own,
        "load": {"value": found.load_fps, "unit": "fps"},
        "clean_share": found.share,
        "lossy_runs_bound": found.lossy_runs_bound,
        "left_out": left_out(found.left_out),
    }


def _as_is(found: AsIs | None, spec: Frames) -> types.AsIs | None:
    if found is None:
        return None
    return {
        "mrr": _rate(found.mrr_fps, spec),
        "load": None if found.load_fps is None else {"value": found.load_fps, "unit": "fps"},
        "loss_ratio_low": found.loss_low,
        "loss_ratio_high": found.loss_high,
        "lossless": _rate(found.lossless_fps, spec),
        "lossless_s": found.lossless_s,
    }


def _bracket(found: Bracket | None, spec: Frames) -> types.Bracket | None:
    if found is None:
        return None
    return {
        "carried": _rate(found.carried_fps, spec),
        "overloads": _rate(found.overloads_fps, spec),
    }


def _latency_at(at: LatencyAtLoad) -> types.LatencyAtLoad:
    return {
        **latency_us(at.latency),
        "load": {"value": at.load_fps, "unit": "fps"},
        "undisturbed": None if at.undisturbed is None else latency_us(at.undisturbed),
    }
