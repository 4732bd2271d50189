# SPDX-License-Identifier: Apache-2.0
"""Run the search of each placement that a point meets, and choose the one that comes first."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from wirespeed.measure.journal import MOVES_IN_A_ROW, Journal, Moved
from wirespeed.model.cpus import NEAREST, PLACEMENT_WORDS, PlacementKind
from wirespeed.model.result import Grade, SearchResult


def by_placement(
    journal: Journal, attempt: Callable[[], SearchResult], wanted: PlacementKind | None
) -> SearchResult:
    """Run attempt() until the search of one placement ends; the CPUs may move in between.

    wanted: the placement whose figures come first; None: the nearest with grade C or better.
    Raises whatever attempt() raises but Moved.
    """
    found: dict[PlacementKind | None, SearchResult] = {}
    while not found:
        try:
            found[journal.kind] = attempt()
        except Moved as moved:
            journal.start(moved.kind)
            journal.frozen = journal.moves >= MOVES_IN_A_ROW
    found = {journal.kind: next(iter(found.values()))}
    restless, journal.frozen = journal.frozen, True
    for kind in journal.kinds:
        if kind not in found:
            journal.start(kind)
            found[kind] = attempt()
    placed = [replace(result, placement=kind) for kind, result in found.items()]
    first = min(placed, key=lambda result: _order(result, wanted))
    others = tuple(result for result in placed if result is not first)
    notes = (*first.notes, *_notes(first, others, wanted, restless=restless))
    merged = [one for one in others if _same(first, one)]
    return replace(
        first,
        trials=tuple(journal.trials) if others else first.trials,
        by_placement=tuple(replace(o, trials=()) for o in others if o not in merged),
        notes=notes,
    )


def _order(result: SearchResult, wanted: PlacementKind | None) -> tuple[bool, bool, int]:
    rank = NEAREST.index(result.placement) if result.placement is not None else len(NEAREST)
    graded = result.grade is not None and result.grade <= Grade.C
    return wanted is not None and result.placement is not wanted, not graded, rank


def _same(a: SearchResult, b: SearchResult) -> bool:
    """Whether the placements make no difference: the ratio's 95% interval is within 1 +- width."""
    if not a.mrr_fps or not b.mrr_fps or a.undisturbed is None or b.undisturbed is None:
        return False
    if a.mrr_half_interval is None or b.mrr_half_interval is None:
        return False
    error = math.hypot(a.mrr_half_interval, b.mrr_half_interval)
    return abs(b.mrr_fps / a.mrr_fps - 1) + error <= max(a.undisturbed.width, b.undisturbed.width)


def _notes(
    first: SearchResult,
    others: tuple[SearchResult, ...],
    wanted: PlacementKind | None,
    *,
    restless: bool,
) -> list[str]:
    notes = []
    if wanted is not None and first.placement not in (wanted, None):
        notes.append(f"no trial ran with {PLACEMENT_WORDS[wanted]}")
    for other in others:
        if other.placement is not None and _same(first, other):
            words = PLACEMENT_WORDS[other.placement]
            notes.append(f"with {words} the figures are the same: the placements are merged")
    if restless:
        notes.append(
            f"the CPUs moved in each of {MOVES_IN_A_ROW} trials in a row: no search came to its end"
        )
    return notes
