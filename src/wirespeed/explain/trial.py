# SPDX-License-Identifier: Apache-2.0
"""Evaluate the counted time of a trial.

A quiet trial counts whole. A gated trial counts without its noisy windows. A faulty trial does not
count. A noisy trial without windows does not count either; old runs and SUTs that return no time
stamps have such trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.result.trial import Trial


class Standing(StrEnum):
    """Part of a trial that counts."""

    QUIET = "quiet"
    GATED = "gated"
    FAULTY = "faulty"
    DISTURBED = "disturbed"


class Outcome(StrEnum):
    """Outcome of a trial in counted time; overload means loss or growing queues."""

    NO_LOSS = "no loss"
    WITHIN_GOAL = "within the PDR's goal"
    OVERLOAD = "overload"
    UNKNOWN = "nothing counts"


# Queues that grow by less are steady, as in a search at its usual width.
STEADY_GROWTH = 0.005
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


def standing(trial: Trial) -> Standing:
    if trial.fault is not None:
        return Standing.FAULTY
    if trial.quiet:
        return Standing.QUIET
    return Standing.GATED if trial.gated is not None else Standing.DISTURBED


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


def outcome(trial: Trial, pdr_loss: float) -> Outcome:
    found = counted_time(trial)
    if found is None:
        return Outcome.UNKNOWN
    if found.lost == 0 and (found.growth or 0.0) <= STEADY_GROWTH:
        return Outcome.NO_LOSS
    return Outcome.WITHIN_GOAL if found.overload <= pdr_loss else Outcome.OVERLOAD
