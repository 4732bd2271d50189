# SPDX-License-Identifier: Apache-2.0
"""How much arrives when as much as possible is offered? (CSIT's maximum receive rate)

https://docs.fd.io/csit/master/report/ "Data Plane Throughput, MRR". The median of several trials
stands for them, so that one odd trial does not set the figure. Every other search starts with it:
it says how much the generator can offer, and about where the SUT's limit lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.prober import BeyondGenerator, Prober
from wirespeed.measure.validity import Purpose
from wirespeed.model.trial import Stage


@dataclass(frozen=True, slots=True)
class Overload:
    """received_fps: the MRR. offered_fps: the most that the generator offered meanwhile.
    by_generator: whether the generator, rather than the load asked for, set what was offered."""

    received_fps: float
    offered_fps: float
    by_generator: bool


@dataclass(frozen=True, slots=True)
class Mrr:
    trial_s: float
    trials: int

    @property
    def expected_s(self) -> float:
        return self.trial_s * self.trials

    def measure(self, prober: Prober, load_fps: float) -> Overload:
        """Offer load_fps, or as much as the generator can where that is less."""
        try:
            return self._at(prober, load_fps)
        except BeyondGenerator:
            return self._at(prober, UNLIMITED)

    def _at(self, prober: Prober, load_fps: float) -> Overload:
        seen = [
            prober.valid(load_fps, self.trial_s, Stage.MRR, Purpose.RATE)
            for _ in range(self.trials)
        ]
        return Overload(
            received_fps=median(t.forwarding_fps for t in seen),
            offered_fps=max(t.offered_fps for t in seen),
            by_generator=load_fps == UNLIMITED,
        )
