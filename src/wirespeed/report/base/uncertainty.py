# SPDX-License-Identifier: Apache-2.0
"""Estimate the error of a rate: half of its 95% interval, relative to the rate."""

from __future__ import annotations

import math

from wirespeed.model.result.quantile import half_interval
from wirespeed.model.result.result import Interval, Undisturbed
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.store.records import PointRecord

# Both ends of a searched interval are certain: errors of two such rates add linearly.
_SEARCHED = ("NDR", "PDR")


def uncertainty(point: PointRecord, figure: str) -> float | None:
    """Return the error of NDR, PDR, MRR or constant; None where it is unknown.

    It is the width of the search and of its verdicts, or the scatter over trials.
    """
    result = point.result
    if result is None:
        return None
    if figure == "MRR":
        return result.mrr_half_interval or _scatter(point, Stage.MRR)
    if figure == "constant":
        return _scatter(point, Stage.CONSTANT)
    half = _half_width(result.ndr if figure == "NDR" else result.pdr)
    return None if half is None else half + _verdict_error(result.undisturbed)


def _verdict_error(basis: Undisturbed | None) -> float:
    """Return half of the range of loads that noise may let pass or fail.

    Queues may grow by the width of the verdict, and the error of that growth adds to it.
    """
    if basis is None:
        return 0.0
    # At 1 and above the growth is unknown, e.g. because frames carry no time stamp.
    return basis.width / 2 + (basis.growth_error if basis.growth_error < 1 else 0.0)


def combined(a: float | None, b: float | None, figure: str) -> float | None:
    """Return the error of a rate's difference between two runs; None where it is unknown."""
    if a is None or b is None:
        return None
    return a + b if figure in _SEARCHED else math.hypot(a, b)


def _half_width(interval: Interval | None) -> float | None:
    """Return half of the width; None where a bound is missing."""
    if interval is None or interval.lower is None or interval.upper is None:
        return None
    return (interval.upper.load_fps - interval.lower.load_fps) / (2 * interval.lower.load_fps)


def _scatter(point: PointRecord, stage: Stage) -> float | None:
    """Return the scatter of what the trials of that stage forwarded."""
    rates = [_forwarded(s.trial) for s in point.trials if s.trial.stage is stage]
    return half_interval([rate for rate in rates if rate is not None])


def _forwarded(trial: Trial) -> float | None:
    """Return the rate in clean time, or of a quiet trial; None where there is none."""
    if trial.quiet:
        return trial.forwarding_fps
    return trial.gated.receive_fps if trial.gated is not None else None
