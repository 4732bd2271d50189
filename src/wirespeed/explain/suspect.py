# SPDX-License-Identifier: Apache-2.0
"""What is a suspect: an explanation, and how many frames it accounts for?"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.result.explanation import EvidenceFigure, Explanation

ALL_TRIALS = "all trials, disturbed time included"
# Fewer of the frames are strays: no suspect is looked for.
STRAY = 0.001
# Of the time. Below it another program on the CPU explains no loss worth a sentence.
MUCH = 0.03
# Of the time. Who uses a polling CPU for more is no noise, whether frames were lost for it or not.
PLAINLY = 0.1


@dataclass(frozen=True, slots=True)
class Suspect:
    """frames: that it can explain, 0 where nothing was lost, though the evidence is there. certain:
    the evidence is of something that no noise of the host looks like. harmless: it explains
    nothing."""

    frames: float
    explanation: Explanation
    certain: bool = False
    harmless: bool = False


def figure(name: str, value: float, unit: str) -> EvidenceFigure:
    return EvidenceFigure(name, value, unit, ALL_TRIALS)
