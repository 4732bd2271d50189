# SPDX-License-Identifier: Apache-2.0
"""What does one search find at one point? Warm-up, MRR, the search itself, latency.

result = run_search(spec.search, bench.measure, UNLIMITED, listener)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from wirespeed.measure.interface import BadSearch, Listener, Measurer
from wirespeed.measure.latency import measure_latency
from wirespeed.measure.presets import Preset, resolve
from wirespeed.measure.prober import BeyondGenerator, Moved, NotMeasurable, Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.measure.search.interface import Search as Method
from wirespeed.measure.validity import USUAL, ValidityRules
from wirespeed.model.result import LatencyAtLoad, SearchResult
from wirespeed.model.spec import Search
from wirespeed.model.trial import Stage, Trial

# How often the ceiling is lowered to what the generator really offered.
CEILINGS = 4
# How often a search without a time limit begins again because the hypervisor has moved the
# machine's CPUs.
FRESH_STARTS = 3
# How far above the MRR a search looks first.
HEADROOM = 1.5
# Neither a warm-up nor a burst is long enough to say what the SUT carries.
_FULL_TRIALS = frozenset({Stage.MRR, Stage.SEARCH, Stage.CONFIRM})


@dataclass(slots=True)
class _Found:
    """What is known so far; a search that has to stop early leaves the rest empty."""

    figures: Figures = field(default_factory=Figures)
    mrr_fps: float | None = None
    max_load_fps: float | None = None
    by_generator: bool = False
    latency: tuple[LatencyAtLoad, ...] = ()
    notes: tuple[str, ...] = ()


def run_search(
    search: Search,
    measure: Measurer,
    max_load_fps: float,
    listener: Listener,
    rules: ValidityRules = USUAL,
) -> SearchResult:
    """Search with `measure` below max_load_fps, in frames/s over all directions.

    max_load_fps: the links' line rate; UNLIMITED where ports have no speed of their own: then the
    generator's own best is the ceiling. Raises BadSearch before the first trial where `search`
    contradicts itself; whatever `measure` or `listener` raises passes through.
    """
    preset = resolve(search)
    ceiling_fps = min(max_load_fps, search.max_load_fps or max_load_fps)
    if ceiling_fps <= search.min_load_fps:
        raise BadSearch(
            f"search.min_load_fps {search.min_load_fps:,.0f} is not below the highest load, "
            f"{ceiling_fps:,.0f} frames/s",
            "Lower min_load_fps.",
        )
    prober = Prober(
        measure, listener, rules, preset.repeats_invalid, preset.expected_s, preset.time_limit_s
    )
    found, why = _run_undivided(preset, search, prober, ceiling_fps)
    return SearchResult(
        search=search.kind.value,
        conformant=preset.conformant,
        trials=tuple(prober.trials),
        ndr=found.figures.ndr,
        pdr=found.figures.pdr,
        mrr_fps=found.mrr_fps,
        limited_by=_limited_by(prober, found),
        not_measurable=why and why + _carried(prober, found),
        latency=found.latency,
        constant=found.figures.constant,
        back_to_back=found.figures.back_to_back,
        max_load_fps=found.max_load_fps,
        notes=found.figures.notes + found.notes,
    )


def _run_undivided(
    preset: Preset, search: Search, prober: Prober, ceiling_fps: float
) -> tuple[_Found, str | None]:
    """What is found on one placement of the machine's CPUs, and why that is not all, if so.

    Where they move under a search, what it knew so far holds no more: it begins again. Where that
    leads nowhere, the MRR of the placement before stands.
    """
    moved = ""
    before = _Found()
    starts = 0
    while starts <= FRESH_STARTS or math.isfinite(prober.time_limit_s):
        starts += 1
        found = _Found()
        try:
            _run(preset, search, prober, ceiling_fps, found)
        except NotMeasurable as error:
            return (before if found.mrr_fps is None else found), error.what
        except Moved as error:
            moved, before = error.what, found
            prober.begin_again()
        else:
            return found, None
    return before, f"the search began {starts} times; the last time {moved}"


def _run(preset: Preset, search: Search, prober: Prober, ceiling_fps: float, found: _Found) -> None:
    """Fills `found` step by step. Raises NotMeasurable or Moved."""
    warm_up_fps = search.load_fps or ceiling_fps
    prober.once(warm_up_fps, preset.warm_up_s, Stage.WARM_UP)
    limits = Limits(search.min_load_fps, ceiling_fps, None)
    if preset.mrr is not None:
        limits = _overload(preset, prober, limits, found)
    if preset.search is not None:
        found.figures = _find(preset.search, prober, limits, found)
    full_fps = _full_load_fps(found.figures)
    if search.latency and full_fps is not None:
        found.latency, found.notes = measure_latency(prober, full_fps, preset.latency_trial_s)


def _overload(preset: Preset, prober: Prober, limits: Limits, found: _Found) -> Limits:
    """The limits with the MRR, and a ceiling that the generator reaches."""
    assert preset.mrr is not None
    try:
        overload = preset.mrr.measure(prober, limits.max_fps)
    except BeyondGenerator as error:
        raise NotMeasurable(error.what) from error
    prober.overload_fps = overload.received_fps
    found.mrr_fps, found.by_generator = overload.received_fps, overload.by_generator
    found.max_load_fps = min(limits.max_fps, overload.offered_fps)
    if found.max_load_fps <= limits.min_fps:
        raise NotMeasurable(
            f"the generator offers {found.max_load_fps:,.0f} frames/s at most, "
            f"search.min_load_fps is {limits.min_fps:,.0f}"
        )
    return replace(limits, max_fps=found.max_load_fps, mrr_fps=overload.received_fps)


def _find(method: Method, prober: Prober, limits: Limits, found: _Found) -> Figures:
    """The search a little above the MRR, and up to the ceiling only if it finds no limit there.

    Far above what the SUT forwards nothing is learnt, and a generator in the same host takes cache
    and memory bandwidth from it.
    """
    near_fps = HEADROOM * (limits.mrr_fps or limits.max_fps)
    if limits.min_fps < near_fps < limits.max_fps:
        figures = _below(method, prober, replace(limits, max_fps=near_fps), found)
        if _all_bounded(figures) or prober.out_of_time:
            return figures
    return _below(method, prober, limits, found)


def _all_bounded(figures: Figures) -> bool:
    intervals = [i for i in (figures.ndr, figures.pdr) if i is not None]
    return all(i.upper is not None for i in intervals)


def _below(method: Method, prober: Prober, limits: Limits, found: _Found) -> Figures:
    """The search, with its ceiling lowered where the generator cannot follow."""
    for _ in range(CEILINGS):
        try:
            return method.find(prober, limits)
        except BeyondGenerator as error:
            beyond = error
        found.by_generator, found.max_load_fps = True, beyond.offered_fps
        limits = replace(limits, max_fps=beyond.offered_fps)
        if limits.mrr_fps is None or limits.max_fps <= limits.min_fps:
            break
    raise NotMeasurable(beyond.what)


def _full_load_fps(figures: Figures) -> float | None:
    """The load that latency is measured at shares of: the PDR, or the NDR of a search without."""
    for interval in (figures.pdr, figures.ndr):
        if interval is not None and interval.lower is not None:
            return interval.lower.load_fps
    return None


def _carried(prober: Prober, found: _Found) -> str:
    """What a search without an NDR still knows, from trials that it could not believe, too.

    A disturbance can make the SUT lose frames; it cannot make it carry frames that it does not
    carry. So a trial without loss tells a load that was carried, believable or not.
    """
    if found.figures.ndr is not None and found.figures.ndr.lower is not None:
        return ""
    whole = [t for t in prober.trials if t.stage in _FULL_TRIALS and _lost_nothing(t)]
    if not whole:
        return ""
    best = max(whole, key=lambda trial: trial.offered_fps)
    return (
        f"; still, a trial of {best.duration_s:.2g} s at {best.offered_fps:,.0f} frames/s lost "
        f"nothing{'' if best.valid else ', disturbed as it was'}"
    )


def _lost_nothing(trial: Trial) -> bool:
    """By counters that agree: more received than offered was misread."""
    raced = any(d.received > d.offered for d in trial.seen.directions)
    return trial.offered > 0 and trial.lost == 0 and not raced


def _limited_by(prober: Prober, found: _Found) -> str | None:
    for trial in prober.trials:
        if trial.seen.limited_by is not None:
            return trial.seen.limited_by
    intervals = [i for i in (found.figures.ndr, found.figures.pdr) if i is not None]
    if any(i.upper is None for i in intervals):
        return "generator" if found.by_generator else "max_load"
    return None
