# SPDX-License-Identifier: Apache-2.0
"""Answer a run in one sentence a topology: rate, limit, first change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wirespeed.explain.tcp import limited_by as tcp_limited_by
from wirespeed.model.words import NONE, counted, gbps, mpps, percent
from wirespeed.report.base.as_is import ndr_words
from wirespeed.report.text.limit_words import limited_by
from wirespeed.report.text.things_to_change import gain_and_kind, things_to_change
from wirespeed.report.views.tcp import tcp_result
from wirespeed.store.headlines import Headline, Measure, result_headline
from wirespeed.store.records import PointRecord, RunRecord

_WITH = {
    Measure.NDR: "without loss",
    Measure.PDR: "with at most {goal} lost",
    Measure.MRR: "under overload",
    Measure.FORWARDED: "at a fixed load",
    Measure.TCP: "of TCP payload",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one topology, or for one path of TCP."""

    topology: str
    path: str
    """What frames pass, e.g. "generator, Open vSwitch, generator"; empty where unknown."""
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
    return f"TCP over {point.tcp.path}" if point.tcp is not None else point.frames.topology.kind


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
    strictest = min((rate.figure for _, rate in found), key=lambda figure: figure.rank)
    alike = [pair for pair in found if pair[1].figure is strictest]
    low, high = (pick(alike, key=lambda pair: pair[1].value) for pick in (min, max))
    goal = "" if strictest is Measure.TCP else percent(points[0].frames.search.pdr_loss)
    said = _at(name, *high)
    if low[0] is not high[0]:
        said = f"{_at(name, *low)} to {said}"
    less = [
        f"{_place(name, point)} {_less(point, rate)}"
        for point, rate in found
        if rate.figure is not strictest
    ]
    return "; ".join([f"{said} {_WITH[strictest].format(goal=goal)}", *less])


def _at(name: str, point: PointRecord, rate: Headline) -> str:
    """Format a rate with its point: "at least 5.493 Mpps (64 B)"."""
    bound = "at least " if rate.at_least else ""
    value = f"{gbps(rate.value)} Gbps" if rate.figure is Measure.TCP else f"{mpps(rate.value)} Mpps"
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
    result = tcp_result(point)
    if result is None:
        return [limited_by(point)]
    return [str(tcp_limited_by(figure)) for figure in result.figures]
