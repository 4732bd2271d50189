# SPDX-License-Identifier: Apache-2.0
"""Report why trials cannot give a rate of one configuration: changed settings, lost counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirespeed.measure.split import end_side
from wirespeed.model.result.hop_counts import EXTERNAL, DropCause
from wirespeed.model.result.trial import Trial
from wirespeed.model.words import counted, frames, loss

# Share of the offered frames: more that no hop accounts for is no rounding of counters.
UNKNOWN = 0.001


def doubts(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Return sentences; with any of them the rates are no better than grade D."""
    return (*_changed(trials), *_unaccounted(trials))


def _changed(trials: Sequence[Trial]) -> Iterator[str]:
    for number, trial in enumerate(trials, start=1):
        changes = [change for change in trial.observation.changes if change.splits]
        if changes:
            more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
            when = f"between trials {number - 1} and {number}" if number > 1 else "before trial 1"
            yield f"settings changed {when}, or in the latter: {changes[0]}{more}"
    side = end_side(trials)
    kept = {id(trial) for trial in side}
    numbers = [number for number, trial in enumerate(trials, start=1) if id(trial) in kept]
    if numbers and len(numbers) < len(trials):
        yield f"rates rest on trials {numbers[0]} to {numbers[-1]}, of one configuration"


def aside(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Name changes of settings that no part of the bench uses; they doubt no rate."""
    return tuple(
        f"by another program, in trial {number} or before it: {change}"
        for number, trial in enumerate(trials, start=1)
        for change in trial.observation.changes
        if not change.splits
    )


def churned(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Report how routes were changed on purpose while frames were offered."""
    found = [trial.observation.churn for trial in trials if trial.observation.churn is not None]
    changes = sum(churn.changes for churn in found)
    if not changes:
        return ()
    late_s, behind_s = max(c.late_s for c in found), max(c.behind_s for c in found)
    return (
        f"{changes} changes of routes in {counted(len(found), 'trial')}, up to {late_s:.2g} s "
        f"late; kernel and router had all of them within {behind_s:.2g} s of the end of traffic",
    )


def _unaccounted(trials: Sequence[Trial]) -> Iterator[str]:
    worst: tuple[float, int, str] = (UNKNOWN, 0, "")
    for number, trial in enumerate(trials, start=1):
        if trial.fault is not None:
            continue  # misread counters give no rate
        for drop in trial.observation.drops:
            if drop.cause is DropCause.UNKNOWN and drop.hop != EXTERNAL and trial.offered:
                part = abs(drop.frames) / trial.offered
                counted = f"{frames(abs(drop.frames))} ({loss(part)})"
                way = f" in direction {drop.direction}" if drop.direction else ""
                told = f"lost {counted} at {drop.hop}{way} without a known cause"
                if drop.frames < 0:
                    told = f"counted {counted} too many at {drop.hop}{way}"
                worst = max(worst, (part, number, told))
    if worst[1]:
        yield f"counters do not close: trial {worst[1]} {worst[2]}"
