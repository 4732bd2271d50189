# SPDX-License-Identifier: Apache-2.0
"""Measure what arrives when more is offered than the SUT carries (CSIT's MRR).

https://docs.fd.io/csit/master/report/ "Data Plane Throughput, MRR". The load is 1.5 times what is
received. A generator on the SUT's own host that offers twenty times as much takes cache and memory
bandwidth from the SUT. Every other search starts with the MRR. It shows the generator's limit,
roughly the SUT's limit, and how quiet this host is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.prober import BeyondGenerator, NotMeasurable, Prober
from wirespeed.measure.search.interface import Limits
from wirespeed.measure.verdict import MIN_WINDOWS
from wirespeed.model.result.quantile import half_interval
from wirespeed.model.result.trial import Stage, Trial

OVERLOAD = 1.5
# The first load is derived from the warm-up at full rate, which slows the SUT. Where the SUT then
# receives more, the next load is twice what was received.
MORE = 2.0
CORRECTIONS = 8
ENOUGH = 0.9
# A trial with hardly any clean time says little next to one that has much.
LEAST = 0.1


@dataclass(frozen=True, slots=True)
class Overload:
    """Result of an overload."""

    trials: tuple[Trial, ...]
    received_fps: float | None
    """Median of clean windows; None where there were none."""
    error: float | None
    """Half of its 95% interval over the trials, relative; None where unknown."""
    whole_fps: float
    """Median of whole trials."""
    offered_fps: float
    """The most that the generator can offer, or the ceiling where that is less."""
    by_generator: bool
    """True if the generator sets offered_fps."""

    def contradicts_itself(self, width: float) -> bool:
        """Return whether clean time received less than all time, which noise cannot do.

        width: of figures that are the same. What queues held arrives after the traffic, too.
        """
        if self.received_fps is None:
            return False
        held_fps = max(t.observation.path_frames / t.duration_s for t in self.trials)
        most_fps = self.received_fps * (1 + width) * (1 + (self.error or 0.0))
        return most_fps < self.whole_fps - held_fps

    @property
    def few_windows(self) -> int | None:
        """Number of clean windows, where too few of a single trial are all that it rests on."""
        pieces = [trial.gated for trial in self.trials if trial.gated is not None]
        if (
            self.received_fps is None
            or self.error is not None
            or any(p.windows == 1 for p in pieces)
        ):
            return None
        windows = sum(piece.steady_windows for piece in pieces)
        return windows if windows < MIN_WINDOWS else None

    def among(self, trials: Sequence[Trial]) -> Overload | None:
        """Return what those of its trials show that are among these; None where none is."""
        wanted = {id(trial.observation) for trial in trials}
        kept = [trial for trial in self.trials if id(trial.observation) in wanted]
        if not kept:
            return None
        found = _overload(kept, self.offered_fps, by_generator=self.by_generator)
        return found if self.received_fps else replace(found, received_fps=None, error=None)


@dataclass(frozen=True, slots=True)
class Mrr:
    trial_s: float
    trials: int
    least: int | None = None
    """Trials that a time limit leaves; None: all, because a search needs the MRR as its bound."""

    @property
    def expected_s(self) -> float:
        return self.trial_s * self.trials

    def measure(self, prober: Prober, limits: Limits, flood: Trial) -> Overload:
        """Measure the MRR.

        flood: a trial at the generator's full rate, or at the ceiling where that is less.
        """
        most_fps = min(limits.max_fps, flood.offered_fps)
        by_generator = most_fps < limits.max_fps
        received_fps = max(limits.min_fps, _received_by([flood]))
        for attempt in range(1 + CORRECTIONS):
            prober.overload_fps = received_fps
            load_fps = min(most_fps, (MORE if attempt else OVERLOAD) * received_fps)
            if by_generator and load_fps == most_fps and limits.max_fps == UNLIMITED:
                load_fps = UNLIMITED
            trials, load_fps = self._trials_at(prober, load_fps, limits.max_fps, most_fps)
            overload = _overload(trials, most_fps, by_generator=by_generator)
            received_fps = overload.received_fps or overload.whole_fps
            too_low = _too_low(load_fps, received_fps, most_fps)
            if prober.out_of_time or not too_low:
                break
        if too_low:
            overload = replace(overload, received_fps=None, error=None)
        prober.overload_fps = overload.received_fps or overload.whole_fps
        return overload

    def _trials_at(
        self, prober: Prober, load_fps: float, max_fps: float, most_fps: float
    ) -> tuple[list[Trial], float]:
        """Return trials, and their load; fewer where one shows that the load was no overload.

        Where the generator now offers less than in the flood, the load is all it can offer, but
        never more than links carry. A time limit ends them, too, after the least.
        """
        trials: list[Trial] = []
        least = self.trials if self.least is None else self.least
        while len(trials) < (least if prober.out_of_time else self.trials):
            try:
                trials.append(prober.usable(load_fps, self.trial_s, Stage.MRR))
            except BeyondGenerator as error:
                load_fps = UNLIMITED if max_fps == UNLIMITED else error.offered_fps
                continue
            except NotMeasurable:
                if not trials:
                    raise
                break  # one trial is a result, too
            if _too_low(load_fps, _received_by(trials), most_fps):
                break
        return trials, load_fps


def _too_low(load_fps: float, received_fps: float, most_fps: float) -> bool:
    """Return whether a load was no overload, as most of it was received, and can be raised."""
    return load_fps < min(most_fps, ENOUGH * OVERLOAD * received_fps)


def _received_by(trials: Sequence[Trial]) -> float:
    """Return the median rate of clean time, or of all time where no trial had any."""
    rates = clean_fps(trials)
    return median(rates) if rates else median(trial.forwarding_fps for trial in trials)


def clean_fps(trials: Sequence[Trial]) -> list[float]:
    """Return the rates of clean time of the trials that have at least LEAST of the most of it."""
    found = [
        (trial.gated.steady_windows, trial.gated.receive_fps)
        for trial in trials
        if trial.gated is not None and trial.gated.receive_fps is not None
    ]
    most = max((windows for windows, _ in found), default=0)
    return [rate for windows, rate in found if windows >= LEAST * most]


def _overload(trials: list[Trial], most_fps: float, *, by_generator: bool) -> Overload:
    rates = clean_fps(trials)
    middle = median(rates) if rates else None
    whole_fps = median(trial.forwarding_fps for trial in trials)
    offered_fps = max(most_fps, *(trial.offered_fps for trial in trials))
    error = half_interval(rates)
    return Overload(tuple(trials), middle, error, whole_fps, offered_fps, by_generator)
