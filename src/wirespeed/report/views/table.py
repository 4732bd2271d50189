# SPDX-License-Identifier: Apache-2.0
"""Write the results of a run as CSV, and name the points that lack a rate."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from wirespeed.model.result.result import LatencyAtLoad
from wirespeed.report.views.figures import PointFigures, figures_by_placement, point_figures
from wirespeed.report.views.tcp import CSV_FIELDS, csv_fields
from wirespeed.store.records import PointRecord, PointState, RunRecord


def without_figures(run: RunRecord) -> tuple[str, ...]:
    """Return the labels of points that lack an expected rate; their sentences say why."""
    return tuple(point.label for point in _wanted(run) if not _has_figure(point))


def _wanted(run: RunRecord) -> Iterator[PointRecord]:
    """Yield the points that the study wants from this host."""
    return (point for point in run.points if point.state is not PointState.NOT_RUN)


def _has_figure(point: PointRecord) -> bool:
    result = point.result
    if result is None:
        return False
    other = result.tcp is not None or result.back_to_back is not None
    return other or point_figures(point).best is not None


def latency_at(point: PointRecord, share: float) -> LatencyAtLoad | None:
    """Return the latency at that share of the PDR; None where it was not measured."""
    return None if point.result is None else point.result.latency_at(share)


_CSV_COLUMNS = (
    "point_id", "label", "placement", "topology_kind", "frame", "state", "rfc2544_conformant",
    "ndr_fps", "pdr_fps", "mrr_fps", "constant_fps", "ndr_upper_fps", "pdr_upper_fps",
    "theoretical_max_fps",
    "best_l1_bps", "best_l2_bps", "best_line_share", "latency_pdr50_p50_us", "latency_pdr50_p99_us",
    "trials", "quiet_trials", "grade", "undisturbed_share", "undisturbed_windows",
    "bracket_carried_fps", "bracket_overloads_fps", "as_is_mrr_fps", "as_is_loss_low",
    "as_is_loss_high",
    "as_is_lossless_fps", "as_is_lossless_s", "latency_pdr50_undisturbed_p50_us",
    "latency_pdr50_undisturbed_p99_us", "limited_by", "emulated", "not_measurable", *CSV_FIELDS,
)  # fmt: skip


def csv_text(run: RunRecord) -> str:
    """Return one line for each point, then one for each other placement of its polling CPUs.

    An empty field means that the rate does not exist. An NDR or PDR without an upper end is a lower
    bound: no load above it failed.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, _CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for point in run.points:
        for figures in figures_by_placement(point):
            writer.writerow(_csv_row(figures))
    return out.getvalue()


def _csv_row(figures: PointFigures) -> dict[str, object]:
    point = figures.point
    result = point.result
    best, at = figures.best, latency_at(point, 0.5)
    clean = at and at.undisturbed
    of_frames = point.tcp is None
    ndr = result.ndr if result else None
    pdr = result.pdr if result else None
    return {
        "point_id": point.id,
        "label": point.label,
        "placement": result and result.placement,
        "topology_kind": point.frames.topology.kind if of_frames else None,
        "frame": point.frames.traffic.frame.text if of_frames else None,
        "state": point.state,
        "rfc2544_conformant": str(figures.conformant).lower(),
        "ndr_fps": figures.ndr and figures.ndr.fps,
        "pdr_fps": figures.pdr and figures.pdr.fps,
        "mrr_fps": figures.mrr and figures.mrr.fps,
        "constant_fps": figures.constant and figures.constant.fps,
        "ndr_upper_fps": ndr and ndr.upper and ndr.upper.load_fps,
        "pdr_upper_fps": pdr and pdr.upper and pdr.upper.load_fps,
        "theoretical_max_fps": figures.maximum_fps if of_frames else None,
        "best_l1_bps": best and best.l1_bps,
        "best_l2_bps": best and best.l2_bps,
        "best_line_share": best and best.line_share,
        "latency_pdr50_p50_us": at and at.latency.p50_ns / 1e3,
        "latency_pdr50_p99_us": at and at.latency.p99_ns / 1e3,
        "trials": len(point.trials),
        "quiet_trials": sum(stored.trial.quiet for stored in point.trials),
        **_grade_fields(figures),
        "latency_pdr50_undisturbed_p50_us": clean and clean.p50_ns / 1e3,
        "latency_pdr50_undisturbed_p99_us": clean and clean.p99_ns / 1e3,
        "limited_by": result and result.limited_by,
        "emulated": result and result.emulated,
        "not_measurable": figures.reason,
        **csv_fields(point),
    }


def _grade_fields(figures: PointFigures) -> dict[str, object]:
    """Return the grade, its evidence, and the rates over all time."""
    basis, bracket, as_is = figures.undisturbed, figures.bracket, figures.as_is
    return {
        "grade": figures.grade,
        "undisturbed_share": basis and basis.share,
        "undisturbed_windows": basis and basis.windows,
        "bracket_carried_fps": bracket and bracket.carried_fps,
        "bracket_overloads_fps": bracket and bracket.overloads_fps,
        "as_is_mrr_fps": as_is and as_is.mrr_fps,
        "as_is_loss_low": as_is and as_is.loss_low,
        "as_is_loss_high": as_is and as_is.loss_high,
        "as_is_lossless_fps": as_is and as_is.lossless_fps,
        "as_is_lossless_s": as_is and as_is.lossless_s,
    }
