# SPDX-License-Identifier: Apache-2.0
"""Derive bounds from the loads judged so far, for a finished or an unfinished search."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from statistics import median_high

from wirespeed.measure.operating_point import OperatingPoint
from wirespeed.measure.prober import Prober
from wirespeed.measure.search.interface import Figures
from wirespeed.model.result.result import Interval


def so_far(prober: Prober) -> Figures:
    """Return the bounds known by now, for searches that had to stop early."""
    return Figures(
        ndr=known_interval(prober.points, 0.0), pdr=known_interval(prober.points, prober.pdr_limit)
    )


def known_interval(points: Sequence[OperatingPoint], goal: float) -> Interval | None:
    """Return the highest load that met the goal, below the lowest that missed it.

    Of several verdicts on one load the median decides, the worse one of two. None: no load was
    judged.
    """
    at: defaultdict[float, list[OperatingPoint]] = defaultdict(list)
    for point in points:
        if point.decided:
            at[point.load_fps].append(point)
    if not at:
        return None
    exceeded = {load: median_high(p.exceeded for p in judged) for load, judged in at.items()}
    upper_fps = min((load for load, loss in exceeded.items() if loss > goal), default=math.inf)
    lower_fps = max((load for load in exceeded if load < upper_fps), default=None)
    return Interval(
        at[lower_fps][-1].bound if lower_fps is not None else None,
        at[upper_fps][-1].bound if upper_fps < math.inf else None,
    )


def without_unjudged(figures: Figures, prober: Prober) -> Figures:
    """Return the figures without bounds that were never judged.

    A search goes on below an unjudged load as if it had failed, but it is no upper bound.
    """
    judged = {point.load_fps for point in prober.points if point.decided}
    unjudged = sorted({point.load_fps for point in prober.points} - judged)
    if not unjudged:
        return figures
    ndr = _judged(figures.ndr, prober, 0.0)
    pdr = _judged(figures.pdr, prober, prober.pdr_limit)
    loads = ", ".join(f"{load_fps:,.0f}" for load_fps in unjudged)
    note = f"too little of the time was clean to judge {loads} frames/s"
    return replace(figures, ndr=ndr, pdr=pdr, notes=(*figures.notes, note))


def in_order(figures: Figures, prober: Prober) -> Figures:
    """Return the figures with a PDR of at least the NDR, at both ends.

    A load that loses nothing meets the PDR's goal, and one that misses it misses the NDR's. Fresh
    trials may raise an NDR above what the search found for the PDR.
    """
    ndr, pdr = figures.ndr, figures.pdr
    if ndr is None or pdr is None or ndr.lower is None:
        return figures
    if pdr.lower is None or pdr.lower.load_fps < ndr.lower.load_fps:
        pdr = _judged(Interval(ndr.lower, pdr.upper), prober, prober.pdr_limit)
    high = pdr.upper if pdr is not None else None
    if high is not None and (ndr.upper is None or high.load_fps < ndr.upper.load_fps):
        ndr = Interval(ndr.lower, high)
    return replace(figures, ndr=ndr, pdr=pdr)


def _judged(interval: Interval | None, prober: Prober, goal: float) -> Interval | None:
    """Replace an unjudged upper bound by the lowest load that was judged and failed."""
    if interval is None or interval.upper is None:
        return interval
    lower_fps = interval.lower.load_fps if interval.lower else 0.0
    failed = [
        point
        for point in prober.points
        if point.decided and point.exceeded > goal and point.load_fps > lower_fps
    ]
    if any(point.load_fps == interval.upper.load_fps for point in failed):
        return interval
    lowest = min(failed, key=lambda point: point.load_fps, default=None)
    return Interval(interval.lower, lowest.bound if lowest else None)
