# SPDX-License-Identifier: Apache-2.0
"""What follows from all trials of a search: two answers, a grade, and why it is no better?"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median_high

from wirespeed.measure.as_is import as_is, lossless
from wirespeed.measure.grade import because, grade_of, undisturbed
from wirespeed.measure.operating_point import OperatingPoint
from wirespeed.measure.presets import Preset
from wirespeed.measure.prober import Prober
from wirespeed.measure.search.interface import Figures
from wirespeed.measure.search.mrr import Overload
from wirespeed.model.result import Bracket, Grade, Interval, LatencyAtLoad, SearchResult
from wirespeed.model.spec import Search
from wirespeed.model.trial import Stage, Trial

# An overload that loses more than this loses it to no disturbance that a host survives.
OVERLOADED = 0.2


@dataclass(slots=True)
class Found:
    """What is known so far; a search that has to stop early leaves the rest empty."""

    figures: Figures = field(default_factory=Figures)
    overload: Overload | None = None
    max_load_fps: float | None = None
    by_generator: bool = False
    latency: tuple[LatencyAtLoad, ...] = ()
    notes: tuple[str, ...] = ()


def so_far(prober: Prober) -> Figures:
    """The bounds that the loads judged by now give: half of a load's verdicts decide."""
    at: defaultdict[float, list[OperatingPoint]] = defaultdict(list)
    for point in prober.points:
        at[point.load_fps].append(point)
    return Figures(ndr=_interval(at, 0.0), pdr=_interval(at, prober.pdr_loss))


def _interval(at: dict[float, list[OperatingPoint]], goal: float) -> Interval:
    """The highest load that met the goal, below the lowest that missed it."""
    exceeded = {load: median_high(p.exceeded for p in points) for load, points in at.items()}
    upper_fps = min((load for load, loss in exceeded.items() if loss > goal), default=math.inf)
    lower_fps = max((load for load in exceeded if load < upper_fps), default=None)
    return Interval(
        at[lower_fps][-1].bound if lower_fps is not None else None,
        at[upper_fps][-1].bound if upper_fps < math.inf else None,
    )


def conclude(
    search: Search, preset: Preset, prober: Prober, found: Found, why: str | None
) -> SearchResult:
    """The result. why: what ended the search without any figure, if anything did."""
    figures = found.figures
    mrr_fps = found.overload.received_fps if found.overload is not None else None
    if prober.whole:
        figures = replace(figures, ndr=None, pdr=None)
    mrr_fps, figures = _consistent(mrr_fps, figures)
    load_fps, deciding = _deciding(prober, figures, mrr_fps, found)
    rests_on = None
    if load_fps is not None and not prober.whole:
        rests_on = undisturbed(load_fps, deciding, prober.width, prober.pdr_loss)
    shortest_s = preset.as_is_trial_s or 0.0
    whole_mrr_fps = found.overload.whole_fps if found.overload is not None else None
    answer = as_is(prober.trials, whole_mrr_fps, load_fps, shortest_s)
    bracket = _bracket(prober, found, shortest_s) if _wants_ndr(preset, figures) else None
    grade = None
    if rests_on is not None and bracket is None:
        grade = grade_of(deciding)
    elif answer.mrr_fps is not None or answer.lossless_fps is not None or figures.constant:
        grade = Grade.D
    usable = [trial for trial in prober.trials if trial.fault is None]
    if why is not None and grade is not None and usable:
        found.notes += (why,)
        why = None
    return SearchResult(
        search=search.kind.value,
        conformant=preset.conformant and grade is Grade.A,
        trials=tuple(prober.trials),
        ndr=figures.ndr if bracket is None else None,
        pdr=figures.pdr,
        mrr_fps=mrr_fps,
        limited_by=_limited_by(prober, figures, found),
        not_measurable=(why or "no trial could be used") if grade is None else None,
        latency=found.latency,
        constant=figures.constant,
        back_to_back=figures.back_to_back,
        max_load_fps=found.max_load_fps,
        notes=figures.notes + found.notes,
        grade=grade,
        because=because(grade, deciding or usable, usable) if grade is not None else (),
        undisturbed=rests_on,
        as_is=answer,
        bracket=bracket,
        mrr_error=found.overload.error if found.overload is not None else 0.0,
    )


def _wants_ndr(preset: Preset, figures: Figures) -> bool:
    """Whether an NDR was looked for and not found."""
    if preset.search is None or figures.constant is not None:
        return False
    return figures.ndr is None or figures.ndr.lower is None


def _consistent(mrr_fps: float | None, figures: Figures) -> tuple[float | None, Figures]:
    """The MRR is the most that was received: a load that passed above it has been received as well.
    A PDR bears loss, so its load may exceed what is received; it counts up to the MRR."""
    ndr, pdr = figures.ndr, figures.pdr
    if mrr_fps is None:
        return None, figures
    if ndr is not None and ndr.lower is not None:
        mrr_fps = max(mrr_fps, ndr.lower.load_fps)
    if pdr is not None and pdr.lower is not None and pdr.lower.load_fps > mrr_fps:
        lower = replace(pdr.lower, load_fps=mrr_fps)
        figures = replace(figures, pdr=Interval(lower, pdr.upper))
    return mrr_fps, figures


def _deciding(
    prober: Prober, figures: Figures, mrr_fps: float | None, found: Found
) -> tuple[float | None, Sequence[Trial]]:
    """The load that the point stands for, and the trials there."""
    if figures.constant is not None:
        load_fps = figures.constant.load_fps
    elif figures.ndr is not None and figures.ndr.lower is not None:
        load_fps = figures.ndr.lower.load_fps
    elif mrr_fps is not None and found.overload is not None:
        return mrr_fps, found.overload.trials
    else:
        return None, ()
    counted = (Stage.SEARCH, Stage.CONFIRM, Stage.CONSTANT)
    return load_fps, [
        trial
        for trial in prober.trials
        if trial.stage in counted and trial.fault is None and trial.intended_load_fps == load_fps
    ]


def _bracket(prober: Prober, found: Found, shortest_s: float) -> Bracket:
    failed = [p.load_fps for p in prober.points if p.exceeded > 0 and not p.whole and p.decided]
    flooded = [
        trial.intended_load_fps
        for trial in (found.overload.trials if found.overload is not None else ())
        if trial.loss_ratio > OVERLOADED
    ]
    return Bracket(lossless(prober.trials, shortest_s)[0], min([*failed, *flooded], default=None))


def _limited_by(prober: Prober, figures: Figures, found: Found) -> str | None:
    for trial in prober.trials:
        if trial.seen.limited_by is not None:
            return trial.seen.limited_by
    intervals = [i for i in (figures.ndr, figures.pdr) if i is not None]
    if any(i.upper is None for i in intervals):
        return "generator" if found.by_generator else "max_load"
    return None
