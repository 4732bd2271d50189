# SPDX-License-Identifier: Apache-2.0
"""Divide the time of a point into counted time and reasons of exclusion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wirespeed.model.result.reason import Reason
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Stage, Trial

COUNTED: Final = "counted"
AROUND: Final = "between trials: setting up, draining, reading counters"
MOVED: Final = "CPUs moved during the trial"
MISREAD: Final = "counters misread"
ELSEWHERE: Final = "trials in another placement"
RESTARTED: Final = "search started again after a move: its warm-up and MRR"
REFUTED: Final = "confirmation failed"
_OWN: Final = {
    Stage.WARM_UP: "warm-up",
    Stage.AS_IS: "trials of the all-time answer",
    Stage.LATENCY: "latency trials",
}


@dataclass(frozen=True, slots=True)
class TimePart:
    """Time of one activity, in seconds."""

    what: str
    seconds: float


def time_spent(result: SearchResult) -> tuple[TimePart, ...]:
    """Return the activities of all trials, the longest first; their sum is the total time.

    result: includes the trials of all CPU placements.
    """
    seconds: defaultdict[str, float] = defaultdict(float)
    for trial in result.trials:
        seconds[AROUND] += trial.observation.overhead_s
        for what, spent_s in _traffic(result, trial):
            seconds[what] += spent_s
    parts = [TimePart(what, spent_s) for what, spent_s in seconds.items() if spent_s]
    return tuple(sorted(parts, key=lambda part: -part.seconds))


def _traffic(result: SearchResult, trial: Trial) -> Iterator[tuple[str, float]]:
    """Yield the activities during the traffic of one trial."""
    if trial.stage in (Stage.AS_IS, Stage.LATENCY):
        yield _OWN[trial.stage], trial.duration_s
    elif trial.moved:
        yield MOVED, trial.duration_s
    elif trial.fault is not None:
        yield MISREAD, trial.duration_s
    elif result.elsewhere(trial):
        again = trial.stage in (Stage.WARM_UP, Stage.MRR)
        yield RESTARTED if again else ELSEWHERE, trial.duration_s
    elif trial.stage is Stage.WARM_UP:
        yield _OWN[trial.stage], trial.duration_s
    elif trial.gated is None:
        yield COUNTED, trial.duration_s
    else:
        yield from _gated(result, trial)


def _gated(result: SearchResult, trial: Trial) -> Iterator[tuple[str, float]]:
    """Yield excluded time by reason; the rest counted, or belongs to a refuted load."""
    assert trial.gated is not None
    left = trial.duration_s
    for part in trial.gated.left_out:
        if trial.stage is Stage.MRR and part.why is Reason.NOT_DRAINED:
            continue  # Queues never drain in an overload, so that time counts.
        left -= part.share * trial.duration_s
        yield part.why, part.share * trial.duration_s
    yield REFUTED if _refuted(result, trial) else COUNTED, left


def _refuted(result: SearchResult, trial: Trial) -> bool:
    """Return whether the trial failed to confirm an NDR above the final one."""
    if trial.stage is not Stage.CONFIRM or result.search == "rfc2544":
        return False
    lower = result.ndr.lower if result.ndr is not None else None
    return lower is None or trial.intended_load_fps > lower.load_fps
