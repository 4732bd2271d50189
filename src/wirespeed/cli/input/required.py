# SPDX-License-Identifier: Apache-2.0
"""Hold a run's results to --threshold, --require-grade and --require-placement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirespeed.cli.typed import typed
from wirespeed.model.cpus import PlacementKind, placement_words
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.result.result import Grade
from wirespeed.model.study.spec import Workload
from wirespeed.model.study.study import Study
from wirespeed.report.text.threshold_text import check_labels, read_thresholds
from wirespeed.report.views.table import without_figures
from wirespeed.report.views.thresholds import EVERY_POINT, Judged, Metric, Threshold, unmet
from wirespeed.store.records import PointRecord, RunRecord


@dataclass(frozen=True, slots=True)
class Required:
    """Requirements of points, in addition to a rate."""

    thresholds: tuple[Threshold, ...] = ()
    placement: bool = False

    def check_study(self, study: Study) -> None:
        """Raise BadInput for a threshold or a placement that no point of the study can have."""
        check_labels(self.thresholds, [p.label for p in study.points], f"study {study.name}")
        if self.placement and not any(_wanted(point.workload) for point in study.points):
            raise BadInput(
                f"--require-placement: study {study.name} sets no search.placement",
                "Set it, e.g. --set 'search.placement=one cache'.",
            )

    def check_run(
        self, record: RunRecord, judged: Sequence[Judged], store: str | None = None
    ) -> None:
        """Raise WirespeedError where a point has no rate, or not what is required.

        judged: the run's points by these thresholds. store: as --store named it.
        """
        total = len(record.points)
        if without := without_figures(record):
            raise WirespeedError(
                f"{len(without)} of {total} points have no rate: {'; '.join(without)}",
                "The report says why no trial could run or count.",
            )
        check_met(record, judged, store)
        if self.placement and (elsewhere := list(_elsewhere(record))):
            raise WirespeedError(
                f"{len(elsewhere)} of {total} points are not of the placement that they ask for: "
                f"{'; '.join(elsewhere)}",
                "Let them wait for it longer (search.wait_for_placement), or pin the host's CPUs.",
            )


def check_met(record: RunRecord, judged: Sequence[Judged], store: str | None = None) -> None:
    """Raise WirespeedError where a threshold is not met. store: as --store named it."""
    if failed := unmet(judged):
        raise WirespeedError(
            f"{len(failed)} of {len(judged)} thresholds are not met: {'; '.join(map(str, failed))}",
            f"What limits these points: {typed('explain', record.id, store=store)}",
        )


def required(thresholds: Sequence[str], grade: str | None, *, placement: bool) -> Required:
    """Read what the options ask for. Raise BadInput.

    grade: A, B or C; every rate has at least a D.
    """
    if grade not in (None, "A", "B", "C"):
        raise BadInput(f"--require-grade {grade}: must be A, B or C", "E.g. --require-grade B.")
    asked = read_thresholds(thresholds)
    if grade is not None:
        best = Threshold(EVERY_POINT, Metric.GRADE, ">=", Grade(grade), f"grade >= {grade}")
        asked = (*asked, best)
    return Required(asked, placement)


def _wanted(workload: Workload) -> PlacementKind | None:
    frames = workload.frames
    return None if frames is None else frames.search.placement


def _elsewhere(record: RunRecord) -> Iterator[str]:
    for point in record.points:
        wanted = _wanted(point.workload)
        if wanted is not None and point.result is not None and _placement(point) is not wanted:
            yield f"{point.label} ({placement_words(_placement(point))})"


def _placement(point: PointRecord) -> PlacementKind | None:
    return point.result.placement if point.result is not None else None
