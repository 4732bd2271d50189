# SPDX-License-Identifier: Apache-2.0
"""Read the results of a stored point by CPU placement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.store.records import PointRecord


def answers(point: PointRecord) -> Mapping[PlacementKind | None, SearchResult]:
    """Return the result of each placement, the headline first; none of a point without result.

    Where several sets of more than two CPUs have one placement, the first counts. None stands for
    an unknown placement. A result that an older version did not store is that of all trials, where
    all have the same placement.
    """
    result = point.result
    if result is None:
        return {}
    placement = result.placement or _of_trials(point)
    found = {placement: result}
    for one in result.by_placement:
        found.setdefault(one.placement, one)
    return found


def answers_with_merged(point: PointRecord) -> Mapping[PlacementKind | None, SearchResult]:
    """Return the result of each placement, as answers does.

    Where placements made no difference, each of them has the one result.
    """
    found = answers(point)
    merged: dict[PlacementKind | None, SearchResult] = {
        kind: result for result in found.values() for kind in result.merged
    }
    return merged | dict(found)


def by_placement(point: PointRecord) -> Mapping[PlacementKind | None, PointRecord]:
    """Return the point as if only one placement had been met, for each placement.

    Trials in which the CPUs moved belong to none of several placements.
    """
    found = answers(point)
    if len(found) < 2:
        return dict.fromkeys(found, point)
    return {
        kind: replace(
            point,
            result=result,
            trials=tuple(s for s in point.trials if _of(result, kind, s.trial)),
        )
        for kind, result in found.items()
    }


def _of(result: SearchResult, kind: PlacementKind | None, trial: Trial) -> bool:
    return trial.placement is kind and not result.elsewhere(trial)


def _of_trials(point: PointRecord) -> PlacementKind | None:
    seen = {
        at.kind for stored in point.trials for at in stored.trial.observation.placement or ()
    }  # fmt: skip
    return seen.pop() if len(seen) == 1 else None
