# SPDX-License-Identifier: Apache-2.0
"""How uncertain is a figure of a run: width of the search, growth of queues, scatter?"""

from __future__ import annotations

import math
import statistics

from wirespeed.model.result import Interval
from wirespeed.model.trial import Stage, Trial
from wirespeed.store.records import PointRecord


def uncertainty(point: PointRecord, figure: str) -> float:
    """Half of the 95% confidence interval, relative to the figure."""
    result = point.result
    if result is None:
        return 0.0
    if figure == "MRR":
        return 2 * (result.mrr_error or _scatter(point, Stage.MRR))
    if figure == "constant":
        return 2 * _scatter(point, Stage.CONSTANT)
    # 1 and more: growth is not known, as where frames carry no time stamp.
    growth = result.undisturbed.growth_error if result.undisturbed is not None else 0.0
    interval = result.ndr if figure == "NDR" else result.pdr
    return _half_width(interval) + (growth if growth < 1 else 0.0)


def _half_width(interval: Interval | None) -> float:
    if interval is None or interval.lower is None or interval.upper is None:
        return 0.0
    return (interval.upper.load_fps - interval.lower.load_fps) / (2 * interval.lower.load_fps)


def _scatter(point: PointRecord, stage: Stage) -> float:
    """The standard error of what the trials of that stage forwarded, relative to their mean."""
    rates = [
        rate
        for stored in point.trials
        if stored.trial.stage is stage and (rate := _forwarded(stored.trial)) is not None
    ]
    if len(rates) < 2 or not any(rates):
        return 0.0
    return statistics.stdev(rates) / statistics.fmean(rates) / math.sqrt(len(rates))


def _forwarded(trial: Trial) -> float | None:
    """The rate in undisturbed time, or of a quiet trial; None where there is none."""
    if trial.quiet:
        return trial.forwarding_fps
    return trial.gated.receive_fps if trial.gated is not None else None
