# SPDX-License-Identifier: Apache-2.0
"""Register the views of workloads without a search."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.result.result import SearchResult
from wirespeed.report.views.convergence_view import ConvergenceView
from wirespeed.report.views.sessions_view import SessionsView
from wirespeed.report.views.tcp_view import TcpView
from wirespeed.report.views.workload_view import WorkloadView
from wirespeed.store.records import PointRecord, RunRecord

VIEWS: tuple[WorkloadView, ...] = (TcpView(), SessionsView(), ConvergenceView())


def frames_of(run: RunRecord) -> tuple[PointRecord, ...]:
    """Return the points that offer frames."""
    return tuple(point for point in run.points if point.offers_frames)


def by_view(run: RunRecord) -> Iterator[tuple[WorkloadView, tuple[PointRecord, ...]]]:
    """Yield each view of the run with its points."""
    for view in VIEWS:
        if points := tuple(point for point in run.points if view.shows(point)):
            yield view, points


def view_of_point(point: PointRecord) -> WorkloadView | None:
    """Return the view of a point; None where it offers frames."""
    return next((view for view in VIEWS if view.shows(point)), None)


def view_of(result: SearchResult) -> WorkloadView:
    """Return the view of a result without a search."""
    return next(view for view in VIEWS if view.name == result.search)
