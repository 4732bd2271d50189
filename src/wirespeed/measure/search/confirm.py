# SPDX-License-Identifier: Apache-2.0
"""Confirm an NDR by fresh trials, which the search that found it did not use.

A search that stops at the first success tends to stop at a lucky one. A load stands if fresh trials
pass there, and all trials at it together, with noise shown to explain what whole trials lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from wirespeed.measure.bounds import known_interval
from wirespeed.measure.operating_point import OperatingPoint
from wirespeed.measure.prober import BeyondGenerator, NotMeasurable, OutOfTime, Prober, Undecided
from wirespeed.measure.proof import NOT_NOISE, NOT_SHOWN, refuted
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.model.result.result import Bound, Interval
from wirespeed.model.result.trial import Stage

VOTES: Final = 3
"""Fresh trials of which two decide, after one that failed."""
CONFIRMATIONS: Final = 6
"""Verdicts on fresh trials, at most, before the NDR counts as unconfirmed."""
LOOSE: Final = 4
"""Widths between the bounds above which a confirmed load is raised again."""
ENDS: Final = (OutOfTime, Undecided, NotMeasurable, BeyondGenerator)
"""Errors after which no further trial can run at the load that was asked for."""


def confirmed(
    prober: Prober, limits: Limits, found: Figures, width: float, trial_s: float
) -> Figures:
    """Return the NDR at the load found, or at the next lower one that fresh trials confirm.

    width: relative resolution of the search. trial_s: length of a fresh trial. A load that cannot
    be judged is lowered too: below it queues drain sooner.
    """
    ndr = found.ndr
    if ndr is None or ndr.lower is None:
        return found
    found_fps, upper = ndr.lower.load_fps, ndr.upper
    load_fps, step = found_fps, width
    passed: Bound | None = None
    why: str | None = None
    for _ in range(CONFIRMATIONS):
        try:
            point = _fresh(prober, load_fps, trial_s)
        except (OutOfTime, Undecided, NotMeasurable) as ended:
            if passed is not None:
                break
            return _unconfirmed(prober, found, upper, ended.what)
        why = _why_not(prober, point)
        passed = point.bound if why in (None, NOT_SHOWN, NOT_NOISE) else None
        if why in (None, NOT_NOISE) or load_fps <= limits.min_fps:
            break
        if why is NOT_SHOWN:
            continue  # more trials at this load may show that noise took the frames
        if point.decided:
            upper = point.bound
        load_fps, step = max(limits.min_fps, load_fps * (1 - step)), 2 * step
    if passed is not None:
        ndr = Interval(passed, upper)
        return replace(found, ndr=ndr if why else _raised(prober, limits, ndr, width, trial_s))
    note = f"no load below {found_fps:,.0f} frames/s passed a fresh trial: {why}"
    return replace(found, ndr=Interval(None, upper), notes=(*found.notes, note), unconfirmed=note)


def _why_not(prober: Prober, point: OperatingPoint) -> str | None:
    """Return why a load with this fresh verdict is no NDR; None where it is one."""
    if not point.decided:
        return f"too little of the time was clean at {point.load_fps:,.0f} frames/s"
    if point.exceeded:
        return f"a fresh trial failed at {point.load_fps:,.0f} frames/s"
    return refuted(prober.judging(point.load_fps), prober.width, prober.pdr_loss)


def _fresh(prober: Prober, load_fps: float, trial_s: float) -> OperatingPoint:
    """Return the verdict of a fresh trial.

    If it fails, more run until two of three agree. The median of those that could be judged
    decides, the worse one of two.
    """
    points = [prober.at(load_fps, trial_s, Stage.CONFIRM)]
    while points[-1].decided and points[0].exceeded and len(points) < VOTES:
        points.append(prober.at(load_fps, trial_s, Stage.CONFIRM))
        if points[-1].exceeded:
            break
    judged = [point for point in points if point.decided] or points
    return sorted(judged, key=lambda point: point.exceeded)[len(judged) // 2]


def _raised(
    prober: Prober, limits: Limits, ndr: Interval, width: float, trial_s: float
) -> Interval:
    """Return the NDR with bounds at most LOOSE widths apart, as far as the time reaches.

    Noise may have lowered a load that it did not let be judged.
    """
    assert ndr.lower is not None
    failed = [p.load_fps for p in prober.points if p.decided and p.exceeded]
    top_fps = min((f for f in failed if f > ndr.lower.load_fps), default=limits.max_fps)
    while 1 - ndr.lower.load_fps / top_fps > LOOSE * width:
        try:
            point = _fresh(prober, (ndr.lower.load_fps + top_fps) / 2, trial_s)
        except ENDS:
            break
        if _why_not(prober, point) is None:
            ndr = Interval(point.bound, ndr.upper)
            continue
        top_fps = point.load_fps
        if point.decided:
            ndr = Interval(ndr.lower, point.bound)
    return ndr


def _unconfirmed(prober: Prober, found: Figures, upper: Bound | None, why: str) -> Figures:
    """Return the NDR of the search, below the lowest load that a fresh trial failed."""
    ndr = found.ndr
    if upper is not None and (ndr is None or upper is not ndr.upper):
        below = [point for point in prober.points if point.load_fps < upper.load_fps]
        known = known_interval(below, 0.0)
        ndr = Interval(known.lower if known else None, upper)
    note = f"the NDR was not confirmed by a fresh trial: {why}"
    return replace(found, ndr=ndr, notes=(*found.notes, note), unconfirmed=note)
