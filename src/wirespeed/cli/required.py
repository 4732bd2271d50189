# SPDX-License-Identifier: Apache-2.0
"""Check a run's results against --require-grade and --require-placement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.cpus import PlacementKind, placement_words
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.result import Grade
from wirespeed.model.spec import Frames, Workload
from wirespeed.model.study import Study
from wirespeed.report.table import below_grade, without_figures
from wirespeed.store.records import PointRecord, RunRecord


@dataclass(frozen=True, slots=True)
class Required:
    """Requirements of every point, in addition to a rate."""

    grade: Grade | None = None
    """Lowest accepted grade; None for any."""
    placement: bool = False

    def check_study(self, study: Study) -> None:
        """Raise BadInput where a placement is required that the study does not name."""
        if self.placement and not any(_wanted(point.workload) for point in study.points):
            raise BadInput(
                f"--require-placement: study {study.name} sets no search.placement",
                "Set it, e.g. --set 'search.placement=one cache'.",
            )

    def check_run(self, record: RunRecord) -> None:
        """Raise WirespeedError where a point lacks a rate, or a requirement is not met."""
        total = len(record.points)
        if without := without_figures(record):
            raise WirespeedError(
                f"{len(without)} of {total} points have no figure: {'; '.join(without)}",
                "The report says why no trial could run or count.",
            )
        if self.grade is not None and (below := below_grade(record, self.grade)):
            raise WirespeedError(
                f"{len(below)} of {total} points are below grade {self.grade}: {'; '.join(below)}",
                "The report says what disturbed them. Isolated CPUs raise the grade (wirespeed "
                "plan).",
            )
        if self.placement and (elsewhere := list(_elsewhere(record))):
            raise WirespeedError(
                f"{len(elsewhere)} of {total} points are not of the placement that they ask for: "
                f"{'; '.join(elsewhere)}",
                "Let them wait for it longer (search.wait_for_placement), or pin the host's CPUs.",
            )


def required(grade: str | None, *, placement: bool) -> Required:
    """Raise BadInput for any grade but A, B or C: every rate has at least a D."""
    if grade not in (None, "A", "B", "C"):
        raise BadInput(f"--require-grade {grade}: must be A, B or C", "E.g. --require-grade B.")
    return Required(None if grade is None else Grade(grade), placement)


def _wanted(workload: Workload) -> PlacementKind | None:
    return workload.search.placement if isinstance(workload, Frames) else None


def _elsewhere(record: RunRecord) -> Iterator[str]:
    for point in record.points:
        wanted = _wanted(point.workload)
        if wanted is not None and point.result is not None and _placement(point) is not wanted:
            yield f"{point.label} ({placement_words(_placement(point))})"


def _placement(point: PointRecord) -> PlacementKind | None:
    return point.result.placement if point.result is not None else None
