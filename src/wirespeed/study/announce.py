# SPDX-License-Identifier: Apache-2.0
"""What is said of a study before it is measured: how many points, in which order, how long?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirespeed.model.form_words import design_words, quick_words
from wirespeed.model.study import Point, Study
from wirespeed.model.words import counted, seconds
from wirespeed.study.estimate import estimate_s


def announcement(study: Study, wanted: Sequence[Point]) -> Iterator[str]:
    """Sentences. wanted: the points that are still to be measured and can be here."""
    said = counted(len(wanted), "point")
    if len(wanted) != len(study.points):
        said += f" of {len(study.points)}"
    yield f"{said} to measure, about {seconds(estimate_s(wanted))}."
    yield from design_words(study.form)
    yield from quick_words(study.form, study.left_out)
