# SPDX-License-Identifier: Apache-2.0
"""Conclude from all trials of a search: clean and all-time rates, and their grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wirespeed.measure.as_is import as_is
from wirespeed.measure.bracket import bracket
from wirespeed.measure.found import Found
from wirespeed.measure.grade import because, grade_of, received, undisturbed
from wirespeed.measure.presets import Preset
from wirespeed.measure.prober import Prober
from wirespeed.measure.proof import NOT_NOISE, conforming, noise_explains_loss, refuted
from wirespeed.measure.remarks import remarks
from wirespeed.measure.search.interface import Figures
from wirespeed.measure.search.mrr import Overload
from wirespeed.measure.split import on_one_side
from wirespeed.measure.trust import aside, churned, doubts
from wirespeed.model.result.counted_time import lost_in_what_counts, trials_above
from wirespeed.model.result.result import (
    Grade,
    SearchResult,
    Undisturbed,
    lower_fps,
)
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.spec import Search
from wirespeed.model.words import counted

CONTRADICTION = (
    "no MRR of clean time: it would be below that of all time, so the two contradict each other"
)


def conclude(
    search: Search, preset: Preset, prober: Prober, found: Found, why: str | None
) -> SearchResult:
    """Return the result.

    why: reason why the search ended without any rate, else None.
    """
    prober, found = on_one_side(prober, found)
    figures, overload = found.figures, found.overload
    told = (*aside(prober.journal.trials), *churned(prober.journal.trials))
    if overload is not None and overload.contradicts_itself(prober.width):
        overload = replace(overload, received_fps=None, error=None)
        told += (CONTRADICTION,)
    if overload is not None and (few := overload.few_windows) is not None:
        overload = replace(overload, received_fps=None, error=None)
        told += (f"no MRR of clean time: it would rest on {counted(few, 'window')} of one trial",)
    if prober.whole:
        figures = replace(figures, ndr=None, pdr=None)
    mrr_fps = overload.received_fps if overload is not None else None
    load_fps = _decided_load_fps(figures)
    deciding, rests_on = _deciding(prober, load_fps, mrr_fps, overload)
    shortest_s = preset.as_is_trial_s or 0.0
    overloads = overload.trials if overload is not None else ()
    prober.journal.overloads[prober.journal.placed] = overloads
    held = figures.constant.load_fps if figures.constant else lower_fps(figures.ndr)
    answer = as_is(prober.trials, overloads, held, shortest_s)
    missing = _wants_ndr(preset, search, figures)
    if (refusal := _refusal(prober, figures, deciding)) is not None:
        missing, figures = True, replace(figures, ndr=None, pdr=None)
        found.notes += (refusal,) if refusal not in (*figures.notes, *found.notes) else ()
    within = bracket(prober, overload, shortest_s) if missing else None
    grade = None
    if rests_on is not None and within is None and _judged(prober, load_fps):
        grade = grade_of(rests_on, deciding)
    elif answer.mrr_fps is not None or answer.lossless_fps is not None or figures.constant:
        grade = Grade.D
    doubted = doubts(prober.journal.trials)
    if doubted and grade is not None:
        grade = Grade.D
    why = why or found.ended
    usable = [trial for trial in prober.trials if trial.fault is None]
    everything = [trial for trial in prober.journal.trials if trial.fault is None]
    if why is not None and why is not found.ended and grade is not None:
        found.notes += (why,)
    mrr_error = overload.error if overload is not None else None
    least_fps = lower_fps(figures.ndr) if within is None else within.carried_fps or 0.0
    told += tuple(remarks(least_fps, prober.width, mrr_fps, mrr_error, answer))
    return SearchResult(
        search=search.kind.value,
        conformant=(
            preset.conformant and grade is Grade.A and found.ended is None and conforming(deciding)
        ),
        trials=tuple(prober.trials),
        ndr=figures.ndr if within is None else None,
        pdr=figures.pdr,
        mrr_fps=mrr_fps,
        limited_by=_limited_by(prober, figures, found),
        not_measurable=(why or "no trial could be used") if grade is None else None,
        latency=found.latency,
        constant=figures.constant,
        back_to_back=figures.back_to_back,
        max_load_fps=found.max_load_fps,
        notes=(*figures.notes, *found.notes, *told),
        grade=grade,
        because=(*doubted, *because(grade, rests_on, deciding or usable, everything))
        if grade is not None
        else (),
        undisturbed=rests_on,
        as_is=answer,
        bracket=within,
        mrr_half_interval=mrr_error,
    )


def _refusal(prober: Prober, figures: Figures, deciding: Sequence[Trial]) -> str | None:
    """Return why NDR and PDR are unknown although the search has loads for them."""
    load_fps = lower_fps(figures.ndr)
    if figures.constant is not None or (load_fps is None and lower_fps(figures.pdr) is None):
        return None
    if figures.unconfirmed is not None:
        return figures.unconfirmed
    if load_fps is not None:
        return refuted(deciding, prober.width, prober.pdr_loss)
    return NOT_NOISE if noise_explains_loss(deciding) is False else None


def _wants_ndr(preset: Preset, search: Search, figures: Figures) -> bool:
    """Return whether an NDR was searched and not found. A lowest load that fails is a result."""
    if preset.search is None or preset.mrr is None or lower_fps(figures.ndr) is not None:
        return False
    upper = figures.ndr.upper if figures.ndr is not None else None
    return upper is None or upper.load_fps > search.min_load_fps


def _decided_load_fps(figures: Figures) -> float | None:
    """Return the load whose trials decide the grade: held, NDR or PDR; None for the MRR."""
    if figures.constant is not None:
        return figures.constant.load_fps
    return lower_fps(figures.ndr) or lower_fps(figures.pdr)


def _deciding(
    prober: Prober, load_fps: float | None, mrr_fps: float | None, overload: Overload | None
) -> tuple[Sequence[Trial], Undisturbed | None]:
    """Return the trials that decide, and their clean time."""
    if load_fps is not None:
        trials = prober.judging(load_fps)
        found = undisturbed(load_fps, trials, prober.width, prober.pdr_loss)
        return trials, found
    if mrr_fps is None or overload is None or prober.whole:
        return (), None
    return overload.trials, received(mrr_fps, overload.trials, prober.width)


def _judged(prober: Prober, load_fps: float | None) -> bool:
    """Return whether clean time was enough to judge the load."""
    if load_fps is None:
        return True
    return any(p.decided and not p.whole for p in prober.points if p.load_fps == load_fps)


def _limited_by(prober: Prober, figures: Figures, found: Found) -> str | None:
    for trial in prober.trials:
        if trial.observation.limited_by is not None:
            return trial.observation.limited_by
    first = figures.ndr or figures.pdr
    passed_fps = lower_fps(first)
    if first is None or first.upper is not None or passed_fps is None or found.ended is not None:
        return None
    if any(p.exceeded > 0 and p.load_fps > passed_fps for p in prober.points):
        return None  # loads above it failed without being judged
    above = (trial for _, trial in trials_above(prober.trials, passed_fps))
    if first is figures.ndr and any(map(lost_in_what_counts, above)):
        return None  # the explanation names what lost these frames
    if found.by_generator:
        return "generator"
    return "link" if found.by_link else "max_load"
