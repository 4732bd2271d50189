# SPDX-License-Identifier: Apache-2.0
"""Run the package MLRsearch for the goals in mlr.py.

The package gets the prober's verdict as the result of each trial. The duration is the requested
one, however long it took to have enough clean time. The frames forwarded are those offered, without
lost ones and without those by which queues grew (OperatingPoint.exceeded).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from MLRsearch import (
    AbstractMeasurer,
    Config,
    GoalResult,
    MeasurementResult,
    MultipleLossRatioSearch,
    SearchGoal,
)

from wirespeed.measure.operating_point import OperatingPoint
from wirespeed.measure.prober import Prober
from wirespeed.measure.search.interface import Limits
from wirespeed.model.result.result import Interval


def intervals(
    prober: Prober, limits: Limits, loss_ratios: Sequence[float], **trials: float
) -> tuple[Interval, ...]:
    """Return the bounds of a goal for each loss ratio. trials: see SearchGoal; durations in s."""
    goals = tuple(
        SearchGoal(
            loss_ratio=loss_ratio,
            preceding_targets=2,
            expansion_coefficient=2,
            fail_fast=False,
            **trials,
        )
        for loss_ratio in loss_ratios
    )
    config = Config()
    config.goals = goals
    # The defaults lie between these two; set the one first that cannot cross them.
    config.max_load = max(limits.max_fps, config.max_load)
    config.min_load = limits.min_fps
    config.max_load = limits.max_fps
    config.warmup_duration = None
    # The widths bound the number of trials; nothing here reads the wall clock.
    config.search_duration_max = math.inf
    measurer = _Measurer(prober)
    found = MultipleLossRatioSearch(config=config).search(measurer, debug=_quiet)
    return tuple(measurer.interval(found[goal]) for goal in goals)


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
        """Return MLRsearch's relevant bounds, each with the last verdict on it."""
        lower, upper = found.relevant_lower_bound, found.relevant_upper_bound
        return Interval(
            None if lower is None else self._points[float(lower)].bound,
            None if upper is None else self._points[float(upper)].bound,
        )


def _quiet(_: str) -> None:
    """Drop MLRsearch's own progress messages; the listener gets the trials instead."""
