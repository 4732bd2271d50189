# SPDX-License-Identifier: Apache-2.0
"""How does the SUT hold one load over a long time? A row of trials is its time series.

An invalid trial is not repeated: the series keeps it, marked, and the sums leave it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from wirespeed.measure.prober import NotMeasurable, Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result import Bound
from wirespeed.model.trial import Stage


@dataclass(frozen=True, slots=True)
class Soak:
    """load_fps over all directions, in trials of trial_s until total_s of traffic were offered."""

    trial_s: float
    total_s: float
    load_fps: float

    @property
    def conformant(self) -> bool:
        return self.trial_s >= 60.0

    @property
    def expected_s(self) -> float:
        return self.total_s

    def find(self, prober: Prober, limits: Limits) -> Figures:  # noqa: ARG002
        count = ceil(self.total_s / self.trial_s)
        trials = [prober.once(self.load_fps, self.trial_s, Stage.CONSTANT) for _ in range(count)]
        valid = [t for t in trials if t.valid]
        if not valid:
            raise NotMeasurable(f"none of {count} trials was valid: {trials[-1].invalid_reason}")
        seconds = sum(t.duration_s for t in valid)
        offered, received = sum(t.offered for t in valid), sum(t.received for t in valid)
        loss_ratio = sum(t.lost for t in valid) / offered if offered else 0.0
        left_out = count - len(valid)
        return Figures(
            constant=Bound(self.load_fps, received / seconds, loss_ratio),
            notes=(f"{left_out} of {count} trials were invalid and left out",) if left_out else (),
        )
