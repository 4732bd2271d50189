# SPDX-License-Identifier: Apache-2.0
"""Sum the CPU time that neighbours took from a host during a run's trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from wirespeed.model.host.neighbours import Neighbours
from wirespeed.model.result.reason import NEIGHBOURS
from wirespeed.model.result.trial import Trial
from wirespeed.model.words import percent

_NAMED: Final = 3
"""Largest number of programs to name."""


def neighbours(run: str, trials: Sequence[Trial]) -> Neighbours | None:
    """Return the neighbours' use of the host during a run; None for a run without trials."""
    seconds = sum(trial.duration_s for trial in trials)
    if not seconds:
        return None
    taken_s = stolen_s = 0.0
    takers: defaultdict[str, float] = defaultdict(float)
    for trial in trials:
        seen, left_out = trial.observation, trial.gated.left_out if trial.gated else ()
        taken_s += sum(part.share for part in left_out if part.why in NEIGHBOURS) * trial.duration_s
        polling = {(thread.host, thread.cpu) for thread in seen.threads if thread.cpu >= 0}
        stolen_s += seen.steal_ns / 1e9 / max(1, len(polling))
        for other in seen.competitors:
            if (other.host, other.cpu) in polling:
                takers[other.name] += other.share * trial.duration_s
    most = sorted(takers.items(), key=lambda taker: -taker[1])[:_NAMED]
    return Neighbours(
        run,
        len(trials),
        sum(trial.moved for trial in trials),
        taken_s / seconds,
        stolen_s / seconds,
        tuple(f"{name} {percent(took_s / seconds, 2)}" for name, took_s in most),
    )
