# SPDX-License-Identifier: Apache-2.0
"""How much arrives when more is offered than the SUT carries? (CSIT's maximum receive rate)

https://docs.fd.io/csit/master/report/ "Data Plane Throughput, MRR". Offered is half as much again
as what is received: a generator on the SUT's own host that offers twenty times as much takes cache
and memory bandwidth from it, and what is measured is that. Every other search starts with it: it
says how much the generator can offer, about where the SUT's limit lies, and how quiet this host is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median, stdev

from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.prober import BeyondGenerator, Prober
from wirespeed.model.trial import Stage, Trial

OVERLOAD, ENOUGH = 1.5, 1.25
# The first guess comes from a flood, which slows the SUT; where it carries more, offer more.
CORRECTIONS = 2


@dataclass(frozen=True, slots=True)
class Overload:
    """received_fps: the median of undisturbed windows; None where there were none. error: its
    standard error over the trials, relative. whole_fps: the median of whole trials. offered_fps:
    the most that the generator can offer. by_generator: it, rather than the load asked for, set
    that.
    """

    trials: tuple[Trial, ...]
    received_fps: float | None
    error: float
    whole_fps: float
    offered_fps: float
    by_generator: bool


@dataclass(frozen=True, slots=True)
class Mrr:
    trial_s: float
    trials: int

    @property
    def expected_s(self) -> float:
        return self.trial_s * self.trials

    def measure(self, prober: Prober, max_fps: float, flood: Trial) -> Overload:
        """flood: a trial of as much as the generator can, or max_fps where that is less."""
        most_fps = min(max_fps, flood.offered_fps)
        by_generator = most_fps < max_fps
        guess_fps = flood.forwarding_fps
        for _ in range(1 + CORRECTIONS):
            prober.overload_fps = guess_fps
            load_fps = min(most_fps, OVERLOAD * guess_fps)
            trials = self._at(prober, load_fps, unlimited=by_generator and load_fps == most_fps)
            overload = _overload(trials, most_fps, by_generator=by_generator)
            received_fps = overload.received_fps or overload.whole_fps
            if load_fps == most_fps or load_fps >= ENOUGH * received_fps:
                break
            guess_fps = received_fps
        prober.overload_fps = received_fps
        return overload

    def _at(self, prober: Prober, load_fps: float, *, unlimited: bool) -> list[Trial]:
        if not unlimited:
            try:
                return [
                    prober.usable(load_fps, self.trial_s, Stage.MRR) for _ in range(self.trials)
                ]
            except BeyondGenerator:
                pass  # It offers less than it did in the flood: then as much as it can.
        return [prober.usable(UNLIMITED, self.trial_s, Stage.MRR) for _ in range(self.trials)]


def _overload(trials: list[Trial], most_fps: float, *, by_generator: bool) -> Overload:
    rates = [
        trial.gated.receive_fps
        for trial in trials
        if trial.gated is not None and trial.gated.receive_fps is not None
    ]
    middle = median(rates) if rates else None
    error = stdev(rates) / math.sqrt(len(rates)) / middle if middle and len(rates) > 1 else 0.0
    whole_fps = median(trial.forwarding_fps for trial in trials)
    offered_fps = max(most_fps, *(trial.offered_fps for trial in trials))
    return Overload(tuple(trials), middle, error, whole_fps, offered_fps, by_generator)
