# SPDX-License-Identifier: Apache-2.0
"""Split a point where settings changed: its rates rest on trials of one configuration.

A trial that found a change belongs to neither side, as nobody knows when in it the change came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wirespeed.measure.bounds import known_interval
from wirespeed.measure.found import Found
from wirespeed.measure.operating_point import OperatingPoint, operating_point
from wirespeed.measure.prober import JUDGING, Prober
from wirespeed.model.result.result import Interval, lower_fps
from wirespeed.model.result.trial import Stage, Trial

NEITHER_SIDE = "settings changed: neither the trials before it nor those after it decide a rate"
BURSTS_APART = "no back-to-back burst: settings changed between the bursts, or before them"


def changed(trial: Trial) -> bool:
    """Return whether the trial found a change that makes another configuration."""
    return any(change.splits for change in trial.observation.changes)


def end_side(trials: Sequence[Trial]) -> Sequence[Trial]:
    """Return the trials of the configuration in which the search ended; all without a change.

    None of them where settings changed with the trial that ended it.
    """
    sides: list[list[Trial]] = [[]]
    ended: list[Trial] = []
    last = _last(trials)
    for trial in trials:
        if changed(trial):
            sides.append([])
        else:
            sides[-1].append(trial)
        if trial is last:
            ended = [] if changed(trial) else sides[-1]
    return ended if len(sides) > 1 else trials


def _last(trials: Sequence[Trial]) -> Trial | None:
    """Return the trial that ended the search: the last that judged a load, or of the MRR."""
    for stages in (JUDGING, {Stage.MRR}):
        of_them = [trial for trial in trials if trial.stage in stages]
        if of_them:
            return of_them[-1]
    return None


def on_one_side(prober: Prober, found: Found) -> tuple[Prober, Found]:
    """Return what was found without the trials of other configurations; the same without a change.

    The NDR stands where its load passes by the trials of the side alone.
    """
    everything = prober.journal.trials
    side = end_side(everything)
    if side is everything:
        return prober, found
    kept = {id(trial.observation) for trial in side}
    trials = [trial for trial in prober.trials if id(trial.observation) in kept]
    one = replace(prober, trials=trials, points=_points(prober, trials))
    figures, was = found.figures, found.figures.ndr
    ndr = _standing(one.points, was, 0.0)
    pdr = _standing(one.points, figures.pdr, prober.pdr_limit)
    constant = next((p.bound for p in one.points if figures.constant is not None), None)
    burst = figures.back_to_back
    apart = any(id(t.observation) not in kept for t in everything if t.stage is Stage.BURST)
    figures = replace(
        figures,
        back_to_back=None if apart else burst,
        notes=(*figures.notes, BURSTS_APART) if apart and burst is not None else figures.notes,
        ndr=ndr if was is not None else None,
        pdr=pdr if figures.pdr is not None else None,
        constant=constant,
        unconfirmed=figures.unconfirmed if lower_fps(ndr) == lower_fps(was) else NEITHER_SIDE,
    )
    overload = found.overload.among(trials) if found.overload is not None else None
    whole = all(id(t.observation) in kept for t in prober.trials if t.stage is Stage.LATENCY)
    latency = found.latency if whole else ()
    return one, replace(found, figures=figures, overload=overload, latency=latency)


def _standing(
    points: Sequence[OperatingPoint], was: Interval | None, goal: float
) -> Interval | None:
    """Return the bounds by these points; the lower one stays where its load passes by them."""
    known = known_interval(points, goal)
    own = next((p for p in points if p.load_fps == lower_fps(was) and p.decided), None)
    if known is None or own is None or own.exceeded > goal:
        return known
    if known.upper is not None and known.upper.load_fps < own.load_fps:
        return known
    return Interval(own.bound, known.upper)


def _points(prober: Prober, trials: list[Trial]) -> list[OperatingPoint]:
    """Judge each load by the trials of one side."""
    found, one = [], replace(prober, trials=trials)
    for load_fps in dict.fromkeys(point.load_fps for point in prober.points):
        if own := one.judging(load_fps):
            whole = any(p.whole for p in prober.points if p.load_fps == load_fps)
            point = operating_point(load_fps, own, prober.width, prober.pdr_loss, whole=whole)
            found.append(point)
    return found
