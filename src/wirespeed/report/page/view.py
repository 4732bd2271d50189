# SPDX-License-Identifier: Apache-2.0
"""Collect what the HTML report shows of one point and of one trial."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from wirespeed.explain.loss import first_loss
from wirespeed.explain.resources import resources
from wirespeed.explain.trial import Outcome, Standing, outcome, standing
from wirespeed.model.result.counted_time import CountedTime, counted_time
from wirespeed.model.result.explanation import Explanation, ResourceUse
from wirespeed.model.result.trial import Trial
from wirespeed.report.charts.path_svg import path_svg
from wirespeed.report.charts.search import search_chart
from wirespeed.report.charts.svg import search_svg
from wirespeed.report.charts.timeline import timeline_chart
from wirespeed.report.charts.timeline_svg import timeline_svg
from wirespeed.report.text.explained import seen_in
from wirespeed.report.text.limits import explanations, remarks
from wirespeed.report.text.path import PathView, path_view
from wirespeed.report.text.sentence import point_sentences
from wirespeed.report.views.figures import PointFigures, figures_by_placement, point_figures
from wirespeed.store.codec import encode
from wirespeed.store.records import PointRecord, RunRecord


@dataclass(frozen=True, slots=True)
class TrialView:
    """One trial as a row: as a whole, and over the counted time."""

    trial: Trial
    standing: Standing
    outcome: Outcome
    counted: CountedTime | None

    @classmethod
    def of(cls, trial: Trial, pdr_loss: float) -> TrialView:
        return cls(trial, standing(trial), outcome(trial, pdr_loss), counted_time(trial))

    @property
    def because(self) -> str:
        """Return its noise, or why nothing of it counts."""
        return self.trial.fault or self.trial.disturbed or ""


@dataclass(frozen=True, slots=True)
class PointView:
    """One point as the template shows it."""

    figures: PointFigures
    by_placement: tuple[PointFigures, ...]
    found: tuple[str, ...]
    explanations: tuple[Explanation, ...]
    resources: tuple[ResourceUse, ...]
    remarks: tuple[str, ...]
    search: Markup | None
    timeline: Markup | None
    deciding: int
    first_loss: Trial | None
    path: PathView | None
    path_drawing: Markup | None
    decisions: tuple[tuple[str, str, str], ...]

    @property
    def record(self) -> PointRecord:
        return self.figures.point

    @property
    def quiet(self) -> int:
        """Number of trials without noise."""
        return sum(stored.trial.quiet for stored in self.record.trials)

    @property
    def trials(self) -> list[TrialView]:
        pdr_loss = self.record.frames.search.pdr_loss
        return [TrialView.of(stored.trial, pdr_loss) for stored in self.record.trials]


def point_view(run: RunRecord, point: PointRecord) -> PointView:
    """Return the point with all its drawings."""
    limits, seen = explanations(point), seen_in(run, point)
    search, timeline = search_chart(point), timeline_chart(point)
    path = path_view(point)
    return PointView(
        point_figures(point),
        tuple(figures_by_placement(point)),
        point_sentences(point),
        limits,
        resources(seen, limits) if seen is not None else (),
        remarks(point),
        Markup(search_svg(search)) if search else None,  # noqa: S704
        Markup(timeline_svg(timeline)) if timeline else None,  # noqa: S704
        timeline.number if timeline else 0,
        _first_loss(point),
        path,
        Markup(path_svg(path)) if path else None,  # noqa: S704
        tuple(_decisions(encode(point.plan), "")) if point.plan else (),
    )


def _first_loss(point: PointRecord) -> Trial | None:
    found = first_loss([stored.trial for stored in point.trials], point.result)
    return None if found is None else found[1]


def _decisions(plan: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield every decision of a plan: what, value, because."""
    if isinstance(plan, dict) and set(plan) == {"value", "because"}:
        value = plan["value"]
        shown = json.dumps(value) if isinstance(value, list | dict) else str(value)
        yield path, shown, plan["because"]
    elif isinstance(plan, dict):
        for key, inner in plan.items():
            yield from _decisions(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(plan, list):
        for index, inner in enumerate(plan):
            name = inner.get("name", inner.get("host", index)) if isinstance(inner, dict) else index
            yield from _decisions(inner, f"{path}[{name}]")
