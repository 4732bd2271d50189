# SPDX-License-Identifier: Apache-2.0
"""What are NDR and PDR, found in one search that spends long trials only near them?

MLRsearch, draft-ietf-bmwg-mlrsearch, as implemented by its authors (PyPI MLRsearch, Apache-2.0).
A load is a lower bound when at most `exceed_ratio` of its trial time lost more than the goal
allows, so that a stray loss does not decide alone. What it gets of a load is the prober's verdict:
goals are a loss ratio of 0 (NDR) and pdr_loss; the duration is the one it asked for, however long
it took to have enough undisturbed time; of the frames offered in that time it is told as forwarded
what neither went missing nor into growing queues (OperatingPoint.exceeded).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from MLRsearch import (
    AbstractMeasurer,
    Config,
    GoalResult,
    MeasurementResult,
    MultipleLossRatioSearch,
    SearchGoal,
)

from wirespeed.measure.bounds import known_interval
from wirespeed.measure.operating_point import OperatingPoint
from wirespeed.measure.prober import NotMeasurable, OutOfTime, Prober, Undecided
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result import Bound, Interval
from wirespeed.model.trial import Stage

# How much longer than its final bounds a search takes, for the estimate of the time left.
NARROWING = 1.5
# How often a found load that fails its confirmation is lowered before it is left at that.
VOTES = 3
CONFIRMATIONS = 6


@dataclass(frozen=True, slots=True)
class Mlr:
    """Times in seconds. width: stop when the bounds are this close, relative to the upper; never
    closer than the growth of queues that the prober lets pass.

    A load is judged by trials of trial_s that add up to duration_sum_s (or sooner, once the rest
    cannot change the verdict); the search narrows down with trials that start at first_trial_s. The
    NDR is confirmed by fresh trials of confirm_s: whatever stops at the first success picks
    winners.
    """

    first_trial_s: float
    trial_s: float
    duration_sum_s: float
    exceed_ratio: float
    width: float
    pdr_loss: float
    confirm_s: float

    @property
    def conformant(self) -> bool:
        # RFC 2544 section 24 and 26.1: 60 s, and not one frame lost.
        return self.trial_s >= 60.0 and self.exceed_ratio == 0.0

    @property
    def expected_s(self) -> float:
        decisive_s = max(self.trial_s, self.duration_sum_s * max(self.exceed_ratio, 0.5))
        return 4 * decisive_s * NARROWING

    def find(self, prober: Prober, limits: Limits) -> Figures:
        width = max(self.width, prober.width)
        ndr_goal, pdr_goal = self._goal(0.0, width), self._goal(prober.pdr_limit, width)
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
        found = MultipleLossRatioSearch(config=config).search(measurer, debug=_quiet)
        ndr, pdr = measurer.interval(found[ndr_goal]), measurer.interval(found[pdr_goal])
        return self._confirmed(prober, limits, Figures(ndr=ndr, pdr=pdr), width)

    def _confirmed(self, prober: Prober, limits: Limits, found: Figures, width: float) -> Figures:
        """The NDR after fresh trials passed there, or at the next load below where they do."""
        ndr = found.ndr
        if ndr is None or ndr.lower is None:
            return found
        load_fps, step = ndr.lower.load_fps, width
        upper = ndr.upper
        for _ in range(CONFIRMATIONS):
            try:
                point = self._fresh(prober, load_fps)
            except (OutOfTime, Undecided, NotMeasurable) as ended:
                return self._unconfirmed(prober, found, upper, ended.what)
            if not point.decided:
                why = f"too little of the time was undisturbed at {load_fps:,.0f} frames/s"
                return self._unconfirmed(prober, found, upper, why)
            if point.exceeded == 0.0:
                return replace(found, ndr=Interval(point.bound, upper))
            upper = point.bound
            if load_fps <= limits.min_fps:
                break
            load_fps, step = max(limits.min_fps, load_fps * (1 - step)), 2 * step
        note = f"no load below {ndr.lower.load_fps:,.0f} frames/s passed a fresh trial"
        return replace(found, ndr=Interval(None, upper), notes=(note,))

    def _fresh(self, prober: Prober, load_fps: float) -> OperatingPoint:
        """What a fresh trial says; one that does not pass is heard against two more. Of those that
        could be judged half decide: one that says nothing does not acquit."""
        points = [prober.at(load_fps, self.confirm_s, Stage.CONFIRM)]
        while points[-1].decided and points[0].exceeded and len(points) < VOTES:
            points.append(prober.at(load_fps, self.confirm_s, Stage.CONFIRM))
        heard = [point for point in points if point.decided] or points
        return sorted(heard, key=lambda point: point.exceeded)[len(heard) // 2]

    def _unconfirmed(
        self, prober: Prober, found: Figures, upper: Bound | None, why: str
    ) -> Figures:
        """The NDR as searched for, below whatever a fresh trial has refuted."""
        ndr = found.ndr
        if upper is not None and (ndr is None or upper is not ndr.upper):
            below = [point for point in prober.points if point.load_fps < upper.load_fps]
            known = known_interval(below, 0.0)
            ndr = Interval(known.lower if known else None, upper)
        note = f"the NDR was not confirmed by a fresh trial: {why}"
        return replace(found, ndr=ndr, notes=(note,))

    def _goal(self, loss_ratio: float, width: float) -> SearchGoal:
        return SearchGoal(
            loss_ratio=loss_ratio,
            exceed_ratio=self.exceed_ratio,
            relative_width=width,
            initial_trial_duration=min(self.first_trial_s, self.trial_s),
            final_trial_duration=self.trial_s,
            duration_sum=max(self.duration_sum_s, self.trial_s),
            preceding_targets=2,
            expansion_coefficient=2,
            fail_fast=False,
        )


class _Measurer(AbstractMeasurer):  # type: ignore[misc]  # the package has no types
    """Gives MLRsearch the prober's verdicts."""

    def __init__(self, prober: Prober) -> None:
        self._prober = prober
        self._points: dict[float, OperatingPoint] = {}

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        point = self._prober.at(intended_load, intended_duration)
        self._points[intended_load] = point
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=point.offered,
            forwarding_count=point.offered - point.lost,
            intended_count=point.offered,
        )

    def interval(self, found: GoalResult) -> Interval:
        """MLRsearch's relevant bounds, each with what was seen there last."""
        lower, upper = found.relevant_lower_bound, found.relevant_upper_bound
        return Interval(
            None if lower is None else self._points[float(lower)].bound,
            None if upper is None else self._points[float(upper)].bound,
        )


def _quiet(_: str) -> None:
    """MLRsearch narrates every step; the listener hears of trials instead."""
