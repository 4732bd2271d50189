# SPDX-License-Identifier: Apache-2.0
"""Run one search at one point.

It runs the warm-up, the MRR, the search itself, trials over all time, and latency.

result = run_search(spec.search, bench.measure, UNLIMITED, listener)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from wirespeed.measure.as_is import find_lossless, lossless, over_all_time
from wirespeed.measure.bounds import in_order, known_interval, so_far, without_unjudged
from wirespeed.measure.conclusion import conclude
from wirespeed.measure.found import Found
from wirespeed.measure.interface import UNLIMITED, BadSearch, Listener, Measurer, Placer
from wirespeed.measure.journal import Journal
from wirespeed.measure.latency import measure_latency
from wirespeed.measure.placement_search import Wanted, by_placement
from wirespeed.measure.presets import Preset, resolve
from wirespeed.measure.prober import (
    BeyondGenerator,
    NotMeasurable,
    OutOfTime,
    Prober,
    Undecided,
)
from wirespeed.measure.search.interface import Figures, Limits, SearchMethod
from wirespeed.model.result.result import Interval, SearchResult
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.spec import Search

# Number of times that the ceiling is lowered to what the generator really offered.
CEILINGS = 4
# Upper limit of a search, relative to an MRR that passes itself.
HEADROOM = 1.5
# Growth of queues that passes: where most of the time is clean, and elsewhere.
WIDTH, WIDTH_WHEN_DISTURBED = 0.005, 0.01
MOSTLY, HARDLY = 0.5, 0.02
# Share of the time limit in which a search waits for time that counts.
LOOKING = 0.25


def run_search(
    search: Search,
    measure: Measurer,
    max_load_fps: float,
    listener: Listener,
    place: Placer | None = None,
) -> SearchResult:
    """Search with `measure` below max_load_fps, in frames/s over all directions.

    max_load_fps: the links' line rate; UNLIMITED where ports have no speed: then the generator's
    maximum is the ceiling. place: placement probe for a point that waits for a placement. Raises
    BadSearch before the first trial where `search` contradicts itself; whatever `measure` or
    `listener` raises passes through.
    """
    preset = resolve(search)
    ceiling_fps = min(max_load_fps, search.max_load_fps or max_load_fps)
    if ceiling_fps <= search.min_load_fps:
        raise BadSearch(
            f"search.min_load_fps {search.min_load_fps:,.0f} is not below the highest load, "
            f"{ceiling_fps:,.0f} frames/s",
            "Lower min_load_fps.",
        )
    link = ceiling_fps == max_load_fps < UNLIMITED
    journal = Journal()

    def attempt() -> SearchResult:
        """Run the search of the journal's placement."""
        prober = Prober(
            measure, listener, WIDTH, search.pdr_loss, preset.extension, preset.expected_s,
            preset.time_limit_s, journal=journal,
        )  # fmt: skip
        found, why = Found(by_link=link), None
        try:
            _run(preset, search, prober, ceiling_fps, found)
        except NotMeasurable as error:
            why = error.what
        except OutOfTime as error:
            found.ended = found.ended or error.what
        return conclude(search, preset, prober, found, why)

    wait_s = min(search.wait_for_placement or 0.0, preset.time_limit_s)
    result = by_placement(journal, attempt, Wanted(search.placement, wait_s, place))
    if journal.restless and preset.as_is_trial_s is not None:
        journal.blind, journal.frozen = True, False
        prober = Prober(
            measure, listener, WIDTH, search.pdr_loss, preset.extension, 0.0, journal=journal
        )
        full_fps = max(trial.forwarding_fps for trial in journal.trials)
        find_lossless(prober, full_fps, search.min_load_fps, preset.as_is_trial_s)
    return over_all_time(result, journal, preset.as_is_trial_s or 0.0)


def _run(preset: Preset, search: Search, prober: Prober, ceiling_fps: float, found: Found) -> None:
    """Fill `found` step by step. Raises NotMeasurable."""
    flood = prober.once(search.load_fps or ceiling_fps, preset.warm_up_s, Stage.WARM_UP)
    limits = Limits(search.min_load_fps, ceiling_fps, None)
    if preset.mrr is not None:
        limits = _overload(preset, prober, limits, flood, found)
    if preset.search is not None:
        found.figures = _find(preset.search, prober, limits, found)
    if preset.as_is_trial_s is not None:
        _as_is(preset.as_is_trial_s, search, prober, found)
    full_fps = _full_load_fps(found.figures, prober)
    if search.latency and full_fps is not None:
        found.latency, notes = measure_latency(prober, full_fps, preset.latency_trial_s)
        found.notes += notes


def _overload(preset: Preset, prober: Prober, limits: Limits, flood: Trial, found: Found) -> Limits:
    """Return the limits with the MRR, and a ceiling that the generator reaches."""
    assert preset.mrr is not None
    overload = preset.mrr.measure(prober, limits, flood)
    found.overload, found.by_generator = overload, overload.by_generator
    found.max_load_fps = min(limits.max_fps, overload.offered_fps)
    if found.max_load_fps <= limits.min_fps:
        raise NotMeasurable(
            f"the generator offers {found.max_load_fps:,.0f} frames/s at most, "
            f"search.min_load_fps is {limits.min_fps:,.0f}"
        )
    share = _steady_share(overload.trials)
    mrr_fps = overload.received_fps or overload.whole_fps
    prober.width = WIDTH if share >= MOSTLY else WIDTH_WHEN_DISTURBED
    if share < HARDLY:
        below_fps = max(limits.min_fps, mrr_fps / 2)
        # Without a search below the overload, a quieter moment there is worth one look.
        limit_s = math.inf if preset.search is None else prober.time_limit_s
        prober.whole = not _calms(prober, below_fps, preset.mrr.trial_s, limit_s)
    return replace(limits, max_fps=found.max_load_fps, mrr_fps=mrr_fps)


def _calms(prober: Prober, load_fps: float, trial_s: float, limit_s: float) -> bool:
    """Return whether some of the time counts at a load below the overload.

    A generator at its limit is late whatever the host does, and noise comes and goes: with a time
    limit, trials look for a quieter moment for up to LOOKING of it.
    """
    looks = 1 if math.isinf(limit_s) else max(1, round(LOOKING * limit_s / trial_s))
    return any(
        _steady_share([prober.once(load_fps, trial_s, Stage.SEARCH)]) >= HARDLY
        for _ in range(looks)
    )


def _steady_share(trials: Sequence[Trial]) -> float:
    """Return the share of time without noise, drained or not."""
    pieces = [trial.gated for trial in trials if trial.gated is not None]
    windows = sum(piece.windows for piece in pieces)
    return sum(piece.steady_windows for piece in pieces) / windows if windows else 0.0


def _find(method: SearchMethod, prober: Prober, limits: Limits, found: Found) -> Figures:
    """Run the search; where it has to stop early, return what is known by then."""
    try:
        figures = _upwards(method, prober, limits, found)
    except (OutOfTime, Undecided, NotMeasurable) as ended:
        if isinstance(ended, NotMeasurable) and not prober.points:
            raise
        found.ended = ended.what
        note = f"{ended.what}: the bounds are those known by then"
        figures = replace(so_far(prober), notes=(note,), unconfirmed=note)
    found.ended = found.ended or figures.ended
    return in_order(without_unjudged(figures, prober), prober)


def _upwards(method: SearchMethod, prober: Prober, limits: Limits, found: Found) -> Figures:
    """Search up to the MRR, and above it only where the MRR itself passes.

    An overload may slow a SUT down, and loads far above what it forwards show nothing.
    """
    near_fps = min(limits.mrr_fps or limits.max_fps, limits.max_fps)
    if near_fps <= limits.min_fps:
        near_fps = limits.max_fps
    figures: Figures | None = None
    while True:
        try:
            figures = _below(method, prober, replace(limits, max_fps=near_fps), found)
        except (OutOfTime, Undecided) as ended:
            if figures is None:
                raise
            return _ended_above(figures, prober, ended, found)
        highest_fps = min(limits.max_fps, found.max_load_fps or limits.max_fps)
        if near_fps >= highest_fps or _bounded(figures):
            return figures
        near_fps = min(highest_fps, HEADROOM * near_fps)


def _ended_above(
    figures: Figures, prober: Prober, ended: OutOfTime | Undecided, found: Found
) -> Figures:
    """Return what was found up to the MRR, with the lowest failed loads above it."""
    found.ended = ended.what
    figures = replace(
        figures,
        ndr=_failed_above(figures.ndr, prober, 0.0),
        pdr=_failed_above(figures.pdr, prober, prober.pdr_limit),
    )
    note = f"above the MRR the bounds are those known by then: {ended.what}"
    return replace(figures, notes=(*figures.notes, note))


def _failed_above(interval: Interval | None, prober: Prober, goal: float) -> Interval | None:
    """Return the interval with the lowest load above its lower end that missed the goal.

    A load below may have failed since: noise without evidence, or a move that no probe saw.
    """
    if interval is None or interval.lower is None:
        return interval
    above = [p for p in prober.points if p.load_fps > interval.lower.load_fps]
    known = known_interval(above, goal)
    return interval if known is None else Interval(interval.lower, known.upper)


def _bounded(figures: Figures) -> bool:
    """Return whether there is an upper bound to the first rate that the search looks for."""
    interval = figures.ndr or figures.pdr
    return interval is None or interval.upper is not None


def _below(method: SearchMethod, prober: Prober, limits: Limits, found: Found) -> Figures:
    """Search with the ceiling lowered to what the generator can offer."""
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


def _as_is(trial_s: float, search: Search, prober: Prober, found: Found) -> None:
    """Look for a load at which a whole trial loses nothing, unless a trial of the NDR did."""
    if prober.whole:
        return  # the search itself has looked for it
    ndr = found.figures.ndr
    if ndr is not None and ndr.lower is not None:
        full_fps = ndr.lower.load_fps
    elif found.overload is not None:
        full_fps = found.overload.received_fps or found.overload.whole_fps
    else:
        return
    find_lossless(prober, full_fps, search.min_load_fps, trial_s)


def _full_load_fps(figures: Figures, prober: Prober) -> float | None:
    """Return the load of which latency is measured at shares.

    It is the PDR, else the NDR, else the highest load at which a whole trial lost nothing.
    """
    for interval in (figures.pdr, figures.ndr):
        if interval is not None and interval.lower is not None:
            return interval.lower.load_fps
    tried = [trial for trial in prober.trials if trial.stage in (Stage.AS_IS, Stage.SEARCH)]
    return lossless(tried, 0.0)[0]
