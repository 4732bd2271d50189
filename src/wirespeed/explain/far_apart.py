# SPDX-License-Identifier: Apache-2.0
"""Lower the grade of a point whose NDR and MRR differ far without a known cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wirespeed.explain.blame import Blame
from wirespeed.explain.interface import Measured
from wirespeed.explain.loss import BY_SETTINGS, first_loss, total_drops
from wirespeed.explain.stages import stage_behind, time_left
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.trial import Stage, Trial

# Overload slows a SUT by less than this factor.
FAR_APART = 2.0


def doubted(point: Measured) -> SearchResult:
    """Return the result, with grade D and a reason if its rates contradict each other."""
    result = point.result
    if (ratio := _ratio(result)) is None or result.grade is None or _explained(point):
        return result
    why = f"NDR and MRR differ {ratio:.1f} times without a known cause"
    return replace(result, grade=Grade.D, conformant=False, because=(why, *result.because))


def _ratio(result: SearchResult) -> float | None:
    """Return the factor between NDR and MRR; None if it is small or one is only a lower bound."""
    ndr = result.ndr.lower if result.ndr is not None else None
    if ndr is None or not result.mrr_fps or not _overloaded(result.trials):
        return None
    ratio = max(ndr.load_fps / result.mrr_fps, result.mrr_fps / ndr.load_fps)
    return ratio if ratio > FAR_APART else None


def _overloaded(trials: Sequence[Trial]) -> bool:
    return all(trial.lost for trial in trials if trial.stage is Stage.MRR)


def _explained(point: Measured) -> bool:
    """Return whether a suspect, or a stage without time left, explains most of the loss."""
    if any(True for _ in Blame.of(point).foremost()):
        return True
    found = first_loss(point.result.trials, point.result)
    drops = total_drops(found[1]) if found is not None else ()
    if found is None or not drops:
        return False
    cause = drops[0].cause
    full = stage_behind(point, cause) is not None and time_left(point, found[1], cause) is None
    return full or cause in BY_SETTINGS
