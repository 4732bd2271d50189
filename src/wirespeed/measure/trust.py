# SPDX-License-Identifier: Apache-2.0
"""Report why trials cannot give a rate of one configuration: changed settings, lost counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirespeed.model.hop_counts import EXTERNAL, DropCause
from wirespeed.model.trial import Trial
from wirespeed.model.words import frames, loss

# Share of the offered frames: more that no hop accounts for is no rounding of counters.
UNKNOWN = 0.001
# Overload makes a SUT slower, but not by this factor.
FAR_APART = 2.0


def doubts(
    trials: Sequence[Trial],
    ndr_fps: float | None,
    mrr_fps: float | None,
    overloaded: Sequence[Trial],
) -> tuple[str, ...]:
    """Return sentences; with any of them the rates are no better than grade D.

    overloaded: trials of the MRR; where one lost nothing, the MRR is a lower bound.
    """
    apart = _far_apart(ndr_fps, mrr_fps) if all(trial.lost for trial in overloaded) else ()
    return (*_changed(trials), *_unaccounted(trials), *apart)


def _changed(trials: Sequence[Trial]) -> Iterator[str]:
    for number, trial in enumerate(trials, start=1):
        if changes := trial.observation.changes:
            more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
            when = f"between trials {number - 1} and {number}" if number > 1 else "before trial 1"
            yield f"settings changed {when}, or in the latter: {changes[0]}{more}"


def _unaccounted(trials: Sequence[Trial]) -> Iterator[str]:
    worst: tuple[float, int, str] = (UNKNOWN, 0, "")
    for number, trial in enumerate(trials, start=1):
        if trial.fault is not None:
            continue  # misread counters give no rate
        for drop in trial.observation.drops:
            if drop.cause is DropCause.UNKNOWN and drop.hop != EXTERNAL and trial.offered:
                part = abs(drop.frames) / trial.offered
                counted = f"{frames(abs(drop.frames))} ({loss(part)})"
                told = f"lost {counted} at {drop.hop} without a known cause"
                if drop.frames < 0:
                    told = f"counted {counted} too many at {drop.hop}"
                worst = max(worst, (part, number, told))
    if worst[1]:
        yield f"counters do not close: trial {worst[1]} {worst[2]}"


def _far_apart(ndr_fps: float | None, mrr_fps: float | None) -> Iterator[str]:
    if ndr_fps and mrr_fps and not 1 / FAR_APART <= ndr_fps / mrr_fps <= FAR_APART:
        yield (
            f"NDR and MRR differ {max(ndr_fps / mrr_fps, mrr_fps / ndr_fps):.1f} times "
            "without a known cause"
        )
