# SPDX-License-Identifier: Apache-2.0
"""Name the points that lack a rate, and read their latency."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.result.result import LatencyAtLoad
from wirespeed.report.views.figures import point_figures
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
    other = result.outcome is not None or result.back_to_back is not None
    return other or point_figures(point).best is not None


def latency_at(point: PointRecord, share: float) -> LatencyAtLoad | None:
    """Return the latency at that share of the PDR; None where it was not measured."""
    return None if point.result is None else point.result.latency_at(share)
