# SPDX-License-Identifier: Apache-2.0
"""Define a suspect: an explanation and the number of frames that it explains."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.result.explanation import EvidenceFigure, Explanation

ALL_TRIALS = "all trials, noisy time included"
# Share of the frames; a smaller loss needs no suspect.
STRAY = 0.001
# Share of the time; another program that used the CPU for less explains no loss.
MUCH = 0.03
# Share of the time; more use of a polling CPU is not noise, even if no frames were lost.
PLAINLY = 0.1


@dataclass(frozen=True, slots=True)
class Suspect:
    """Possible cause of loss."""

    frames: float
    """Frames that it explains; 0 if none were lost."""
    explanation: Explanation
    certain: bool = False
    """Noise of the host cannot produce this evidence."""
    harmless: bool = False
    """It explains no loss."""


def figure(name: str, value: float, unit: str) -> EvidenceFigure:
    """Return evidence over all trials."""
    return EvidenceFigure(name, value, unit, ALL_TRIALS)
