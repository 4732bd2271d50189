# SPDX-License-Identifier: Apache-2.0
"""Draw the share of line rate that a gateway forwards without loss, as S1's figure 5 does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirespeed.model.study.spec import Frames
from wirespeed.model.study.study import flat
from wirespeed.model.words import mpps, percent
from wirespeed.report.base.as_is import bracket_words
from wirespeed.report.charts.shapes import Categories, Chart, Curve, LineStyle, Range
from wirespeed.report.views.figures import PointFigures, point_figures
from wirespeed.report.views.published import published
from wirespeed.store.records import RunRecord

# Candidates for the x axis; the first one that the run varies is used.
_FRAME = "traffic.frame"
_AXES = {
    _FRAME: "frame size on the subscribers' side (octets, FCS included)",
    "bng.users": "users",
    "bng.routes": "routes",
}
_COLOURS = 8


def gateway_charts(run: RunRecord) -> tuple[Chart, ...]:
    """Return charts by frame size, users or routes, next to S1's published rate."""
    figures = [
        f for f in map(point_figures, run.points)
        if "bng" in f.point.parameters and (f.ndr or f.bracket) is not None
    ]  # fmt: skip
    values = [flat(f.point.parameters) for f in figures]
    axis = next((key for key in _AXES if len({str(v[key]) for v in values}) > 1), None)
    if axis is None:
        return ()
    # Categories keep the study's order, which is that of the values.
    categories = tuple(dict.fromkeys(str(v[axis]) for v in values))
    groups: dict[str, list[tuple[float, PointFigures]]] = {}
    for figure, value in zip(figures, values, strict=True):
        place = float(categories.index(str(value[axis])))
        groups.setdefault(_group(value, values, axis), []).append((place, figure))
    series = [
        _line(name, colour, members)
        for colour, (name, members) in enumerate(list(groups.items())[: _COLOURS - 1])
    ]
    ranges = [
        found
        for colour, (name, members) in enumerate(list(groups.items())[: _COLOURS - 1])
        for found in _ranges(name, colour, members)
    ]
    legend = ["bar: it lies between (grade D)"] if ranges else []
    beside = _required([f.point.frames for f in figures], axis, categories)
    if beside:
        legend.append("S1's text gives one figure, the others of its figure 5 are a picture")
    return (
        Chart(
            key="line-share",
            title="Share of line rate without loss (NDR)",
            x_label=_AXES[axis],
            y_label="%",
            axis=Categories(categories),
            curves=(*(line for line in series if line.points), *beside),
            legend="; ".join(legend),
            ranges=tuple(ranges),
        ),
    )


def _group(value: dict[str, object], values: Sequence[dict[str, object]], axis: str) -> str:
    """Return the name of a line: the parameters that the run varies, without the axis."""
    differing = [key for key in value if key != axis and len({str(v.get(key)) for v in values}) > 1]
    words = [
        str(value[key]) if key == "topology.kind" else f"{key.rpartition('.')[2]} {value[key]}"
        for key in differing
    ]
    return ", ".join(words) or "measured"


def _line(name: str, colour: int, members: Sequence[tuple[float, PointFigures]]) -> Curve:
    found = [(x, f.ndr) for x, f in members if f.ndr is not None]
    return Curve(
        name,
        LineStyle.SOLID,
        colour,
        tuple((x, 100 * ndr.line_share) for x, ndr in found),
        tuple(
            f"{name}: {percent(ndr.line_share)} of line rate, {mpps(ndr.fps)} Mpps"
            for _, ndr in found
        ),
    )


def _ranges(
    name: str, colour: int, members: Sequence[tuple[float, PointFigures]]
) -> Iterator[Range]:
    """Yield a bar for each point of grade D: its NDR lies between the two shares."""
    for x, figures in members:
        carried, overloads = figures.carried, figures.overloads
        if figures.bracket is not None and (carried or overloads) is not None:
            low = 100 * carried.line_share if carried is not None else 0.0
            high = 100 * overloads.line_share if overloads is not None else None
            hover = f"{name}: {bracket_words(figures.bracket)} Mpps, grade {figures.grade}"
            yield Range(name, colour, x, low, high, hover)


def _required(specs: Sequence[Frames], axis: str, categories: Sequence[str]) -> tuple[Curve, ...]:
    """Return S1's published rate, drawn above the points comparable with it."""
    found = next((s1 for spec in specs if (s1 := published(spec)) is not None), None)
    if found is None:
        return ()
    places = [str(found.frame_bytes)] if axis == _FRAME else categories
    share = percent(found.line_share)
    name = f"{found.source}: {share} at {found.frame_bytes} octets"
    points = tuple((float(categories.index(place)), 100 * found.line_share) for place in places)
    return (Curve(name, LineStyle.SOLID, _COLOURS - 1, points, (name,) * len(points)),)
