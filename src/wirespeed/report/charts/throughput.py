# SPDX-License-Identifier: Apache-2.0
"""Draw frame rate and throughput against frame size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from wirespeed.model.cpus import PlacementKind, placement_words
from wirespeed.model.study.study import flat
from wirespeed.model.words import mpps, percent
from wirespeed.report.charts.shapes import Chart, Curve, LineStyle, Move, Range
from wirespeed.report.views.figures import (
    PointFigures,
    Rate,
    figures_by_placement,
    line_rate_words,
    rate,
)
from wirespeed.store.records import RunRecord

# More groups of lines make a chart unreadable.
MAX_GROUPS = 8
# Distance between bars of two groups, in categories.
_BARS_APART = 0.07


@dataclass(frozen=True, slots=True)
class _Quantity:
    """Quantity on the y axis."""

    key: str
    title: str
    unit: str
    of: Callable[[Rate], float]


_QUANTITIES = (
    _Quantity("mpps", "Frames forwarded", "Mpps", lambda rate: rate.mpps),
    _Quantity("gbps", "Throughput on the wire (L1)", "Gbps", lambda rate: rate.l1_bps / 1e9),
)


def throughput_charts(run: RunRecord) -> tuple[Chart, ...]:
    """Return charts of Mpps, and Gbps on the wire, against frame size.

    Empty with fewer than two frame sizes.
    """
    figures = _typical([f for f in _all_figures(run) if f.best is not None])
    sizes = sorted({_size(f) for f in figures})
    if len(sizes) < 2:
        return ()
    x_of = {size: float(index) for index, size in enumerate(sizes)}
    groups = list(_groups(figures).items())[:MAX_GROUPS]
    mixed = any(f.ndr and f.mrr for f in figures)
    legend = ["solid: NDR, dashed: MRR"] if mixed else []
    if any(f.bracket is not None or f.ndr_is_bound for f in figures):
        legend.append("bar: NDR between two loads, or at least")
    moves = list(_moved(figures))
    if moves:
        legend.append("arrow: its CPUs moved")
    charts = []
    for quantity in _QUANTITIES:
        series = [
            line
            for colour, (name, members) in enumerate(groups)
            for line in _lines(_Group(name, colour, members), quantity, x_of, mixed)
        ]
        series.append(_line_rate(figures, quantity, x_of))
        charts.append(
            Chart(
                key=quantity.key,
                title=quantity.title,
                x_label="frame size (octets, FCS included)",
                y_label=quantity.unit,
                categories=tuple(text for _, text in sizes),
                curves=tuple(series),
                legend="; ".join(legend),
                ranges=tuple(
                    found
                    for colour, (name, members) in enumerate(groups)
                    for found in _ranges(
                        _Group(name, colour, members), quantity, x_of, _apart(colour, len(groups))
                    )
                ),
                moves=tuple(_move(pair, quantity, x_of) for pair in moves),
            )
        )
    return tuple(charts)


def _all_figures(run: RunRecord) -> Iterator[PointFigures]:
    for point in run.points:
        yield from figures_by_placement(point)


def _apart(colour: int, groups: int) -> float:
    """Return the distance of a group's bars from the middle, so that none hides another."""
    return _BARS_APART * (colour - (groups - 1) / 2)


def _moved(figures: Sequence[PointFigures]) -> Iterator[tuple[PointFigures, PointFigures]]:
    """Yield pairs of rates of one point in two placements: the first one and another."""
    first: dict[str, PointFigures] = {}
    for figure in figures:
        known = first.setdefault(figure.point.id, figure)
        if known.placement is not figure.placement:
            yield known, figure


def _move(
    pair: tuple[PointFigures, PointFigures],
    quantity: _Quantity,
    x_of: dict[tuple[float, str], float],
) -> Move:
    rates = [figure.best for figure in pair]
    start, end = (quantity.of(rate) if rate is not None else 0.0 for rate in rates)
    there, here = (placement_words(figure.placement) for figure in pair)
    hover = f"{pair[0].point.label} met both: {there}, and {here}"
    return Move(x_of[_size(pair[0])], start, end, hover)


def _typical(figures: Sequence[PointFigures]) -> list[PointFigures]:
    """Return, of each point's repeats, the median one."""
    repeats: dict[tuple[str, PlacementKind | None], list[PointFigures]] = {}
    for figure in figures:
        repeats.setdefault((figure.point.id, figure.placement), []).append(figure)
    return [
        sorted(found, key=lambda f: f.best.fps if f.best is not None else 0.0)[len(found) // 2]
        for found in repeats.values()
    ]


def _size(figures: PointFigures) -> tuple[float, str]:
    frame = figures.point.frames.traffic.frame
    return frame.mean_bytes, frame.text


def _groups(figures: Sequence[PointFigures]) -> dict[str, list[PointFigures]]:
    """Group points that differ only in frame size, by shared parameters and placement."""
    flattened = [(f, flat(f.point.parameters)) for f in figures]
    first = flattened[0][1]
    differing = [
        key
        for key in first
        if key not in ("topology.kind", "traffic.frame")
        and any(other[key] != first[key] for _, other in flattened)
    ]
    groups: dict[str, list[PointFigures]] = {}
    placed = len({figure.placement for figure in figures}) > 1
    for figure, values in flattened:
        words = [f"{key.rpartition('.')[2]} {values[key]}" for key in differing]
        if placed and figure.placement is not None:
            words.append(placement_words(figure.placement))
        name = ", ".join([str(values["topology.kind"]), *words])
        groups.setdefault(name, []).append(figure)
    return groups


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    colour: int
    members: list[PointFigures]


def _lines(
    group: _Group, quantity: _Quantity, x_of: dict[tuple[float, str], float], mixed: bool
) -> Iterable[Curve]:
    """Yield the NDR as a solid line and the MRR as a dashed one.

    A PDR without an NDR is solid, too. mixed: other groups have an NDR, so that a group of MRRs
    alone stays dashed.
    """
    picks: list[tuple[str, LineStyle, Callable[[PointFigures], Rate | None]]] = [
        ("MRR", LineStyle.DASHED, lambda f: f.mrr)
    ]
    if any(f.ndr for f in group.members):
        picks.insert(0, ("NDR", LineStyle.SOLID, lambda f: None if f.ndr_is_bound else f.ndr))
    elif any(f.pdr for f in group.members):
        picks.insert(0, ("PDR", LineStyle.SOLID, lambda f: f.pdr))
    elif not (mixed and any(f.mrr for f in group.members)):
        picks = [("", LineStyle.SOLID, lambda f: None if f.bracket is not None else f.best)]
    for figure, line, pick in picks:
        ordered = sorted(group.members, key=lambda f: x_of[_size(f)])
        found = [(x_of[_size(f)], picked) for f in ordered if (picked := pick(f)) is not None]
        if found:
            name = f"{group.name} {figure}".strip()
            yield Curve(
                group.name,
                line,
                group.colour,
                tuple((x, quantity.of(picked)) for x, picked in found),
                tuple(
                    f"{name}: {_hover(picked)}{_grade(member)}"
                    for member in ordered
                    if (picked := pick(member)) is not None
                ),
            )


def _ranges(
    group: _Group, quantity: _Quantity, x_of: dict[tuple[float, str], float], apart: float
) -> Iterable[Range]:
    """Yield a bar for each point with only bounds: its NDR lies between the two loads."""
    for member in group.members:
        carried = member.ndr if member.ndr_is_bound else member.carried
        overloads = member.overloads
        if carried is None and overloads is None:
            continue
        low = quantity.of(carried) if carried is not None else 0.0
        high = quantity.of(overloads) if overloads is not None else None
        hover = f"{group.name} NDR: {member.ndr_words} Mpps{_grade(member)}"
        x = x_of[_size(member)] + apart
        yield Range(group.name, group.colour, x, low, high, hover)


def _grade(figures: PointFigures) -> str:
    return "" if figures.grade is None else f", grade {figures.grade}"


def _hover(rate: Rate) -> str:
    return (
        f"{mpps(rate.fps)} Mpps, {rate.l1_bps / 1e9:.2f} Gbps L1, "
        f"{percent(rate.line_share)} of line rate"
    )


def _line_rate(
    figures: Sequence[PointFigures], quantity: _Quantity, x_of: dict[tuple[float, str], float]
) -> Curve:
    """Return what the link could carry, for comparison."""
    points = {x_of[_size(f)]: quantity.of(rate(f.maximum_fps, f.point.frames)) for f in figures}
    spec = figures[0].point.frames
    name = f"{line_rate_words(spec)} of {spec.traffic.link_bps / 1e9:g} Gbit/s"
    ordered = tuple(sorted(points.items()))
    return Curve(
        name, LineStyle.REFERENCE, 0, ordered, tuple(f"{name}: {y:.2f}" for _, y in ordered)
    )
