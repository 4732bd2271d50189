# SPDX-License-Identifier: Apache-2.0
"""Announce a study before it is measured: number of points, order, estimated time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from wirespeed.model.study.form_words import design_words, quick_words
from wirespeed.model.study.study import Point, Study
from wirespeed.model.words import counted, seconds
from wirespeed.study.kinds.registry import kind_of


def announcement(study: Study, wanted: Sequence[Point]) -> Iterator[str]:
    """Yield the sentences. wanted: points still to measure that this host can run."""
    said = counted(len(wanted), "point")
    if len(wanted) != len(study.points):
        said += f" of {len(study.points)}"
    yield f"{said} to measure, about {seconds(estimate_s(wanted))}."
    yield from design_words(study.form)
    yield from quick_words(study.form, study.left_out)


def estimate_s(points: Iterable[Point]) -> float:
    """Return the estimated time for these points, in seconds."""
    return sum(kind_of(point.workload).estimate_s for point in points)
