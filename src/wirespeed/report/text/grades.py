# SPDX-License-Identifier: Apache-2.0
"""Say in words how sure a rate is, and what would make it surer."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.store.records import RunRecord

MEANING = {
    Grade.A: "quiet: no noise in the trials that decide, so whole trials count",
    Grade.B: "most of the time was clean; the rest was excluded",
    Grade.C: "little of the time was clean; the rest was excluded",
    Grade.D: "a bracket: what was carried without loss, and what is too much",
}

BETTER_GRADE = (
    "For a better grade: isolate the polling CPUs, keep the other thread of their cores idle, "
    "and pin a guest's CPUs to whole cores; `wirespeed plan` writes these settings."
)


def grade_words(result: SearchResult) -> str:
    """Return the grade as in "grade C"; rates of old runs have none."""
    return f"grade {result.grade}" if result.grade is not None else "grade not recorded"


def because(result: SearchResult) -> Iterator[str]:
    """Yield what keeps the point from a better grade."""
    if result.grade not in (None, Grade.A):
        reasons = "; ".join(reason.rstrip(".") for reason in result.because)
        yield f"Grade {result.grade}: {reasons or MEANING[result.grade]}."


def could_be_better(run: RunRecord) -> bool:
    """Return whether a point of the run has a grade below A."""
    return any(point.result and point.result.grade not in (None, Grade.A) for point in run.points)
