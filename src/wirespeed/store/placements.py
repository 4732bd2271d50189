# SPDX-License-Identifier: Apache-2.0
"""Compute the CPU placement of results that an older version stored without it."""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Stage, Trial

_AT_A_LOAD = frozenset({Stage.SEARCH, Stage.CONFIRM, Stage.CONSTANT})


def with_placement(result: SearchResult, trials: Iterable[Trial]) -> SearchResult:
    """Return the result with the placement of the trials behind its rates.

    The placement stays None where these trials had several placements, or an unknown one.
    """
    if result.placement is not None or not result.searched:
        return result
    loads_fps = {
        interval.lower.load_fps
        for interval in (result.ndr, result.pdr)
        if interval is not None and interval.lower is not None
    }
    if result.constant is not None:
        loads_fps.add(result.constant.load_fps)
    found = {
        trial.placed
        for trial in trials
        if trial.fault is None
        and not trial.moved
        and (
            trial.stage in (Stage.MRR, Stage.BURST)
            or (trial.stage in _AT_A_LOAD and trial.intended_load_fps in loads_fps)
        )
    }
    placed = found.pop() if len(found) == 1 else None
    return result if placed is None else result.of_placement(placed)
