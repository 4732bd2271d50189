# SPDX-License-Identifier: Apache-2.0
"""Types of the differences between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import Bracket, Grade


class Judgement(StrEnum):
    SAME = "same"
    CANNOT_TELL = "cannot tell"
    BETTER = "better"
    BETTER_WITHIN_TOLERANCE = "better, within tolerance"
    WITHIN_TOLERANCE = "worse, within tolerance"
    WORSE = "worse"
    GONE = "no figure in B"
    NEW = "no figure in A"
    AS_IS = "not judged"
    APART = "no common placement"


class Overall(StrEnum):
    """Verdict on run B next to run A, over all judged rates."""

    WORSE = "worse"
    CANNOT_TELL = "cannot tell"
    BETTER = "better"
    SAME = "same"


_UNDECIDED = (Judgement.CANNOT_TELL, Judgement.APART)
_NOT_JUDGED = (Judgement.AS_IS, Judgement.NEW)


@dataclass(frozen=True, slots=True)
class Difference:
    """One rate or time of one point in both runs, in `unit`; None where a run has none."""

    label: str
    figure: str
    a_fps: float | None
    b_fps: float | None
    change: float | None
    """Relative to A; of disjoint brackets, the smallest possible change."""
    error: float | None
    """Half of the change's 95% interval, relative to A; None where an error of either run is
    unknown.
    """
    verdict: Judgement
    a_bracket: Bracket | None = None
    """Bracket of a point of grade D, instead of its rate."""
    b_bracket: Bracket | None = None
    """Bracket of a point of grade D, instead of its rate."""
    placement: PlacementKind | None = None
    """Placement of both rates, where a run met several."""
    unit: str = "frames/s"
    """Unit of both rates, if no search has found them."""
    lower_is_better: bool = False

    @property
    def gain(self) -> float | None:
        """Return the change, positive where B is better."""
        return -self.change if self.change is not None and self.lower_is_better else self.change


@dataclass(frozen=True, slots=True)
class PlacementChange:
    """A point without a placement that both runs met."""

    label: str
    a: tuple[PlacementKind, ...]
    """Placements met by run A; empty: unknown."""
    b: tuple[PlacementKind, ...]
    """Placements met by run B; empty: unknown."""


@dataclass(frozen=True, slots=True)
class GradeChange:
    """A point whose grades differ; None: not recorded."""

    label: str
    a: Grade | None
    b: Grade | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every rate that at least one of the runs has, and the points that only one has."""

    differences: tuple[Difference, ...]
    placements: tuple[PlacementChange, ...]
    """Points without a placement known to be common."""
    grades: tuple[GradeChange, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def worse(self) -> tuple[Difference, ...]:
        """Rates that are worse beyond tolerance and uncertainty, or missing in B."""
        return tuple(d for d in self.differences if d.verdict in (Judgement.WORSE, Judgement.GONE))

    @property
    def judged(self) -> tuple[Difference, ...]:
        """Return rates that run A has and that decide."""
        return tuple(d for d in self.differences if d.verdict not in _NOT_JUDGED)

    @property
    def better(self) -> tuple[Difference, ...]:
        """Return rates that are better beyond tolerance and uncertainty."""
        return tuple(d for d in self.differences if d.verdict is Judgement.BETTER)

    @property
    def undecided(self) -> tuple[Difference, ...]:
        """Return rates of which nobody can tell whether they differ."""
        return tuple(d for d in self.differences if d.verdict in _UNDECIDED)

    @property
    def overall(self) -> Overall:
        """Return the verdict: one worse rate decides; else one that nobody can tell does."""
        if self.worse:
            return Overall.WORSE
        if self.undecided or not self.judged:
            return Overall.CANNOT_TELL
        return Overall.BETTER if self.better else Overall.SAME
