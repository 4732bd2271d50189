# SPDX-License-Identifier: Apache-2.0
"""Measure the SUT at one given load."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wirespeed.measure.prober import Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result.trial import Stage


@dataclass(frozen=True, slots=True)
class Fixed:
    """Load over all directions for trial_s, longer where the host is not quiet.

    With too little clean time to judge the load, the whole trial counts.
    """

    trial_s: float
    load_fps: float

    @property
    def conformant(self) -> bool:
        # RFC 2544 section 26.3 (frame loss rate) is one such trial at a time.
        return self.trial_s >= 60.0

    @property
    def expected_s(self) -> float:
        return self.trial_s

    def find(self, prober: Prober, limits: Limits) -> Figures:  # noqa: ARG002
        point = prober.at(self.load_fps, self.trial_s, Stage.CONSTANT)
        return Figures(constant=(point if point.decided else replace(point, whole=True)).bound)
