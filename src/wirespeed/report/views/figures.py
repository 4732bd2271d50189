# SPDX-License-Identifier: Apache-2.0
"""Give a point's rates in Mpps, in Gbps on both layers, and as a share of the link's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import AsIs, Bracket, Grade, Interval, Undisturbed
from wirespeed.model.study.spec import Frames
from wirespeed.model.units import l1_bps, l2_bps
from wirespeed.report.base.answers import by_placement
from wirespeed.report.base.as_is import bound_words, ndr_words
from wirespeed.store.headlines import result_headline
from wirespeed.store.records import PointRecord


@dataclass(frozen=True, slots=True)
class Rate:
    """A frame rate over all directions, and the bandwidth at the point's frame size."""

    fps: float
    l1_bps: float
    l2_bps: float
    line_share: float
    """Share of the theoretical maximum, i.e. of link_bps in each direction. May exceed 1: virtual
    ports have no speed, unless traffic.link_bound limits them to a nominal one.
    """

    @property
    def mpps(self) -> float:
        return self.fps / 1e6


def rate(fps: float, spec: Frames) -> Rate:
    """Return the frame rate with its bandwidth at that point's frame size."""
    frame_bytes = spec.mean_wire_bytes
    return Rate(fps, l1_bps(fps, frame_bytes), l2_bps(fps, frame_bytes), fps / spec.line_rate_fps)


def line_rate_words(spec: Frames) -> str:
    """Return a name of the line rate: nominal where no link has that speed."""
    return "nominal line rate" if spec.nominal_link else "line rate"


@dataclass(frozen=True, slots=True)
class PointFigures:
    """Headline rates of one point, over clean time; None where the search found none."""

    point: PointRecord
    maximum_fps: float
    ndr: Rate | None
    pdr: Rate | None
    mrr: Rate | None
    constant: Rate | None
    """Rate that was forwarded at a fixed load."""
    reason: str | None
    """Reason why rates are missing."""
    grade: Grade | None = None
    undisturbed: Undisturbed | None = None
    as_is: AsIs | None = None
    """Rates over all time."""
    bracket: Bracket | None = None
    """Range of the NDR, with grade D."""
    part: int = 0
    """Number of the figure that a row shows, of a result with several: a direction of TCP."""

    @property
    def conformant(self) -> bool:
        """Return whether RFC 2544 trial rules were kept; False for a point without result."""
        return self.point.result is not None and self.point.result.conformant

    @property
    def placement(self) -> PlacementKind | None:
        """Return where the polling CPUs were; None where that is not known."""
        return self.point.result.placement if self.point.result is not None else None

    @property
    def ndr_words(self) -> str | None:
        """Return the NDR in Mpps, as a bracket or lower bound where it is one; None without NDR."""
        return None if self.point.result is None else ndr_words(self.point.result)

    @property
    def pdr_words(self) -> str | None:
        """Return the PDR in Mpps, as a lower bound where it is one; None without PDR."""
        result = self.point.result
        return bound_words(result.pdr) if result is not None and result.pdr is not None else None

    @property
    def ndr_is_bound(self) -> bool:
        """Return whether no load above the NDR failed, so that it is only a lower bound."""
        result = self.point.result
        found = result.ndr if result is not None else None
        return found is not None and found.lower is not None and found.upper is None

    @property
    def best(self) -> Rate | None:
        """The rate that stands for the point, by the rule of store.headlines."""
        result = self.point.result
        found = None if result is None else result_headline(self.point.label, result)
        return None if found is None or not self.point.offers_frames else self._rate(found.value)

    @property
    def carried(self) -> Rate | None:
        """Lower end of a bracket."""
        return self._rate(self.bracket.carried_fps if self.bracket is not None else None)

    @property
    def overloads(self) -> Rate | None:
        """Upper end of a bracket."""
        return self._rate(self.bracket.overloads_fps if self.bracket is not None else None)

    @property
    def as_is_mrr(self) -> Rate | None:
        return self._rate(self.as_is.mrr_fps if self.as_is is not None else None)

    def _rate(self, fps: float | None) -> Rate | None:
        return None if fps is None else rate(fps, self.point.frames)


def point_figures(point: PointRecord) -> PointFigures:
    """Return the rates of a stored point."""
    result = point.result
    maximum_fps = point.frames.line_rate_fps if point.offers_frames else 0.0
    if result is None or not point.offers_frames:
        grade = None if result is None else result.grade
        return PointFigures(point, maximum_fps, None, None, None, None, _reason(point), grade)
    spec, constant = point.frames, result.constant
    return PointFigures(
        point,
        maximum_fps,
        ndr=_lower(result.ndr, spec),
        pdr=_lower(result.pdr, spec),
        mrr=None if result.mrr_fps is None else rate(result.mrr_fps, spec),
        constant=None if constant is None else rate(constant.forwarding_fps, spec),
        reason=_reason(point),
        grade=result.grade,
        undisturbed=result.undisturbed,
        as_is=result.as_is,
        bracket=result.bracket,
    )


def figures_by_placement(point: PointRecord) -> Iterator[PointFigures]:
    """Yield the point's own rates, then those of the other placements that gave one."""
    first, *others = by_placement(point).values() or (point,)
    yield point_figures(first)
    for other in others:
        if other.result is not None and other.result.grade is not None:
            yield point_figures(other)


def _lower(interval: Interval | None, spec: Frames) -> Rate | None:
    if interval is None or interval.lower is None:
        return None
    return rate(interval.lower.load_fps, spec)


def _reason(point: PointRecord) -> str | None:
    """Return why rates are missing: not measured, stopped by an error, or not measurable."""
    if point.result is not None:
        return point.result.not_measurable
    if point.error is not None:
        return point.error
    return "not measured yet"
