# SPDX-License-Identifier: Apache-2.0
"""How does the SUT hold one load over a long time? A row of trials is its time series."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from wirespeed.measure.operating_point import operating_point
from wirespeed.measure.prober import NotMeasurable, Prober
from wirespeed.measure.search.interface import Figures, Limits
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
        usable = [trial for trial in trials if trial.fault is None]
        if not usable:
            raise NotMeasurable(f"none of {count} trials can be used: {trials[-1].fault}")
        point = operating_point(
            self.load_fps, usable, prober.width, prober.pdr_loss, whole=prober.whole
        )
        if not point.decided:
            point = operating_point(
                self.load_fps, usable, prober.width, prober.pdr_loss, whole=True
            )
        prober.points.append(point)
        left_out = count - len(usable)
        notes = (f"{left_out} of {count} trials were misread and left out",) if left_out else ()
        return Figures(constant=point.bound, notes=notes)
