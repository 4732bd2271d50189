# SPDX-License-Identifier: Apache-2.0
"""Measure one load over a long time, in consecutive trials."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from wirespeed.measure.operating_point import operating_point
from wirespeed.measure.prober import Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result.trial import Stage


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
        # The first one shows whether the generator can offer the load at all.
        usable = [prober.usable(self.load_fps, self.trial_s, Stage.CONSTANT)]
        misread, moved, notes = 0, 0, []
        for number in range(1, count):
            if prober.out_of_time:
                notes.append(f"the time limit ended it after {number} of {count} trials")
                break
            trial = prober.once(self.load_fps, self.trial_s, Stage.CONSTANT)
            if trial.fault is not None:
                misread += 1
            elif trial.moved:
                moved += 1
            else:
                usable.append(trial)
        if misread:
            notes.append(f"{misread} of {count} trials were misread and excluded")
        if moved:
            notes.append(f"{moved} of {count} trials do not count: the CPUs moved in them")
        point = operating_point(
            self.load_fps, usable, prober.width, prober.pdr_loss, whole=prober.whole
        )
        if not point.decided:
            point = replace(point, whole=True)
        prober.points.append(point)
        return Figures(constant=point.bound, notes=tuple(notes))
