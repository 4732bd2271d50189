# SPDX-License-Identifier: Apache-2.0
"""Types of the differences between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result import Bracket, Grade


class Judgement(StrEnum):
    SAME = "same"
    CANNOT_TELL = "cannot tell"
    BETTER = "better"
    BETTER_WITHIN_TOLERANCE = "better, within tolerance"
    WITHIN_TOLERANCE = "worse, within tolerance"
    OVERLAP = "brackets overlap"
    WORSE = "worse"
    GONE = "no figure in B"
    NEW = "no figure in A"
    AS_IS = "not judged"
    APART = "no common placement"


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of one point in both runs, in frames/s; None where a run has no figure.

    a_bracket, b_bracket: of a point of grade D, instead of its figure. change: relative to A; of
    brackets that do not overlap, the least that it can be. error: half of the change's 95%
    interval, relative to A; None where an error of either run is not known. placement: of both
    figures, where a run met several.
    """

    label: str
    figure: str
    a_fps: float | None
    b_fps: float | None
    change: float | None
    error: float | None
    verdict: Judgement
    a_bracket: Bracket | None = None
    b_bracket: Bracket | None = None
    placement: PlacementKind | None = None


@dataclass(frozen=True, slots=True)
class PlacementChange:
    """A point without a placement that both runs met. a, b: those met; empty: not known."""

    label: str
    a: tuple[PlacementKind, ...]
    b: tuple[PlacementKind, ...]


@dataclass(frozen=True, slots=True)
class GradeChange:
    """A point whose grades differ; None: not recorded."""

    label: str
    a: Grade | None
    b: Grade | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every figure that at least one of the runs has, and the points that only one has.

    placements: points without a placement that is known to be common.
    """

    differences: tuple[Difference, ...]
    placements: tuple[PlacementChange, ...]
    grades: tuple[GradeChange, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def worse(self) -> tuple[Difference, ...]:
        """Figures that are worse beyond tolerance and uncertainty, or missing in B."""
        return tuple(d for d in self.differences if d.verdict in (Judgement.WORSE, Judgement.GONE))
