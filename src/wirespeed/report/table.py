# SPDX-License-Identifier: Apache-2.0
"""What is the results table of a run: on a terminal, and as CSV?"""

from __future__ import annotations

import csv
import io

from rich.table import Table

from wirespeed.model.result import LatencyAtLoad
from wirespeed.report.figures import PointFigures, Rate, point_figures
from wirespeed.report.tcp import CSV_FIELDS, csv_fields, split
from wirespeed.report.text import NONE, gbps, microseconds, mpps, percent
from wirespeed.store.records import PointRecord, RunRecord


def terminal_table(run: RunRecord) -> Table:
    """One row a point: NDR, PDR and MRR in Mpps, NDR on the wire, latency at half the PDR."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("point")
    for heading in ("NDR Mpps", "PDR Mpps", "MRR Mpps", "Gbps L1", "% of line", "p50/p99 us"):
        table.add_column(heading, justify="right")
    for point in split(run)[0]:
        table.add_row(point.label, *_cells(point_figures(point)))
    return table


def missing_figures(run: RunRecord) -> tuple[str, ...]:
    """One sentence for each point whose figures are not all there: why."""
    without = (f for f in map(point_figures, split(run)[0]) if f.best is None or f.reason)
    return tuple(f"{f.point.label}: {_why(f)}" for f in without)


def _why(figures: PointFigures) -> str:
    reason = figures.reason or "the search found no figure"
    return f"not measurable: {reason}" if figures.point.result is not None else reason


def _cells(figures: PointFigures) -> list[str]:
    best = figures.best
    if best is None:
        return [NONE] * 6
    rates = [_mpps(rate) for rate in (figures.ndr, figures.pdr, figures.mrr or figures.constant)]
    return [*rates, gbps(best.l1_bps), percent(best.line_share), _latency(figures.point)]


def _mpps(rate: Rate | None) -> str:
    return mpps(None if rate is None else rate.fps)


def latency_at(point: PointRecord, share: float) -> LatencyAtLoad | None:
    """The latency measured at that share of the PDR, if it was."""
    found = point.result.latency if point.result is not None else ()
    return next((at for at in found if abs(at.share - share) < 1e-9), None)


def _latency(point: PointRecord) -> str:
    at = latency_at(point, 0.5)
    if at is None:
        return NONE
    return f"{microseconds(at.latency.p50_ns)}/{microseconds(at.latency.p99_ns)}"


_CSV_COLUMNS = (
    "point_id", "label", "topology", "frame", "state", "rfc2544_conformant", "ndr_fps", "pdr_fps",
    "mrr_fps", "constant_fps", "ndr_upper_fps", "pdr_upper_fps", "theoretical_max_fps",
    "best_l1_bps", "best_l2_bps", "best_line_share", "latency_pdr50_p50_us", "latency_pdr50_p99_us",
    "trials", "invalid_trials", "limited_by", "not_measurable", *CSV_FIELDS,
)  # fmt: skip


def csv_text(run: RunRecord) -> str:
    """One line a point. An empty field means that the figure does not exist."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for point in run.points:
        writer.writerow(_csv_row(point))
    return out.getvalue()


def _csv_row(point: PointRecord) -> dict[str, object]:
    figures, result = point_figures(point), point.result
    best, at = figures.best, latency_at(point, 0.5)
    of_frames = point.spec.tcp is None
    ndr = result.ndr if result else None
    pdr = result.pdr if result else None
    return {
        "point_id": point.id,
        "label": point.label,
        "topology": point.spec.topology.kind if of_frames else "tcp",
        "frame": point.spec.traffic.frame.text if of_frames else None,
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
        "invalid_trials": sum(not stored.trial.valid for stored in point.trials),
        "limited_by": result and result.limited_by,
        "not_measurable": figures.reason,
        **csv_fields(point),
    }
