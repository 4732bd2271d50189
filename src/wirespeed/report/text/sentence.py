# SPDX-License-Identifier: Apache-2.0
"""Write the result of a point in sentences.

First the rate of clean time and its evidence, then the rates of all time, then the excluded time.
"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.cpus import placement_words
from wirespeed.model.result.result import (
    BackToBack,
    Bracket,
    Grade,
    LatencyAtLoad,
    SearchResult,
    Undisturbed,
    lower_fps,
)
from wirespeed.model.words import (
    EMULATED,
    frames,
    loss,
    microseconds,
    mpps,
    seconds,
    share,
    tiny,
    two_digits,
)
from wirespeed.report.base.as_is import (
    bound_words,
    loss_load,
    loss_range,
    lossless,
    mrr_words,
    ndr_words,
)
from wirespeed.report.text.grades import grade_words
from wirespeed.report.views.workloads import view_of
from wirespeed.store.records import PointRecord, PointState

_PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
_US = "\N{MICRO SIGN}s"
_AT_MOST = "\N{LESS-THAN OR EQUAL TO}"


def point_sentence(point: PointRecord) -> str:
    """Return all that was found at the point, or why nothing was."""
    return " ".join(point_sentences(point))


def point_sentences(point: PointRecord) -> tuple[str, ...]:
    """Return the parts: the strictest rate, the others, all time, excluded time, latency."""
    if point.result is not None:
        return result_sentences(point.result)
    if point.state is PointState.NOT_RUN:
        return (f"Not run: {point.error}.",)
    if point.error is not None:
        return (f"Not measured: {point.error}.",)
    return ("Not measured yet.",)


def result_sentences(result: SearchResult) -> tuple[str, ...]:
    """Return the parts of a result."""
    parts = [_headline(result), *_others(result), _as_is(result), _left_out(result)]
    parts += [_latency(at) for at in result.latency if abs(at.share - 0.5) < 1e-9]
    parts += _placements(result)
    if result.not_measurable is not None:
        parts.insert(0, f"Not measurable: {result.not_measurable}.")
    if result.emulated is not None:
        parts.insert(0, f"{EMULATED.capitalize()} ({result.emulated}).")
    return tuple(part for part in parts if part)


def _placements(result: SearchResult) -> Iterator[str]:
    """Yield one part for each CPU placement, where a point met several."""
    if result.placement is not None and result.by_placement:
        yield f"These rates are with {placement_words(result.placement)}."
    for other in result.by_placement:
        if other.placement is None:
            continue
        # Without a grade no trial there was long enough for a rate.
        found = short_sentence(other) if other.grade is not None else "too few trials for a rate"
        yield f"With {placement_words(other.placement)}: {found}."


def short_sentence(result: SearchResult) -> str:
    """Return one line of a log: the rates and their grade."""
    if result.outcome is not None:
        return _outcome(result)
    found = [f"{name} {rate}" for name, rate in _figures(result)]
    if result.back_to_back is not None:
        found.append(f"bursts of {result.back_to_back.mean_frames:,.0f} frames")
    if not found:
        return "not measurable" if result.not_measurable is not None else "no rate"
    emulated = f"; {EMULATED}" if result.emulated is not None else ""
    return f"{', '.join(found)} Mpps, {grade_words(result)}{emulated}"


def _figures(result: SearchResult) -> Iterator[tuple[str, str]]:
    if (ndr := ndr_words(result)) is not None:
        yield "NDR", ndr
    if result.pdr is not None and (pdr := bound_words(result.pdr)) is not None:
        yield "PDR", pdr
    if (mrr := mrr_words(result)) is not None:
        yield "MRR", mrr
    if result.constant is not None:
        yield "forwarded", mpps(result.constant.forwarding_fps)


def _headline(result: SearchResult) -> str:
    """Return the strictest rate, its grade and its basis."""
    if result.outcome is not None:
        return f"{_outcome(result)}."
    found = next(_headlines(result), "")
    if not found:
        return "" if result.grade is None else f"No rate of clean time ({grade_words(result)})."
    if result.bracket is not None:
        return f"{found} ({grade_words(result)}: a bracket)."
    return f"{found} ({grade_words(result)}{_basis(result)})."


def _headlines(result: SearchResult) -> Iterator[str]:
    """Yield every rate that may come first, the strictest first."""
    if result.bracket is not None:
        yield _bracket(result.bracket)
    if result.ndr is not None and (ndr := bound_words(result.ndr)) is not None:
        yield f"NDR {ndr} Mpps"
    elif result.ndr is not None and result.ndr.upper is not None:
        yield f"No NDR: even {mpps(result.ndr.upper.load_fps)} Mpps was too much"
    if result.pdr is not None and (pdr := bound_words(result.pdr)) is not None:
        yield f"PDR {pdr} Mpps"
    if (held := result.constant) is not None:
        lost = "nothing" if held.loss_ratio == 0 else loss(held.loss_ratio)
        yield f"{mpps(held.load_fps)} Mpps held, {lost} lost"
    if result.back_to_back is not None:
        yield _burst(result.back_to_back)
    if result.mrr_fps is not None:
        yield f"MRR {mpps(result.mrr_fps)}{_error(result)} Mpps"


def _others(result: SearchResult) -> Iterator[str]:
    """Yield PDR and MRR where they are not the headline."""
    ndr, pdr = lower_fps(result.ndr), bound_words(result.pdr) if result.pdr is not None else None
    others = [f"PDR {pdr}"] if ndr is not None and pdr is not None else []
    above = (ndr, pdr, result.constant, result.bracket, result.ndr)
    if result.mrr_fps is not None and any(one is not None for one in above):
        others.append(f"MRR {mpps(result.mrr_fps)}{_error(result)}")
    if others:
        yield f"{', '.join(others)} Mpps."


def _error(result: SearchResult) -> str:
    error = result.mrr_half_interval
    return f" {_PLUS_MINUS} {two_digits(error)}" if error else ""


def _basis(result: SearchResult) -> str:
    basis = result.undisturbed
    if basis is None:
        return ""
    if result.grade is Grade.A:
        said = f"all of {seconds(basis.measured_s)} count"
    else:
        said = (
            f"{share(basis.share)} of {seconds(basis.measured_s)} clean, {basis.windows:,} windows"
        )
    return f": {said}; {_loss(basis)}{_growth(basis)}"


def _loss(basis: Undisturbed) -> str:
    bound = f"{_AT_MOST}{tiny(basis.loss_bound)}" if 0 < basis.loss_bound < 1 else ""
    if basis.lost == 0:
        return f"no loss in {frames(basis.offered)}{_bounds(basis, bound)}"
    ratio = tiny(basis.lost / basis.offered)
    bounded = f", {bound}" if bound else ""
    return f"{basis.lost:,} of {frames(basis.offered)} lost, {ratio}{bounded}"


def _bounds(basis: Undisturbed, of_frames: str) -> str:
    """Format the bounds on lost frames and on lossy pieces of time, as losses cluster.

    Example: ", <=1e-6, and 57 pieces, <=5.3%".
    """
    pieces = basis.lossy_runs_bound
    if not of_frames or pieces is None or pieces >= 1:
        return f", {of_frames}" if of_frames else ""
    return f", {of_frames}, and {basis.runs:,} pieces, {_AT_MOST}{share(pieces)}"


def _growth(basis: Undisturbed) -> str:
    """Format the growth of queues; empty where unknown (no time stamps, single windows)."""
    if not 0 < basis.growth_error < 1:
        return ""
    return f"; queues grew {100 * basis.growth:.2g} {_PLUS_MINUS} {two_digits(basis.growth_error)}"


def _bracket(bracket: Bracket) -> str:
    carried, overloads = mpps(bracket.carried_fps), mpps(bracket.overloads_fps)
    if bracket.carried_fps is not None and bracket.overloads_fps is not None:
        return (
            f"NDR at least {carried}, at most {overloads} Mpps: a whole trial at the lower load "
            "lost nothing, and the higher load is too much"
        )
    if bracket.overloads_fps is not None:
        return f"NDR at most {overloads} Mpps, which is too much; no trial was without loss"
    if bracket.carried_fps is not None:
        return f"NDR at least {carried} Mpps, where a whole trial lost nothing"
    return "NDR unknown: no load could be judged"


def _burst(burst: BackToBack) -> str:
    return (
        f"Bursts of {burst.mean_frames:,.0f} frames at {mpps(burst.load_fps)} Mpps pass without "
        f"loss: the mean of {burst.bursts}, {burst.min_frames:,} to {burst.max_frames:,}"
    )


def _as_is(result: SearchResult) -> str:
    """Format the rates of all time."""
    found = result.as_is
    if found is None:
        return ""
    parts = []
    if found.loss_high is not None:
        parts.append(f"{loss_range(found)} lost at {loss_load(result) or 'the NDR'}")
    if (fps := lossless(result)) is not None:
        trial = f" (one trial of {seconds(found.lossless_s)})" if found.lossless_s else ""
        parts.append(f"highest rate without loss {mpps(fps)} Mpps{trial}")
    elif found.lossless_fps is None and found.loss_high:
        parts.append("no whole trial was without loss")
    if found.mrr_fps is not None:
        parts.append(f"MRR {mpps(found.mrr_fps)} Mpps")
    return f"All time counted: {', '.join(parts)}." if parts else ""


def _left_out(result: SearchResult) -> str:
    """Format the reasons for excluded time, of at least a thousandth of the time each."""
    basis = result.undisturbed
    if basis is None or result.because:
        return ""  # the reasons for the grade list it, too
    listed = [f"{out.why} {share(out.share)}" for out in basis.left_out if out.share >= 0.001]
    return f"Excluded: {', '.join(listed)}." if listed else ""


def _latency(at: LatencyAtLoad) -> str:
    what = f"Latency at {mpps(at.load_fps)} Mpps, p50 and p99"
    whole = f"{microseconds(at.latency.p50_ns)} and {microseconds(at.latency.p99_ns)} {_US}"
    if at.undisturbed is None:
        return f"{what}: {whole}, all time."
    clean = f"{microseconds(at.undisturbed.p50_ns)} and {microseconds(at.undisturbed.p99_ns)} {_US}"
    if clean == whole:
        return f"{what}: {whole}."
    return f"{what}: {clean} in clean time, {whole} in all time."


def _outcome(result: SearchResult) -> str:
    rates = view_of(result).rates(result)
    return f"{rates} ({grade_words(result)})" if result.grade else rates
