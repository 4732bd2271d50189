# SPDX-License-Identifier: Apache-2.0
"""What does a trial show in the time that counts, and how is that said?

A quiet trial counts whole, a gated one without its disturbed windows; of a faulty one nothing
counts, nor of a disturbed one that has no windows (old runs, SUTs that return no time stamps).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.trial import Trial
from wirespeed.report.text import frames, loss, percent, share


class Standing(StrEnum):
    QUIET = "quiet"
    GATED = "gated"
    FAULTY = "faulty"
    DISTURBED = "disturbed"


class Outcome(StrEnum):
    """Of a trial, in time that counts."""

    NO_LOSS = "no loss"
    WITHIN_GOAL = "overload within the PDR's goal"
    OVERLOAD = "loss, or queues that grow"
    UNKNOWN = "nothing counts"


# Queues that grow by less are steady: a search at its usual width asks no more.
STEADY_GROWTH = 0.005


@dataclass(frozen=True, slots=True)
class Shown:
    """What a trial shows: frames offered and lost in the time that counts, and how much queues grew
    as a share of them; None where that is not known."""

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


def shown(trial: Trial) -> Shown | None:
    """None where nothing of it counts. Without a clean window, what its steady ones show."""
    gated = trial.gated
    growth = growth_ratio(trial)
    if trial.fault is not None:
        return None
    if trial.quiet:
        return Shown(1.0, trial.offered, trial.lost, growth)
    if gated is None or not (gated.clean_windows or gated.steady_offered):
        return None
    if gated.clean_windows:
        offered = sum(run.offered for run in gated.runs)
        return Shown(gated.clean_share, offered, sum(run.lost for run in gated.runs), growth)
    return Shown(0.0, gated.steady_offered, gated.steady_lost, None)


def growth_ratio(trial: Trial) -> float | None:
    """How much longer queues became in clean windows, of the frames offered; None: unknown."""
    runs = trial.gated.runs if trial.gated is not None else ()
    offered = sum(run.offered for run in runs)
    return sum(run.growth_frames for run in runs) / offered if offered else None


def outcome(trial: Trial, pdr_loss: float) -> Outcome:
    found = shown(trial)
    if found is None:
        return Outcome.UNKNOWN
    if found.lost == 0 and (found.growth or 0.0) <= STEADY_GROWTH:
        return Outcome.NO_LOSS
    return Outcome.WITHIN_GOAL if found.overload <= pdr_loss else Outcome.OVERLOAD


def told(trial: Trial) -> str:
    """For a line of a log: what the whole trial lost, and what the time that counts shows."""
    whole = f"lost {trial.lost:,} ({loss(trial.loss_ratio)})"
    if trial.quiet:
        return whole
    if trial.fault is not None:
        return f"faulty: {trial.fault}"
    found = shown(trial)
    if found is None:
        return f"{whole}; nothing counts: {trial.disturbed or 'no undisturbed time'}"
    lost = "no loss" if not found.lost else f"{found.lost:,} lost"
    growth = "" if found.growth is None else f", queues grew {percent(found.growth, 2)}"
    undisturbed = f"undisturbed {share(found.clean_share)}: {lost} in {frames(found.offered)}"
    return f"{whole}; {undisturbed}{growth}"
