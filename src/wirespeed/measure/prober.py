# SPDX-License-Identifier: Apache-2.0
"""Runs the trials of one search: measures, judges, repeats what cannot be believed, remembers all.

Searches only ever see valid trials. An invalid one is not turned into a pass or a failure; it is
run again, and after too many repeats the search ends without a figure (`NotMeasurable`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import median

from wirespeed.measure import account
from wirespeed.measure.interface import Listener, MeasureError, Measurer, Progress
from wirespeed.measure.validity import Fault, Invalid, Purpose, ValidityRules, judge
from wirespeed.model.cpus import Proximity
from wirespeed.model.trial import Observation, Stage, Trial

# Twice in a row, with every thread undisturbed, is not chance.
SHORT_IN_A_ROW = 2
# The bench waits before each trial for CPUs to come back: what it gives up on has changed to stay.
MOVED_IN_A_ROW = 3
# Where polling cores are shared much of the time, the quieter half of the trials is believed: this
# many are looked at to tell which half a trial belongs to.
SHARED_LOOKS_BACK = 8


class NotMeasurable(MeasureError):
    """Every repeat of a trial was invalid."""


class OutOfTime(NotMeasurable):
    """The search has used its time."""


class Moved(MeasureError):
    """The CPUs do not share any more what they shared when the search began."""


class BeyondGenerator(MeasureError):
    """The generator cannot offer this load although nothing disturbed it."""

    def __init__(self, load_fps: float, offered_fps: float, reason: str) -> None:
        super().__init__(f"{load_fps:,.0f} frames/s asked for: {reason}")
        self.load_fps = load_fps
        self.offered_fps = offered_fps


@dataclass(slots=True)
class Prober:
    """`repeats` bounds how often one trial is run again; `expected_s` is how long the search's
    valid trials take together, as far as its author can tell; time_limit_s bounds what all trials
    before latency take, waits and overheads included.

    overload_fps: the MRR, once known. Above it the SUT drops frames whatever happens, so pauses
    are bounded as at the MRR: at four times the load the rings would seem to bear a quarter.
    proximity: of the CPUs in the first valid trial.
    """

    measure: Measurer
    listener: Listener
    rules: ValidityRules
    repeats: int
    expected_s: float
    time_limit_s: float = math.inf
    overload_fps: float = math.inf
    proximity: Proximity | None = None
    trials: list[Trial] = field(default_factory=list)

    def valid(
        self,
        load_fps: float,
        duration_s: float,
        stage: Stage = Stage.SEARCH,
        purpose: Purpose = Purpose.LOSS,
        pause_load_fps: float | None = None,
        *,
        repeats: int | None = None,
    ) -> Trial:
        """A trial that can be believed. Raises NotMeasurable, OutOfTime, Moved or BeyondGenerator.

        pause_load_fps: the load that bounds the pauses (validity.judge) when it is not the
        trial's own. repeats: at most so many, where that is less than everywhere.
        """
        repeats = self.repeats if repeats is None else min(repeats, self.repeats)
        short: list[Trial] = []
        moved = 0
        for attempt in range(1 + repeats):
            if self.out_of_time and stage is not Stage.LATENCY:
                raise OutOfTime(f"search.time_limit_s, {self.time_limit_s:g} s, was over")
            seen = self._see(load_fps, duration_s, stage, attempt)
            invalid = self._judge(seen, purpose, pause_load_fps)
            trial = self._note(seen, stage, invalid)
            if invalid is None:
                self._remember_proximity(seen)
                return trial
            moved = moved + 1 if invalid.fault is Fault.MOVED else 0
            if moved == MOVED_IN_A_ROW:
                raise Moved(invalid.reason)
            short = [*short, trial] if invalid.fault is Fault.SHORT else []
            if len(short) == SHORT_IN_A_ROW:
                offered_fps = max(t.offered_fps for t in short)
                raise BeyondGenerator(load_fps, offered_fps, invalid.reason)
        raise NotMeasurable(
            f"{1 + repeats} trials of {duration_s:g} s at "
            f"{trial.intended_load_fps:,.0f} frames/s were all invalid; "
            f"the last: {trial.invalid_reason}"
        )

    def once(self, load_fps: float, duration_s: float, stage: Stage) -> Trial:
        """One trial, believable or not."""
        seen = self._see(load_fps, duration_s, stage, attempt=0)
        return self._note(seen, stage, self._judge(seen, Purpose.LOSS, None))

    def _see(self, load_fps: float, duration_s: float, stage: Stage, attempt: int) -> Observation:
        self.listener.progress(Progress(stage, load_fps, duration_s, attempt, self._left_s()))
        return account.close(_finite(self.measure(load_fps, duration_s)))

    def _judge(
        self, seen: Observation, purpose: Purpose, pause_load_fps: float | None
    ) -> Invalid | None:
        load_fps = pause_load_fps or seen.intended_load_fps
        load_fps = min(load_fps, self.overload_fps)
        return judge(seen, self._rules(), purpose, load_fps, self.proximity)

    def _rules(self) -> ValidityRules:
        """The rules, and as much sharing of cores as this machine does not spare its trials."""
        slowest = (trial.seen.slowest for trial in self.trials[-SHARED_LOOKS_BACK:])
        last = [pulse.slow_ratio for pulse in slowest if pulse is not None]
        usual = median(last) if last else 0.0
        return replace(self.rules, max_slow_ratio=max(self.rules.max_slow_ratio, usual))

    def begin_again(self) -> None:
        """Forget what the machine was like; the trials are kept."""
        self.overload_fps, self.proximity = math.inf, None

    def _remember_proximity(self, seen: Observation) -> None:
        if self.proximity is None and seen.proximity is not None:
            self.proximity = seen.proximity[0]

    def _note(self, seen: Observation, stage: Stage, invalid: Invalid | None) -> Trial:
        trial = Trial(seen, stage, invalid is None, invalid.reason if invalid else None)
        self.trials.append(trial)
        self.listener.trial(trial)
        return trial

    @property
    def out_of_time(self) -> bool:
        """Whether no more than latency may still be measured."""
        return self._spent_s() >= self.time_limit_s

    @property
    def may_begin_again(self) -> bool:
        """Whether there is time for another search: at least as much as was spent."""
        return self._spent_s() < self.time_limit_s / 2

    def _spent_s(self) -> float:
        return sum(t.duration_s + t.seen.overhead_s + t.seen.waited_s for t in self.trials)

    def _left_s(self) -> float | None:
        """What is left of expected_s, at the pace (overheads, invalid repeats) kept so far."""
        useful_s = sum(t.duration_s for t in self.trials if t.valid)
        if not useful_s:
            return None
        left_s = max(0.0, self.expected_s - useful_s) * self._spent_s() / useful_s
        return min(left_s, max(0.0, self.time_limit_s - self._spent_s()))


def _finite(seen: Observation) -> Observation:
    """The observation with the offered rate as the intended load of an unlimited trial."""
    if math.isfinite(seen.intended_load_fps):
        return seen
    return replace(seen, intended_load_fps=seen.total("offered") / seen.duration_s)
