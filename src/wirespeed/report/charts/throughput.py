# SPDX-License-Identifier: Apache-2.0
"""Draw frame rates against frame size, with the line rate as RFC 2544 section 26.1 asks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from wirespeed.model.cpus import PlacementKind, placement_words
from wirespeed.model.study.study import flat
from wirespeed.model.units import line_rate_fps
from wirespeed.model.words import mpps, percent
from wirespeed.report.base.uncertainty import uncertainty
from wirespeed.report.charts.shapes import Axis, Chart, Curve, LineStyle, Range
from wirespeed.report.views.figures import (
    PointFigures,
    Rate,
    figures_by_placement,
    line_rate_words,
)
from wirespeed.store.records import RunRecord

# More groups of lines make a chart unreadable.
MAX_GROUPS = 8
# Distances as shares of the axis: between bars of two groups, between labels, around the sizes.
_BARS_APART, _LABELS_APART, _MARGIN = 0.02, 0.075, 0.06
# Top of the drawing, relative to the highest rate; a line rate above it is cut.
_ABOVE = 1.15
_SAMPLES = 60
# Measures of which an error may be known.
_MEASURES = ("NDR", "PDR", "MRR", "constant")

_Pick = Callable[[PointFigures], Rate | None]


@dataclass(frozen=True, slots=True)
class _Group:
    """Points that differ only in frame size; those of one placement share a line."""

    name: str
    colour: int
    members: list[PointFigures]


def throughput_chart(run: RunRecord) -> Chart | None:
    """Return the chart of Mpps against frame size; None with fewer than two frame sizes."""
    figures = _typical([f for f in _all_figures(run) if f.best is not None])
    sizes = dict(sorted({_x(f): f.point.frames.traffic.frame.text for f in figures}.items()))
    if len(sizes) < 2:
        return None
    groups = [
        _Group(name, colour, members)
        for colour, (name, members) in enumerate(list(_groups(figures).items())[:MAX_GROUPS])
    ]
    axis = _axis(sizes)
    usual = _usual_placement(figures)
    curves = [line for group in groups for line in _lines(group, usual)]
    ranges = tuple(bar for group in groups for bar in _ranges(group, axis, len(groups)))
    top = _ABOVE * max(
        [y for curve in curves for _, y in curve.points] + [bar.high or bar.low for bar in ranges]
    )
    curves += _line_rate(figures[0], axis, top)
    return Chart(
        key="mpps",
        title="Frames forwarded",
        x_label="frame size (octets, FCS included)",
        y_label="Mpps",
        axis=axis,
        curves=tuple(curves),
        legend="; ".join(_legend(figures, curves, ranges, usual)),
        ranges=ranges,
    )


def _all_figures(run: RunRecord) -> Iterator[PointFigures]:
    for point in run.points:
        yield from figures_by_placement(point)


def _x(figures: PointFigures) -> float:
    return math.log(figures.point.frames.traffic.frame.mean_bytes)


def _axis(sizes: dict[float, str]) -> Axis:
    """Return a logarithmic axis; labels that would touch the one before are omitted."""
    low, high = min(sizes), max(sizes)
    margin = _MARGIN * (high - low)
    shown: list[tuple[float, str]] = []
    for x, text in sizes.items():
        near = _LABELS_APART * (high - low)
        if not shown or (x - shown[-1][0] >= near and (high - x >= near or x == high)):
            shown.append((x, text))
    return Axis(low - margin, high + margin, tuple(shown))


def _usual_placement(figures: Sequence[PointFigures]) -> PlacementKind | None:
    """Return the placement of most points; its dots are filled."""
    return Counter(f.placement for f in figures).most_common(1)[0][0]


def _typical(figures: Sequence[PointFigures]) -> list[PointFigures]:
    """Return, of each point's repeats, the median one."""
    repeats: dict[tuple[str, PlacementKind | None], list[PointFigures]] = {}
    for figure in figures:
        repeats.setdefault((figure.point.id, figure.placement), []).append(figure)
    return [
        sorted(found, key=lambda f: f.best.fps if f.best is not None else 0.0)[len(found) // 2]
        for found in repeats.values()
    ]


def _groups(figures: Sequence[PointFigures]) -> dict[str, list[PointFigures]]:
    """Group points that differ only in frame size, by their other parameters."""
    flattened = [(f, flat(f.point.parameters)) for f in figures]
    first = flattened[0][1]
    differing = [
        key
        for key in first
        if key not in ("topology.kind", "traffic.frame")
        and any(other[key] != first[key] for _, other in flattened)
    ]
    groups: dict[str, list[PointFigures]] = {}
    for figure, values in sorted(flattened, key=lambda pair: _x(pair[0])):
        words = [f"{key.rpartition('.')[2]} {values[key]}" for key in differing]
        groups.setdefault(", ".join([str(values["topology.kind"]), *words]), []).append(figure)
    return {name: groups[name] for name in _in_order(figures, groups)}


def _in_order(figures: Sequence[PointFigures], groups: dict[str, list[PointFigures]]) -> list[str]:
    """Return the groups' names in the order of the study's points."""
    return sorted(groups, key=lambda name: min(figures.index(f) for f in groups[name]))


def _lines(group: _Group, usual: PlacementKind | None) -> Iterator[Curve]:
    """Yield the strictest rate as a solid line and the MRR as a dashed one, for each placement."""
    for placement in dict.fromkeys(member.placement for member in group.members):
        members = [member for member in group.members if member.placement is placement]
        for first, (measure, style, pick) in zip((True, False), _picks(members), strict=False):
            found = [(m, rate) for m in members if (rate := pick(m)) is not None]
            if found:
                yield Curve(
                    group.name,
                    style,
                    group.colour,
                    tuple((_x(member), rate.mpps) for member, rate in found),
                    tuple(_hover(group.name, measure, m, rate) for m, rate in found),
                    tuple(_error_mpps(m, measure, rate) for m, rate in found) if first else (),
                    hollow=placement is not usual,
                )


def _picks(members: Sequence[PointFigures]) -> Iterator[tuple[str, LineStyle, _Pick]]:
    if any(m.ndr for m in members):
        yield "NDR", LineStyle.SOLID, lambda m: None if m.ndr_is_bound else m.ndr
    elif any(m.pdr for m in members):
        yield "PDR", LineStyle.SOLID, lambda m: m.pdr
    elif any(m.constant for m in members):
        yield "constant", LineStyle.SOLID, lambda m: m.constant
    elif not any(m.mrr for m in members):
        yield "MRR, all time", LineStyle.DASHED, lambda m: m.as_is_mrr
    yield "MRR", LineStyle.DASHED, lambda m: m.mrr


def _error_mpps(member: PointFigures, measure: str, rate: Rate) -> float | None:
    if measure not in _MEASURES or member.bracket is not None:
        return None  # the bracket's bar says more
    error = uncertainty(member.point, measure)
    return None if error is None else error * rate.mpps


def _ranges(group: _Group, axis: Axis, groups: int) -> Iterator[Range]:
    """Yield a bar for each point with only bounds of its NDR, cut at its MRR.

    No NDR lies above what the point received under overload. A bar without an upper end is open.
    """
    shift = _BARS_APART * (group.colour - (groups - 1) / 2) * (axis.high - axis.low)
    for member in group.members:
        carried = member.ndr if member.ndr_is_bound else member.carried
        if carried is None and member.overloads is None:
            continue
        low = carried.mpps if carried is not None else 0.0
        ends = [rate.mpps for rate in (member.overloads, member.mrr) if rate is not None]
        high = min((end for end in ends if end > low), default=None)
        hover = f"{group.name} NDR: {member.ndr_words} Mpps{_remarks(member)}"
        yield Range(group.name, group.colour, _x(member) + shift, low, high, hover)


def _hover(name: str, measure: str, member: PointFigures, rate: Rate) -> str:
    return (
        f"{name} {measure}: {mpps(rate.fps)} Mpps, {rate.l1_bps / 1e9:.2f} Gbps L1, "
        f"{percent(rate.line_share)} of line rate{_remarks(member)}"
    )


def _remarks(figures: PointFigures) -> str:
    placed = "" if figures.placement is None else f", {placement_words(figures.placement)}"
    return placed if figures.grade is None else f"{placed}, grade {figures.grade}"


def _line_rate(figures: PointFigures, axis: Axis, top: float) -> Iterator[Curve]:
    """Yield the line rate as a curve, as far as it is below `top` (in Mpps)."""
    spec = figures.point.frames
    added_bytes = spec.mean_wire_bytes - spec.traffic.frame.mean_bytes
    step = (axis.high - axis.low) / _SAMPLES
    xs = [axis.low + i * step for i in range(_SAMPLES + 1)]
    each = [line_rate_fps(spec.traffic.link_bps, math.exp(x) + added_bytes) / 1e6 for x in xs]
    rates = [len(spec.directions) * rate for rate in each]
    points = tuple((x, y) for x, y in zip(xs, rates, strict=True) if y <= top)
    if points:
        name = f"{line_rate_words(spec)} of {spec.traffic.link_bps / 1e9:g} Gbit/s"
        yield Curve(name, LineStyle.REFERENCE, 0, points, ("",) * len(points))


def _legend(
    figures: Sequence[PointFigures],
    curves: Sequence[Curve],
    ranges: Sequence[Range],
    usual: PlacementKind | None,
) -> Iterator[str]:
    styles = {curve.line for curve in curves}
    if {LineStyle.SOLID, LineStyle.DASHED} <= styles:
        yield "solid: without loss (NDR), dashed: under overload (MRR)"
    if ranges:
        yield "thick bar: the NDR lies on it"
    if any(error for curve in curves for error in curve.errors):
        yield "thin bar: 95% interval"
    if any(curve.hollow for curve in curves):
        others = {f.placement for f in figures} - {usual}
        words = " or ".join(sorted(placement_words(other) for other in others))
        yield f"filled: {placement_words(usual)}, hollow: {words}"
    if LineStyle.REFERENCE not in styles:
        yield f"the {line_rate_words(figures[0].point.frames)} is above the chart"
