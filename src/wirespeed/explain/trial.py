# SPDX-License-Identifier: Apache-2.0
"""What does a trial show in the time that counts?

A quiet trial counts whole, a gated one without its disturbed windows; of a faulty one nothing
counts, nor of a disturbed one that has no windows (old runs, SUTs that return no time stamps).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.result.trial import Trial


class Standing(StrEnum):
    QUIET = "quiet"
    GATED = "gated"
    FAULTY = "faulty"
    DISTURBED = "disturbed"


class Outcome(StrEnum):
    """Of a trial, in time that counts; overload is loss, or queues that grow."""

    NO_LOSS = "no loss"
    WITHIN_GOAL = "within the PDR's goal"
    OVERLOAD = "overload"
    UNKNOWN = "nothing counts"


# Queues that grow by less are steady: a search at its usual width asks no more.
STEADY_GROWTH = 0.005
# Windows whose queues had not drained may lose what a disturbance before them left; more than this
# is an overload beyond doubt.
BEYOND_DOUBT = 0.02


@dataclass(frozen=True, slots=True)
class CountedTime:
    """Frames offered and lost in the time that counts, and how much queues grew as a share of
    them; None where that is not known. clean_share: of the trial's time."""

    clean_share: float
    offered: int
    lost: int
    growth: float | None

    @property
    def loss_ratio(self) -> float:
        return self.lost / self.offered if self.offered else 0.0

    @property
    def overload(self) -> float:
        """The share of the offered frames that the SUT cannot forward: lost, or queued up."""
        growth = max(0.0, self.growth or 0.0)
        return (self.loss_ratio + growth) / (1 + growth)


def standing(trial: Trial) -> Standing:
    if trial.fault is not None:
        return Standing.FAULTY
    if trial.quiet:
        return Standing.QUIET
    return Standing.GATED if trial.gated is not None else Standing.DISTURBED


def counted_time(trial: Trial) -> CountedTime | None:
    """None where nothing of it counts. Without a clean window an overload may still be certain."""
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
    """How much longer queues became in clean windows, of the frames offered; None: unknown."""
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
