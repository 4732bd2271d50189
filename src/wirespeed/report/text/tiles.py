# SPDX-License-Identifier: Apache-2.0
"""Show a few points of a run as tiles; everything on a tile is of the point that it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.words import NONE, microseconds, mpps, percent, quantity, two_digits
from wirespeed.report.base.as_is import ndr_words
from wirespeed.report.base.uncertainty import uncertainty
from wirespeed.report.text.limit_words import limited_by
from wirespeed.report.views.figures import PointFigures, point_figures
from wirespeed.report.views.workloads import frames_of, view_of, view_of_point
from wirespeed.store.headlines import Headline, Measure, result_headline
from wirespeed.store.records import PointRecord, RunRecord

MAX_TILES = 6
_BOUND = {
    "at least": "\N{GREATER-THAN OR EQUAL TO}",
    "at most": "\N{LESS-THAN OR EQUAL TO}",
    "below": "<",
}


@dataclass(frozen=True, slots=True)
class Tile:
    """One point: its strictest rate, and what belongs to it."""

    label: str
    value: str
    unit: str
    measure: str
    """E.g. "NDR, +-1.2%"."""
    grade: Grade | None
    facts: tuple[str, ...]
    """Limit, latency, share of the line rate where a link has that speed."""


def tiles(run: RunRecord) -> tuple[Tile, ...]:
    """Return up to six tiles; of more points, the fastest and the widest of each topology."""
    found = [
        (point, rate)
        for point in run.points
        if point.result is not None and not point.emulated
        if (rate := result_headline(point.label, point.result)) is not None
    ]
    return tuple(_tile(point, rate) for point, rate in _chosen(found)[:MAX_TILES])


def _chosen(found: Sequence[tuple[PointRecord, Headline]]) -> list[tuple[PointRecord, Headline]]:
    if len(found) <= MAX_TILES:
        return list(found)
    groups: dict[str, list[tuple[PointRecord, Headline]]] = {}
    for point, rate in found:
        view = view_of_point(point)
        kind = point.frames.topology.kind if view is None else view.group(point)
        groups.setdefault(kind, []).append((point, rate))
    keys = {
        picked[0].key
        for group in groups.values()
        for picked in (max(group, key=lambda pair: pair[1].value), max(group, key=_bits))
    }
    return [pair for pair in found if pair[0].key in keys]


def _bits(pair: tuple[PointRecord, Headline]) -> float:
    """Return the bit rate on the wire."""
    best = point_figures(pair[0]).best
    return pair[1].value if best is None else best.l1_bps


def _tile(point: PointRecord, rate: Headline) -> Tile:
    if point.result is not None and not point.result.searched:
        return _outcome_tile(point.label, point.result, rate)
    figures = point_figures(point)
    error = uncertainty(point, rate.figure)
    exact = f"{rate.figure}" + (f", \N{PLUS-MINUS SIGN}{two_digits(error)}" if error else "")
    bounds = "" if point.result is None else ndr_words(point.result) or ""
    if bounds.startswith(("at most", "below")):
        value, measure = bounds, f"NDR; {rate.figure} {mpps(rate.value)}"
    elif rate.figure != Measure.NDR or bounds == mpps(rate.value):
        value, measure = mpps(rate.value), exact
    else:
        value, _, above = bounds.partition(", ")
        measure = f"NDR, {above or 'limit not reached'}"
    for words, sign in _BOUND.items():
        value = value.replace(f"{words} ", f"{sign}\N{NARROW NO-BREAK SPACE}")
    return Tile(point.label, value, "Mpps", measure, figures.grade, tuple(_facts(point, figures)))


def _outcome_tile(label: str, result: SearchResult, rate: Headline) -> Tile:
    view = view_of(result)
    limits = dict.fromkeys(view.limits(result))
    facts = (f"limited by {' and '.join(limits)}", *view.facts(result))
    value, unit = quantity(rate.value, rate.unit).split(" ", 1)
    return Tile(label, value, unit, view.measured, result.grade, facts)


def _facts(point: PointRecord, figures: PointFigures) -> Iterator[str]:
    if (limit := limited_by(point)) != NONE:
        yield f"limited by {limit}"
    latency = point.result.half_load_latency if point.result is not None else None
    if latency is not None:
        p50, p99 = microseconds(latency.p50_ns), microseconds(latency.p99_ns)
        yield f"p50 {p50}, p99 {p99} \N{MICRO SIGN}s"
    if figures.best is not None and not point.frames.nominal_link:
        yield f"{percent(figures.best.line_share, 0)} of line rate"


def tiles_note(run: RunRecord) -> str:
    """Explain the tiles in one sentence."""
    frames = frames_of(run)
    shown = len(tiles(run))
    which = f"{shown} of {len(run.points)} points. " if shown < len(run.points) else ""
    if not frames:
        return which
    return (
        f"{which}NDR: highest rate without loss, in clean time. p50, p99: latency at half the PDR, "
        "in clean time where it is known. A to D: how far to trust a rate."
    )
