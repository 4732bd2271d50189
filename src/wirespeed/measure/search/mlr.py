# SPDX-License-Identifier: Apache-2.0
"""What are NDR and PDR, found in one search that spends long trials only near them?

MLRsearch, draft-ietf-bmwg-mlrsearch, as implemented by its authors (PyPI MLRsearch, Apache-2.0).
A load is a lower bound when at most `exceed_ratio` of its trial time lost more than the goal
allows, so that a stray loss does not decide alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import median_high

from MLRsearch import (
    AbstractMeasurer,
    Config,
    GoalResult,
    MeasurementResult,
    MultipleLossRatioSearch,
    SearchGoal,
)

from wirespeed.measure.prober import Moved, OutOfTime, Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result import Bound, Interval
from wirespeed.model.trial import Trial

# How much longer than its final bounds a search takes, for the estimate of the time left.
NARROWING = 1.5


@dataclass(frozen=True, slots=True)
class Mlr:
    """Times in seconds. width: stop when the bounds are this close, relative to the upper.

    A load is judged by trials of trial_s that add up to duration_sum_s (or sooner, once the rest
    cannot change the verdict); the search narrows down with trials that start at first_trial_s.
    """

    first_trial_s: float
    trial_s: float
    duration_sum_s: float
    exceed_ratio: float
    width: float
    pdr_loss: float

    @property
    def conformant(self) -> bool:
        # RFC 2544 section 24 and 26.1: 60 s, and not one frame lost.
        return self.trial_s >= 60.0 and self.exceed_ratio == 0.0

    @property
    def expected_s(self) -> float:
        decisive_s = max(self.trial_s, self.duration_sum_s * max(self.exceed_ratio, 0.5))
        return 4 * decisive_s * NARROWING

    def find(self, prober: Prober, limits: Limits) -> Figures:
        ndr_goal, pdr_goal = self._goal(0.0), self._goal(self.pdr_loss)
        config = Config()
        config.goals = (ndr_goal, pdr_goal)
        # The defaults lie between these two; set the one first that cannot cross them.
        config.max_load = max(limits.max_fps, config.max_load)
        config.min_load = limits.min_fps
        config.max_load = limits.max_fps
        config.warmup_duration = None
        # The number of trials is bounded by the widths; wall time is not ours to read.
        config.search_duration_max = math.inf
        measurer = _Measurer(prober)
        try:
            found = MultipleLossRatioSearch(config=config).search(measurer, debug=_quiet)
        except (OutOfTime, Moved) as ended:
            if isinstance(ended, Moved) and prober.may_begin_again:
                raise
            return self._so_far(measurer, ended)
        return Figures(
            ndr=measurer.interval(found[ndr_goal]), pdr=measurer.interval(found[pdr_goal])
        )

    def _so_far(self, measurer: _Measurer, ended: OutOfTime | Moved) -> Figures:
        """What the trials say by now. Raises `ended` where no load has passed."""
        ndr, pdr = measurer.so_far(0.0), measurer.so_far(self.pdr_loss)
        if ndr.lower is None and pdr.lower is None:
            raise ended
        return Figures(
            ndr=ndr,
            pdr=pdr,
            notes=(f"{ended.what}: some bounds rest on fewer trials, and lie farther apart",),
        )

    def _goal(self, loss_ratio: float) -> SearchGoal:
        return SearchGoal(
            loss_ratio=loss_ratio,
            exceed_ratio=self.exceed_ratio,
            relative_width=self.width,
            initial_trial_duration=min(self.first_trial_s, self.trial_s),
            final_trial_duration=self.trial_s,
            duration_sum=max(self.duration_sum_s, self.trial_s),
            preceding_targets=2,
            expansion_coefficient=2,
            fail_fast=False,
        )


class _Measurer(AbstractMeasurer):  # type: ignore[misc]  # the package has no types
    """Gives MLRsearch valid trials only. Frames that were not offered are no loss of the SUT, so
    they are left out of the count that the loss ratio divides by."""

    def __init__(self, prober: Prober) -> None:
        self._prober = prober
        self._trials: defaultdict[float, list[Trial]] = defaultdict(list)

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        trial = self._prober.valid(intended_load, intended_duration)
        self._trials[intended_load].append(trial)
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=trial.offered,
            forwarding_count=trial.received,
            intended_count=trial.offered,
        )

    def so_far(self, loss_ratio: float) -> Interval:
        """The highest load that met the goal, below the lowest that missed it; half of its trials
        decide. The lower bound's loss is the median one."""
        medians = {
            load_fps: median_high(t.loss_ratio for t in trials)
            for load_fps, trials in self._trials.items()
        }
        upper_fps = min((x for x, loss in medians.items() if loss > loss_ratio), default=math.inf)
        lower_fps = max((x for x in medians if x < upper_fps), default=None)
        lower = None
        if lower_fps is not None:
            lower = Bound(lower_fps, lower_fps * (1.0 - medians[lower_fps]), medians[lower_fps])
        return Interval(lower, self._bound(upper_fps) if upper_fps < math.inf else None)

    def _bound(self, load_fps: float) -> Bound:
        """With the loss of all trials at that load together."""
        trials = self._trials[load_fps]
        loss_ratio = sum(t.lost for t in trials) / sum(t.offered for t in trials)
        return Bound(load_fps, load_fps * (1.0 - loss_ratio), loss_ratio)

    def interval(self, found: GoalResult) -> Interval:
        """MLRsearch's relevant bounds, each with what was seen at its load.

        The lower bound's loss is the quantile that the exceed ratio picks among its trials (the
        conditional throughput of the draft); the upper's is that of all its trials together.
        """
        lower = upper = None
        if (stat := found.relevant_lower_bound) is not None:
            load_fps = float(stat)
            forwarding_fps = float(found.conditional_throughput)
            lower = Bound(load_fps, forwarding_fps, 1.0 - forwarding_fps / load_fps)
        if (stat := found.relevant_upper_bound) is not None:
            upper = self._bound(float(stat))
        return Interval(lower, upper)


def _quiet(_: str) -> None:
    """MLRsearch narrates every step; the listener hears of trials instead."""
