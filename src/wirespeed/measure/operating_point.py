# SPDX-License-Identifier: Apache-2.0
"""Judge whether one load passes, by all trials that ran at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from wirespeed.measure.verdict import Verdict, verdict
from wirespeed.model.result.result import Bound
from wirespeed.model.result.trial import Trial

# Loss ratio of a load that could not be judged: it fails, and the search goes on just below.
UNJUDGED = 0.05


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A load in frames/s over all directions, with its trial and that trial's extensions.

    exceeded: loss ratio to compare with a goal. It is 0 where the load passes the NDR's limits,
    else loss plus growth of the queues. Where trials count whole (all quiet, or without windows),
    not one frame may be missing.
    """

    load_fps: float
    trials: tuple[Trial, ...]
    verdict: Verdict
    whole: bool = False
    """True if all time of the trials counts, noise included."""

    @property
    def quiet(self) -> bool:
        return all(trial.quiet for trial in self.trials)

    @property
    def decided(self) -> bool:
        return self.whole or self.verdict.decided

    @property
    def whole_loss_ratio(self) -> float:
        offered = sum(trial.offered for trial in self.trials)
        return sum(trial.lost for trial in self.trials) / offered if offered else 0.0

    @property
    def exceeded(self) -> float:
        if self.whole:
            return self.whole_loss_ratio
        if not self.verdict.decided:
            return max(UNJUDGED, self.verdict.exceeded)
        strict = self.quiet or all(trial.observation.windows is None for trial in self.trials)
        return max(self._missing if strict else 0.0, self.verdict.exceeded)

    @property
    def _missing(self) -> float:
        """Share of frames lost in time that counts.

        What a quiet trial lost in the little time that it excludes costs the grade, not the load.
        """
        lost = sum(
            trial.lost
            if trial.gated is None or trial.gated.clean_share == 1.0
            else sum(run.lost for run in trial.gated.runs)
            for trial in self.trials
        )
        offered = sum(trial.offered for trial in self.trials)
        return lost / offered if offered else 0.0

    @property
    def offered(self) -> int:
        """Frames behind the verdict."""
        if self.whole or not self.verdict.offered:
            return sum(trial.offered for trial in self.trials)
        return self.verdict.offered

    @property
    def lost(self) -> int:
        """Frames behind the verdict that were lost, or are still in queues that grow."""
        return round(self.exceeded * self.offered) or (1 if self.exceeded else 0)

    @property
    def receive_fps(self) -> float | None:
        """Median rate of clean windows; None where there were none."""
        rates = [
            trial.gated.receive_fps
            for trial in self.trials
            if trial.gated is not None and trial.gated.receive_fps is not None
        ]
        return median(rates) if rates else None

    @property
    def bound(self) -> Bound:
        """The load as a bound of an interval."""
        return Bound(self.load_fps, self.load_fps * (1.0 - self.exceeded), self.exceeded)


def operating_point(
    load_fps: float, trials: Sequence[Trial], width: float, pdr_loss: float, *, whole: bool
) -> OperatingPoint:
    """Combine the trials at one load."""
    pieces = [trial.gated for trial in trials if trial.gated is not None]
    found = verdict(pieces, width, pdr_loss)
    return OperatingPoint(load_fps, tuple(trials), found, whole)
