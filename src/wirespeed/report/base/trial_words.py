# SPDX-License-Identifier: Apache-2.0
"""Write a trial as one line of a log."""

from __future__ import annotations

from wirespeed.model.result.counted_time import counted_time
from wirespeed.model.result.trial import Trial
from wirespeed.model.words import frames, loss, percent, share


def trial_words(trial: Trial) -> str:
    """Return what the whole trial lost, and what its counted time shows."""
    whole = f"lost {trial.lost:,} ({loss(trial.loss_ratio)})"
    if trial.quiet:
        return whole
    if trial.fault is not None:
        return f"faulty: {trial.fault}"
    found = counted_time(trial)
    if found is None:
        return f"{whole}; nothing counts: {trial.disturbed or 'no clean time'}"
    lost = "no loss" if not found.lost else f"{found.lost:,} lost"
    growth = "" if found.growth is None else f", queues grew {percent(found.growth, 2)}"
    clean = f"clean {share(found.clean_share)}: {lost} in {frames(found.offered)}"
    return f"{whole}; {clean}{growth}"
