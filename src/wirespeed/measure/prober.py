# SPDX-License-Identifier: Apache-2.0
"""Run the trials of one search: measure, exclude time with noise, keep every trial.

A search names a load and gets a verdict on it. Where too little of a trial was clean, it is
extended by pieces. It ends with enough clean time, or when the extension is used up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wirespeed.measure.conservation import with_unknown_drop
from wirespeed.measure.gate import gate
from wirespeed.measure.generator_limit import offered_at_best
from wirespeed.measure.interface import Listener, MeasureError, Measurer, Progress
from wirespeed.measure.journal import Journal, Moved
from wirespeed.measure.operating_point import OperatingPoint, operating_point
from wirespeed.measure.windows import (
    drained,
    gated,
    geometry_of,
    is_quiet,
    trial_series,
    why_disturbed,
)
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.rfc2544 import FINAL_S

# A load that a generator without noise did not offer in full twice in a row is beyond it.
SHORT_IN_A_ROW = 2
# Counters that contradict each other once were misread; this often in a row they are unreadable.
FAULTY_IN_A_ROW = 3
# After this many fully extended loads without a verdict, the next one gets none either. A search
# with a time limit goes on: noise comes and goes within it.
UNDECIDED_IN_A_ROW = 3
# With fewer unsent frames the offered load counts as the intended one.
MAX_UNSENT_RATIO = 0.002
JUDGING = frozenset({Stage.SEARCH, Stage.CONFIRM, Stage.CONSTANT})
# A trial that judges a load runs in pieces of at most this length where the CPUs move.
PIECE_S = 2.0
# A trial without any clean window uses this share of the extension.
LOST_TIME = 0.25
# A load under which queues stay full most of the time is so near the capacity that more pieces add
# nothing.
FULL_PIECES = 2


UNPLACED = "where its polling CPUs were is not known"


class NotMeasurable(MeasureError):
    """No trial gives a usable rate."""


class OutOfTime(MeasureError):
    """The search has used its time."""


class Undecided(MeasureError):
    """Too little of the time was clean to judge any load."""


class BeyondGenerator(MeasureError):
    """The generator cannot offer this load even without noise."""

    def __init__(self, load_fps: float, offered_fps: float) -> None:
        super().__init__(
            f"the generator offered {offered_fps:,.0f} frames/s at best, not {load_fps:,.0f}"
        )
        self.load_fps = load_fps
        self.offered_fps = offered_fps


@dataclass(slots=True)
class Prober:
    """Runs the trials of one search, and keeps them."""

    measure: Measurer
    listener: Listener
    width: float
    """Growth of queues that passes; changes once it is known how quiet this host is."""
    pdr_loss: float
    extension: float
    """Multiple of its length that a trial may take, all pieces together."""
    expected_s: float
    """Estimated time of the search's trials together, in s."""
    time_limit_s: float = math.inf
    """Limit of all trials of the search, in s, overheads included."""
    overload_fps: float = math.inf
    """The MRR, once roughly known. Above it the SUT drops frames anyway, so the longest stop that
    counts is that at the MRR.
    """
    whole: bool = False
    """True if whole trials count, noise included."""
    trials: list[Trial] = field(default_factory=list)
    """Trials of this placement."""
    points: list[OperatingPoint] = field(default_factory=list)
    undecided: int = 0
    """Number of loads in a row that could not be judged."""
    journal: Journal = field(default_factory=Journal)
    """Trials of all placements."""
    reserve_s: float = 0.0
    """Part of the time limit that is kept for trials that confirm, in s."""

    def at(self, load_fps: float, duration_s: float, stage: Stage = Stage.SEARCH) -> OperatingPoint:
        """Return the verdict on this load.

        A load that cannot be judged fails, so that the search goes on below it, where queues drain
        sooner. A second call with that load extends its trials. Raises Undecided (after several
        such loads, where no time limit ends the search), OutOfTime, NotMeasurable, BeyondGenerator.
        """
        self.check_time(self.reserve_s if stage is Stage.SEARCH else 0.0)
        pieces, before = self._unjudged(load_fps), len(self._unjudged(load_fps))
        while True:
            lengths = self._lengths(load_fps, duration_s, stage)
            ran = [self.usable(load_fps, piece_s, stage) for piece_s in lengths]
            pieces += [trial for trial in ran if not trial.moved]
            if not pieces:
                continue
            point = operating_point(load_fps, pieces, self.width, self.pdr_loss, whole=self.whole)
            if (
                point.decided
                or self._used(pieces[before:], duration_s) >= self.extension
                or self.out_of_time
            ):
                break
        self.points.append(point)
        self.undecided = 0 if point.decided else self.undecided + 1
        if self.undecided == UNDECIDED_IN_A_ROW and math.isinf(self.time_limit_s):
            raise Undecided(_undecided(point))
        return point

    def judging(self, load_fps: float) -> list[Trial]:
        """Return all trials by which a load is judged, those of a search and fresh ones.

        Trials during which the CPUs moved are excluded.
        """
        return [
            trial
            for trial in self.trials
            if trial.stage in JUDGING
            and trial.fault is None
            and not trial.moved
            and trial.intended_load_fps == load_fps
        ]

    def _lengths(self, load_fps: float, duration_s: float, stage: Stage) -> tuple[float, ...]:
        """Return the lengths of the pieces that a trial runs in, in s.

        Where the CPUs move, a long trial is split, so that a move costs one piece. RFC 2544's final
        trials stay whole.
        """
        whole = (load_fps, duration_s, stage)
        if not _splits(duration_s, stage) or not self.journal.moved or self.journal.knows(whole):
            return (duration_s,)
        count = math.ceil(duration_s / PIECE_S)
        return (duration_s / count,) * count

    def _used(self, pieces: Sequence[Trial], duration_s: float) -> float:
        """Return how much of its extension a load has used."""
        return sum(piece.duration_s / duration_s * self._weight(piece) for piece in pieces)

    def _weight(self, piece: Trial) -> float:
        """Return how many of its extensions a piece counts for."""
        gated = piece.gated
        if gated is None or not gated.steady_windows:
            return LOST_TIME
        undrained = gated.steady_windows - gated.clean_windows
        return self.extension / FULL_PIECES if undrained > gated.windows / 2 else 1.0

    def _unjudged(self, load_fps: float) -> list[Trial]:
        """Return the trials of the last attempt at a load, if it could not be judged."""
        last = next((p for p in reversed(self.points) if p.load_fps == load_fps), None)
        return [] if last is None or last.decided else list(last.trials)

    def usable(
        self,
        load_fps: float,
        duration_s: float,
        stage: Stage,
        pause_load_fps: float | None = None,
    ) -> Trial:
        """Run one trial with consistent counters, its load offered, and CPUs that did not move.

        Noise does not matter. A trial that at() splits is returned although the CPUs moved.
        pause_load_fps: see windows.geometry_of. Raises NotMeasurable, BeyondGenerator or OutOfTime.
        """
        short: list[float] = []
        faults = 0
        while True:
            trial = self.once(load_fps, duration_s, stage, len(short) + faults, pause_load_fps)
            offered_fps = offered_at_best(trial.observation)
            at = trial.observation.placement
            if stage is Stage.LATENCY and trial.moved and at is not None:
                raise Moved(at[1].placed)
            if trial.moved and stage is not Stage.AS_IS and not _splits(duration_s, stage):
                continue  # the journal ends a series of these
            if trial.fault is not None:
                faults += 1
                if faults == FAULTY_IN_A_ROW:
                    raise NotMeasurable(f"{FAULTY_IN_A_ROW} trials in a row: {trial.fault}")
            elif offered_fps < (1 - MAX_UNSENT_RATIO) * trial.intended_load_fps:
                short.append(offered_fps)
                if len(short) == SHORT_IN_A_ROW:
                    raise BeyondGenerator(load_fps, max(short))
            else:
                return trial

    def once(
        self,
        load_fps: float,
        duration_s: float,
        stage: Stage,
        attempt: int = 0,
        pause_load_fps: float | None = None,
    ) -> Trial:
        """Run one trial, usable or not."""
        key = (load_fps, duration_s, stage)
        if (known := self.journal.known(key)) is not None:
            trial = self._judged(known.observation, stage, pause_load_fps)
            self.trials.append(trial)
            return trial
        if self.journal.frozen:
            raise OutOfTime("no further trial ran in this placement")
        self.listener.progress(Progress(stage, load_fps, duration_s, attempt, self._left_s()))
        observation = with_unknown_drop(_finite(self.measure(load_fps, duration_s)))
        trial = self._judged(observation, stage, pause_load_fps)
        self.listener.trial(trial)
        try:
            self.journal.add(key, trial)
        except Moved:
            if self.out_of_time and stage is not Stage.LATENCY:
                self.check_time()  # no time is left for the search of the other placement
            raise
        self.trials.append(trial)
        return trial

    def _judged(
        self, observation: Observation, stage: Stage, pause_load_fps: float | None
    ) -> Trial:
        bounding_fps = min(pause_load_fps or observation.intended_load_fps, self.overload_fps)
        trial = judged(observation, stage, self.width, bounding_fps)
        unplaced = observation.placement is None and self.journal.placed is not None
        if unplaced and trial.fault is None:
            return replace(trial, quiet=False, gated=None, fault=UNPLACED)
        return trial

    @property
    def pdr_limit(self) -> float:
        """Loss ratio that passes as PDR; at least the resolution of loads here."""
        return self.pdr_loss if self.whole else max(self.pdr_loss, self.width)

    def check_time(self, reserve_s: float = 0.0) -> None:
        """Raise OutOfTime where no more than reserve_s is left, in s."""
        if self._over(reserve_s):
            raise OutOfTime(
                f"the time limit of {self.time_limit_s:g} s (search.time_limit_s) was over"
            )

    @property
    def out_of_time(self) -> bool:
        """Return whether the search must end."""
        return self._over(0.0)

    def _over(self, reserve_s: float) -> bool:
        return not self.journal.replaying and self.spent_s >= self.time_limit_s - reserve_s

    @property
    def remaining_s(self) -> float:
        """Time that the search may still take; 0 when it is over."""
        return max(0.0, self.time_limit_s - self.spent_s)

    @property
    def spent_s(self) -> float:
        """Time of the trials of all placements, in s."""
        return self.journal.spent_s

    def _left_s(self) -> float:
        """Estimate what is left of expected_s, with overheads and extensions as so far."""
        traffic_s = sum(trial.duration_s for trial in self.trials)
        pace = self.spent_s / traffic_s if traffic_s else 1.0
        left_s = max(0.0, self.expected_s - traffic_s) * pace
        return min(left_s, self.remaining_s)


def _splits(duration_s: float, stage: Stage) -> bool:
    """Return whether a trial runs in pieces where the CPUs move."""
    return stage in JUDGING and PIECE_S < duration_s < FINAL_S


def judged(observation: Observation, stage: Stage, width: float, bounding_fps: float) -> Trial:
    """Judge a trial: which of its time counts is decided before its loss is read."""
    fault = _contradiction(observation)
    if fault is not None:
        return Trial(observation, stage, quiet=False, fault=fault)
    geometry = geometry_of(observation, width, bounding_fps)
    mask = gate(observation.evidence, geometry, drained(observation, geometry))
    quiet = is_quiet(observation, mask)
    return Trial(
        observation,
        stage,
        quiet,
        disturbed=None if quiet else why_disturbed(mask, observation.evidence),
        gated=gated(observation, mask, geometry),
        series=trial_series(observation, mask),
    )


def _contradiction(observation: Observation) -> str | None:
    for direction in observation.directions:
        if direction.received > direction.offered:
            return (
                f"the counters contradict each other: direction {direction.name} received "
                f"{direction.received} of {direction.offered} offered frames"
            )
    return None


def _undecided(point: OperatingPoint) -> str:
    seconds = sum(trial.duration_s for trial in point.trials)
    why = next((trial.disturbed for trial in reversed(point.trials) if trial.disturbed), "")
    return (
        f"at {point.load_fps:,.0f} frames/s {point.verdict.windows} clean windows in "
        f"{seconds:.2g} s are too few to judge it{f' ({why})' if why else ''}"
    )


def _finite(observation: Observation) -> Observation:
    """Replace the unlimited intended load of a trial by the offered rate."""
    if math.isfinite(observation.intended_load_fps):
        return observation
    return replace(
        observation, intended_load_fps=observation.total("offered") / observation.duration_s
    )
