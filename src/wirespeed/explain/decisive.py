# SPDX-License-Identifier: Apache-2.0
"""Find the trial that shows most about a point's limit."""

from __future__ import annotations

from wirespeed.explain.interface import Measured
from wirespeed.explain.loss import first_loss
from wirespeed.model.result.counted_time import counted_time
from wirespeed.model.result.trial import Stage, Trial


def decisive(point: Measured) -> tuple[int, Trial] | None:
    """Return the decisive trial and its number; None if no trial counts.

    It is the trial of the first loss, otherwise the counted trial with the highest load.
    """
    if (found := first_loss(point.result.trials, point.result)) is not None:
        return found
    counted = [
        (number, trial)
        for number, trial in enumerate(point.result.trials, start=1)
        if trial.stage is not Stage.WARM_UP
        and not point.result.elsewhere(trial)
        and counted_time(trial) is not None
    ]
    return max(counted, key=lambda pair: pair[1].intended_load_fps, default=None)


def carried_fps(trial: Trial) -> float:
    """Return the forwarding rate in frames/s, of clean time if known."""
    if trial.gated is not None and trial.gated.receive_fps is not None:
        return trial.gated.receive_fps
    return trial.forwarding_fps
