# SPDX-License-Identifier: Apache-2.0
"""View points whose router converged after events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from wirespeed.model.result.convergence import ConvergenceRun
from wirespeed.model.result.result import CONVERGENCE, SearchResult
from wirespeed.model.study.spec import RouterConvergence
from wirespeed.model.study.sut import SutDescription
from wirespeed.report.views.column import Column
from wirespeed.report.views.convergence_columns import (
    CSV,
    TABLE,
    convergence_result,
    spread_words,
)
from wirespeed.report.views.figures import PointFigures, point_figures
from wirespeed.store.codec import encode
from wirespeed.store.records import PointRecord


class Phases(NamedTuple):
    """Bar of an event: its two phases, as shares of the longest bar of a point."""

    event: str
    protocol_ms: float
    forwarding_ms: float
    protocol: float
    forwarding: float


@dataclass(frozen=True, slots=True)
class ConvergenceView:
    """A WorkloadView."""

    name: str = CONVERGENCE
    title: str = "Convergence"
    measured: str = "unreachable prefixes"
    verdict_note: str = (
        "Of convergence: the longer of two phases, before and after the kernel's notification."
    )
    about: str = (
        "Over all tracked prefixes, at a constant rate; median over the runs, the largest of "
        "maxima and counts. Blackout: time in which no frame to a prefix arrived. Blocked: lost "
        "frames over the rate; 2 x lost / rate is the time to reroute all prefixes, if one follows "
        "the other. Protocol: from the event to the kernel's notification of a prefix; forwarding: "
        "from there to its first frame by the new path; rerouted: both."
    )
    template: str = "convergence.html.j2"
    csv_columns: tuple[Column, ...] = CSV
    table_columns: tuple[Column, ...] = TABLE

    def shows(self, point: PointRecord) -> bool:
        return isinstance(point.workload, RouterConvergence)

    def rows(self, point: PointRecord) -> tuple[PointFigures, ...]:
        """Return a row for each type of event."""
        result, figures = convergence_result(point), point_figures(point)
        parts = 0 if result is None else len(result.figures)
        return tuple(replace(figures, part=part) for part in range(parts))

    def phases(self, point: PointRecord) -> list[Phases]:
        """Return the bars of a point's events."""
        result = convergence_result(point)
        known = [
            (figure.event, max(0.0, figure.protocol.p50_ms), max(0.0, figure.forwarding.p50_ms))
            for figure in (() if result is None else result.figures)
            if figure.protocol is not None and figure.forwarding is not None
        ]
        longest = max((one + two for _, one, two in known), default=0.0) or 1.0
        return [Phases(e, one, two, one / longest, two / longest) for e, one, two in known]

    def slowest(self, point: PointRecord) -> list[ConvergenceRun]:
        """Return the run with the longest blackout of each type of event that lost frames."""
        result = convergence_result(point)
        worst: dict[str, ConvergenceRun] = {}
        for run in () if result is None else result.runs:
            known = worst.get(run.event)
            if run.slowest and (known is None or run.blackout.max_ms > known.blackout.max_ms):
                worst[run.event] = run
        return list(worst.values())

    def json(self, result: SearchResult) -> dict[str, Any] | None:
        if result.convergence is None:
            return None
        encoded: dict[str, Any] = encode(result.convergence)
        return encoded

    def rates(self, result: SearchResult) -> str:
        figures = () if result.convergence is None else result.convergence.figures
        return "; ".join(
            f"{figure.event}: blackout p50 / p99 {spread_words(figure.blackout)} ms, "
            f"{figure.lost:,} frames lost"
            for figure in figures
        )

    def remarks(
        self,
        result: SearchResult,
        sut: SutDescription | None,  # noqa: ARG002
    ) -> Iterator[str]:
        if result.not_measurable is not None:
            yield f"Not measurable: {result.not_measurable}."
        if (found := result.convergence) is not None:
            interval_ms = max(run.interval_ms for run in found.runs)
            yield (
                f"Each prefix got a frame every {interval_ms:.1f} ms: times are as exact as that, "
                "and a shorter hole may lose no frame."
            )
            for figure in found.figures:
                if figure.outliers:
                    yield (
                        f"After {figure.event}, {figure.outliers:,} prefixes were unreachable for "
                        "much longer than the others; see the slowest."
                    )
                if figure.unreachable:
                    yield (
                        f"After {figure.event}, {figure.unreachable:,} prefixes were unreachable "
                        "until the traffic ended; set convergence.watch_s higher."
                    )
        yield from (f"{note[:1].upper()}{note[1:]}." for note in result.notes)

    def group(self, point: PointRecord) -> str:  # noqa: ARG002
        return self.title

    def limits(self, result: SearchResult) -> tuple[str, ...]:
        found = result.convergence
        figures = () if found is None else found.figures
        return tuple(figure.limited_by.replace("_", " ") for figure in figures)

    def facts(self, result: SearchResult) -> tuple[str, ...]:
        if result.convergence is None:
            return ()
        worst = max(result.convergence.figures, key=lambda figure: figure.blackout.p99_ms)
        return (f"after {worst.event}",)
