# SPDX-License-Identifier: Apache-2.0
"""Evaluate the counted time of a trial."""

from __future__ import annotations

from enum import StrEnum

from wirespeed.model.result.counted_time import counted_time
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


def standing(trial: Trial) -> Standing:
    if trial.fault is not None:
        return Standing.FAULTY
    if trial.quiet:
        return Standing.QUIET
    return Standing.GATED if trial.gated is not None else Standing.DISTURBED


def outcome(trial: Trial, pdr_loss: float) -> Outcome:
    found = counted_time(trial)
    if found is None:
        return Outcome.UNKNOWN
    if found.lost == 0 and (found.growth or 0.0) <= STEADY_GROWTH:
        return Outcome.NO_LOSS
    return Outcome.WITHIN_GOAL if found.overload <= pdr_loss else Outcome.OVERLOAD
