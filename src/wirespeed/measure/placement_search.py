# SPDX-License-Identifier: Apache-2.0
"""Run the search of each placement that a point meets, and choose which comes first."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from wirespeed.measure.interface import Placer
from wirespeed.measure.journal import MOVES_IN_A_ROW, Journal, Moved
from wirespeed.model.cpus import NEAREST, Placed, PlacementKind, placement_words, worst
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.words import seconds

LOOK_EVERY_S: Final = 1.0
"""Interval at which a point that waits for a placement probes it, in s."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The placement whose rates come first, and how long the point waits for it, in s."""

    kind: PlacementKind | None = None
    """None for the nearest placement with a rate of grade C or better."""
    wait_s: float = 0.0
    place: Placer | None = None

    def await_in(self, journal: Journal) -> Placed | None:
        """Wait until the CPUs are placed as wanted, and return how.

        None where they were not in time, or the placement is unknown.
        """
        if self.kind is None or self.place is None or not self.wait_s:
            return None
        after_s = 0.0
        while journal.waited_s + after_s <= self.wait_s:
            at = self.place(after_s)
            journal.waited_s += after_s
            if at is None or at.kind is self.kind:
                return None if at is None else at.placed
            after_s = LOOK_EVERY_S
        return None


def by_placement(
    journal: Journal, attempt: Callable[[], SearchResult], wanted: Wanted
) -> SearchResult:
    """Run attempt() until the search of one placement ends; the CPUs may move in between.

    Raises whatever attempt() raises but Moved.
    """
    wanted.await_in(journal)
    result: SearchResult | None = None
    while result is None:
        try:
            result = attempt()
        except Moved as moved:
            journal.start(_next(journal, wanted, moved.placed))
    found = {journal.placed: result}
    journal.frozen = True
    for placed in journal.met:
        if placed not in found:
            journal.start(placed)
            found[placed] = attempt()
    answers = [
        answer if placed is None else answer.of_placement(placed)
        for placed, answer in found.items()
    ]
    first = min(answers, key=lambda answer: order(answer, wanted.kind))
    others = [answer for answer in answers if answer is not first and answer.grade is not None]
    merged = [other for other in others if _same(first, other)]
    kinds = dict.fromkeys(other.placement for other in merged)
    notes = [*first.notes, *_missed(first, wanted, journal.waited_s)]
    notes += dict.fromkeys(_merged(other) for other in merged)
    if journal.restless:
        notes.append(RESTLESS)
    return replace(
        first,
        trials=tuple(journal.trials),
        by_placement=tuple(replace(o, trials=(), as_is=None) for o in others if o not in merged),
        merged=tuple(kind for kind in kinds if kind not in (None, first.placement)),
        notes=tuple(notes),
    )


RESTLESS: Final = (
    f"the CPUs moved in each of {MOVES_IN_A_ROW} trials in a row: no search came to its end"
)


def _next(journal: Journal, wanted: Wanted, placed: Placed) -> Placed:
    """Return the placement whose search goes on after a move."""
    if worst(placed) is wanted.kind:
        return placed
    return wanted.await_in(journal) or placed


def order(answer: SearchResult, wanted: PlacementKind | None) -> tuple[bool, bool, bool, bool, int]:
    """Return a sort key: results with a rate first, then the wanted placement, then better ones.

    Better is grade C or above that is no mere lower bound, then the grade, then the nearest CPUs.
    """
    rank = NEAREST.index(answer.placement) if answer.placement is not None else len(NEAREST)
    graded = answer.grade is not None and answer.grade <= Grade.C
    unwanted = wanted is not None and answer.placement is not wanted
    mere = not graded or _only_at_least(answer)
    return answer.grade is None, unwanted, mere, not graded, rank


def _only_at_least(answer: SearchResult) -> bool:
    """Return whether the rate is a lower bound, as the search ended before a load failed."""
    interval = answer.ndr or answer.pdr
    return interval is not None and interval.upper is None and answer.limited_by is None


def _same(a: SearchResult, b: SearchResult) -> bool:
    """Return whether the ratio of the placements' rates has its 95% interval within 1 +- width."""
    if not a.mrr_fps or not b.mrr_fps or a.undisturbed is None or b.undisturbed is None:
        return False
    if a.mrr_half_interval is None or b.mrr_half_interval is None:
        return False
    error = math.hypot(a.mrr_half_interval, b.mrr_half_interval)
    return abs(b.mrr_fps / a.mrr_fps - 1) + error <= max(a.undisturbed.width, b.undisturbed.width)


def _merged(other: SearchResult) -> str:
    assert other.placement is not None
    words = placement_words(other.placement)
    return f"with {words} the rates are the same: the placements are merged"


def _missed(first: SearchResult, wanted: Wanted, waited_s: float) -> list[str]:
    """Return a note that the wanted placement did not come."""
    if wanted.kind is None or first.placement is wanted.kind:
        return []
    missed = f"no rate with {placement_words(wanted.kind)}, which search.placement asks for"
    if waited_s:
        missed += f", after a wait of {seconds(waited_s)}"
    return [f"{missed}; the figures are of: {placement_words(first.placement)}"]
