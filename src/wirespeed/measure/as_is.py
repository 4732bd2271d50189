# SPDX-License-Identifier: Apache-2.0
"""Find what this host carries over all time: whole trials count, noise included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from wirespeed.measure.journal import Journal
from wirespeed.measure.prober import (
    MAX_UNSENT_RATIO,
    BeyondGenerator,
    NotMeasurable,
    Prober,
)
from wirespeed.measure.split import end_side
from wirespeed.model.cpus import placement_words
from wirespeed.model.result.result import AsIs, Grade, SearchResult, lower_fps
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.words import mpps

# Shares of the clean NDR that are tried, until a whole trial loses nothing.
SHARES = (0.9, 0.75, 0.6, 0.45, 0.3, 0.15)
_NOT_COUNTED = frozenset({Stage.WARM_UP, Stage.BURST})


def find_lossless(prober: Prober, full_fps: float, min_fps: float, trial_s: float) -> None:
    """Run trials below full_fps until one loses nothing; the prober keeps them.

    None runs if a trial near full_fps has lost nothing already.
    """
    known_fps = lossless(prober.trials, trial_s)[0] or 0.0
    for share in SHARES:
        load_fps = share * full_fps
        if load_fps <= max(known_fps, min_fps):
            return
        try:
            trial = prober.usable(load_fps, trial_s, Stage.AS_IS)
        except (NotMeasurable, BeyondGenerator):
            return
        if trial.lost == 0:
            return


def lossless(trials: Sequence[Trial], at_least_s: float) -> tuple[float | None, float | None]:
    """Return the highest load at which a whole trial lost nothing, and the trial's length.

    A trial counts if it is at least at_least_s long and offered its load in full.
    """
    whole = [
        trial
        for trial in trials
        if trial.stage not in _NOT_COUNTED
        and trial.fault is None
        and trial.lost == 0
        and trial.offered_fps >= (1 - MAX_UNSENT_RATIO) * trial.intended_load_fps > 0
        and trial.duration_s >= at_least_s
    ]
    best = max(whole, key=lambda trial: trial.intended_load_fps, default=None)
    return (best.intended_load_fps, best.duration_s) if best else (None, None)


def over_all_time(result: SearchResult, journal: Journal, at_least_s: float) -> SearchResult:
    """Return the result with the rates of all time, over trials of any placement."""
    if result.as_is is None or not journal.moved:
        return result
    side = end_side(journal.trials)
    overloads = [trial for trials in journal.overloads.values() for trial in trials]
    overloads = overloads or [t for t in side if t.stage is Stage.MRR and not t.fault]
    answer = as_is(side, overloads, result.as_is.load_fps, at_least_s)
    result = replace(
        result,
        as_is=answer,
        trials=tuple(journal.trials),
        notes=(*result.notes, *_lossless_elsewhere(result, side, answer)),
    )
    if result.grade is None and (answer.mrr_fps is not None or answer.lossless_fps is not None):
        return replace(result, grade=Grade.D, not_measurable=None)
    return result


def _lossless_elsewhere(result: SearchResult, side: Sequence[Trial], answer: AsIs) -> Iterator[str]:
    """Yield a note where the highest load without loss is above the rate, of other trials."""
    best = [t for t in side if t.intended_load_fps == answer.lossless_fps and not t.lost]
    least_fps = result.bracket.carried_fps if result.bracket is not None else lower_fps(result.ndr)
    above = answer.lossless_fps is not None and answer.lossless_fps > (least_fps or 0.0)
    if above and best and all(result.elsewhere(trial) for trial in best):
        placement = best[-1].placement
        where = (
            "while the CPUs moved" if placement is None else f"with {placement_words(placement)}"
        )
        yield f"the highest rate without loss, {mpps(answer.lossless_fps)} Mpps, was found {where}"


def as_is(
    trials: Sequence[Trial],
    overloads: Sequence[Trial],
    load_fps: float | None,
    at_least_s: float,
) -> AsIs:
    """Return the rates of whole trials.

    overloads: trials behind the MRR. load_fps: load whose loss is reported: the clean NDR, or the
    load held. at_least_s: length of a trial that shows a lossless load.
    """
    there = [
        trial
        for trial in trials
        if trial.fault is None
        and load_fps is not None
        and trial.stage not in _NOT_COUNTED
        and trial.intended_load_fps == load_fps
    ]
    losses = [trial.loss_ratio for trial in there]
    lossless_fps, lossless_s = lossless(trials, at_least_s)
    return AsIs(
        median([trial.forwarding_fps for trial in overloads]) if overloads else None,
        load_fps if losses else None,
        min(losses, default=None),
        max(losses, default=None),
        lossless_fps,
        lossless_s,
        sum(trial.duration_s for trial in overloads) if overloads else None,
        sum(trial.duration_s for trial in there) if there else None,
    )
