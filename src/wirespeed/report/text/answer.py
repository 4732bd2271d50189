# SPDX-License-Identifier: Apache-2.0
"""Answer a run in one sentence a topology: rate, limit, first change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wirespeed.model.words import NONE, counted, mpps, percent, quantity
from wirespeed.report.base.as_is import ndr_words
from wirespeed.report.text.limit_words import limited_by
from wirespeed.report.text.things_to_change import gain_and_kind, things_to_change
from wirespeed.report.views.workloads import view_of, view_of_point
from wirespeed.store.headlines import Headline, Measure, result_headline
from wirespeed.store.records import PointRecord, RunRecord

_WITH: Mapping[str, str] = {
    Measure.NDR: "without loss",
    Measure.PDR: "with at most {goal} lost",
    Measure.MRR: "under overload",
    Measure.FORWARDED: "at a fixed load",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one topology, or for one path of TCP."""

    topology: str
    path: str
    """Stages that frames pass, e.g. "generator, Open vSwitch, generator"; empty where unknown."""
    rate: str
    limit: str
    change: str
    """First change with its expected gain; empty without any."""

    def __str__(self) -> str:
        change = f" Change first: {self.change}." if self.change else ""
        return f"{self.topology}: {self.rate}; {self.limit}.{change}"


def answers_of(run: RunRecord) -> tuple[Answer, ...]:
    """Return one answer for each topology of which a point was measured."""
    by_topology: dict[str, list[PointRecord]] = {}
    for point in run.points:
        if point.result is not None:
            by_topology.setdefault(_topology(point), []).append(point)
    return tuple(_answer(run, name, points) for name, points in by_topology.items())


def _topology(point: PointRecord) -> str:
    view = view_of_point(point)
    return point.frames.topology.kind if view is None else view.group(point)


def _answer(run: RunRecord, name: str, points: list[PointRecord]) -> Answer:
    changes = things_to_change(replace(run, points=tuple(points)))
    change = ""
    if changes:
        first = changes[0]
        change = f"{first.change[:1].lower()}{first.change[1:]} ({gain_and_kind(first)})"
    return Answer(name, _path(points[0]), _rates(name, points), _limits(points), change)


def _path(point: PointRecord) -> str:
    """Return the owners of the ports on the first path, each once in a row."""
    paths = point.sut.paths if point.sut is not None else ()
    owners = [end.partition(":")[0] for end in (paths[0] if paths else ())]
    names = {"tg": "generator", "switch": point.sut.name if point.sut is not None else "switch"}
    hops = [owner for before, owner in zip(["", *owners], owners, strict=False) if owner != before]
    return ", ".join(names.get(hop, hop) for hop in hops)


def _rates(name: str, points: Sequence[PointRecord]) -> str:
    """Return the range of the strictest measure that any point has, then points with less."""
    real = [(point, point.result) for point in points if point.result and not point.emulated]
    found = [
        (point, rate)
        for point, result in real
        if (rate := result_headline(point.label, result)) is not None
    ]
    if not found:
        if any(point.emulated for point in points):
            return "ran on emulated CPUs, which says nothing about speed"
        return "no rate could be measured"
    strictest = min((rate for _, rate in found), key=lambda rate: rate.rank).figure
    alike = [pair for pair in found if pair[1].figure == strictest]
    low, high = (pick(alike, key=lambda pair: pair[1].value) for pick in (min, max))
    said = _at(name, *high)
    if low[0] is not high[0]:
        said = f"{_at(name, *low)} to {said}"
    less = [
        f"{_place(name, point)} {_less(point, rate)}"
        for point, rate in found
        if rate.figure != strictest
    ]
    return "; ".join([f"{said} {_counted(points[0], strictest)}", *less])


def _counted(point: PointRecord, figure: str) -> str:
    """Return what a rate counts, as the end of a clause."""
    if (view := view_of_point(point)) is not None:
        return f"of {view.measured}"
    return _WITH[figure].format(goal=percent(point.frames.search.pdr_loss))


def _at(name: str, point: PointRecord, rate: Headline) -> str:
    """Format a rate with its point: "at least 5.493 Mpps (64 B)"."""
    bound = "at least " if rate.at_least else ""
    value = quantity(rate.value, rate.unit)
    place = _place(name, point)
    return f"{bound}{value}{f' ({place})' if place else ''}"


def _less(point: PointRecord, rate: Headline) -> str:
    """Format the rate of a point that has only a weaker one than the others."""
    ndr = None if point.result is None else ndr_words(point.result)
    return f"{ndr} Mpps" if ndr is not None else f"{rate.figure} {mpps(rate.value)} Mpps"


def _place(name: str, point: PointRecord) -> str:
    """Return the point's label without its topology."""
    return point.label.removeprefix(name).removeprefix(", ")


def _limits(points: Sequence[PointRecord]) -> str:
    """Return what limits most of the points, and how many of them."""
    found = Counter(limit for point in points for limit in _limit(point) if limit != NONE)
    if not found:
        return "what limits it is not known"
    limit, times = found.most_common(1)[0]
    of = "" if times == found.total() else f" at {times} of {counted(found.total(), 'point')}"
    return f"limited by {limit}{of}"


def _limit(point: PointRecord) -> list[str]:
    if point.result is None or point.result.searched:
        return [limited_by(point)]
    return list(view_of(point.result).limits(point.result))
