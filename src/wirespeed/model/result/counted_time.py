# SPDX-License-Identifier: Apache-2.0
"""Count the frames of a trial in the time that counts.

A quiet trial counts whole. A gated trial counts without its noisy windows. A faulty trial does not
count. A noisy trial without windows does not count either; old runs and SUTs that return no time
stamps have such trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wirespeed.model.result.trial import Stage, Trial

# Windows with undrained queues may lose frames that earlier noise left. A larger loss ratio proves
# an overload.
BEYOND_DOUBT = 0.02


@dataclass(frozen=True, slots=True)
class CountedTime:
    """Frames in the counted time of a trial."""

    clean_share: float
    """Clean share of the trial's time, 0 to 1."""
    offered: int
    lost: int
    growth: float | None
    """Growth of the queues as a share of the offered frames; None if unknown."""

    @property
    def loss_ratio(self) -> float:
        return self.lost / self.offered if self.offered else 0.0

    @property
    def overload(self) -> float:
        """Share of the offered frames that the SUT cannot forward: lost or queued."""
        growth = max(0.0, self.growth or 0.0)
        return (self.loss_ratio + growth) / (1 + growth)


def counted_time(trial: Trial) -> CountedTime | None:
    """Return the counted time; None if nothing counts.

    A trial without a clean window counts if its overload is certain.
    """
    gated, growth = trial.gated, growth_ratio(trial)
    if trial.fault is not None:
        return None
    if trial.quiet:
        return CountedTime(1.0, trial.offered, trial.lost, growth)
    if gated is None:
        return None
    if gated.clean_windows:
        offered = sum(run.offered for run in gated.runs)
        lost = sum(run.lost for run in gated.runs)
        return CountedTime(gated.clean_share, offered, lost, growth)
    if gated.steady_lost > BEYOND_DOUBT * gated.steady_offered:
        return CountedTime(0.0, gated.steady_offered, gated.steady_lost, None)
    return None


def growth_ratio(trial: Trial) -> float | None:
    """Return the growth of queues in clean windows per offered frame; None if unknown."""
    runs = trial.gated.runs if trial.gated is not None else ()
    offered = sum(run.offered for run in runs)
    return sum(run.growth_frames for run in runs) / offered if offered else None


def lost_in_what_counts(trial: Trial) -> int:
    """Return the frames lost in a quiet trial, or in the clean windows of another."""
    found = counted_time(trial)
    return found.lost if found is not None else 0


def trials_above(trials: Iterable[Trial], load_fps: float) -> Iterator[tuple[int, Trial]]:
    """Yield the trials above the load but for warm-ups, with their numbers from 1."""
    for number, trial in enumerate(trials, start=1):
        if trial.intended_load_fps > load_fps and trial.stage is not Stage.WARM_UP:
            yield number, trial
