# SPDX-License-Identifier: Apache-2.0
"""Choose the next point of a study, so that each CPU placement is used while it lasts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from wirespeed.experiment.order import Planned, next_in_placement
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.design import Order
from wirespeed.model.study.study import Point, Study
from wirespeed.study.expand import point_id


@dataclass(slots=True)
class Upcoming:
    """Remaining points in the planned order. The run stores when each of them began."""

    left: list[Point]
    one_block: bool
    """Any point may come before any other."""
    _found: dict[PlacementKind, Counter[str]] = field(default_factory=dict)
    _now: PlacementKind | None = None

    @classmethod
    def of(cls, study: Study, done: Mapping[str, Iterable[PlacementKind]]) -> Upcoming:
        """Return the remaining points. done: placements of the complete points, by key."""
        points = study.in_order
        left = [point for point in points if point.key not in done]
        upcoming = cls(left, study.form.design.order is Order.RANDOM)
        for point in points:
            upcoming._count(point, done.get(point.key, ()))
        return upcoming

    def take(self) -> Point:
        """Remove and return the next point."""
        planned = [Planned(_sample(p), 0 if self.one_block else p.repeat) for p in self.left]
        return self.left.pop(next_in_placement(planned, self._found, self._now))

    def add(self, point: Point, result: SearchResult) -> None:
        """Count the point's placements, and record the CPU placement in its last trial."""
        self._count(point, result.placements)
        last = result.trials[-1].observation.placement if result.trials else None
        self._now = None if last is None else last[1].kind

    def _count(self, point: Point, placements: Iterable[PlacementKind]) -> None:
        for placement in placements:
            self._found.setdefault(placement, Counter())[_sample(point)] += 1


def _sample(point: Point) -> str:
    """Return a key that is equal for equal parameters.

    Points that try a change have IDs of their own, so the ID does not serve.
    """
    return point_id(point.parameters)
