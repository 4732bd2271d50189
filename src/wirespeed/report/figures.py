# SPDX-License-Identifier: Apache-2.0
"""What are a point's rates in Mpps, Gbps on both layers, and % of what the link could carry?"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.result import Interval
from wirespeed.model.spec import PointSpec
from wirespeed.model.units import l1_bps, l2_bps, line_rate_fps
from wirespeed.store.records import PointRecord


@dataclass(frozen=True, slots=True)
class Rate:
    """A frame rate over all directions, and what it means at the point's frame size.

    line_share: of the theoretical maximum, i.e. of link_bps in each direction. Above 1 is possible:
    virtual ports have no speed, traffic.link_bps is only what they are compared with.
    """

    fps: float
    l1_bps: float
    l2_bps: float
    line_share: float

    @property
    def mpps(self) -> float:
        return self.fps / 1e6


def rate(fps: float, spec: PointSpec) -> Rate:
    """That frame rate at that point."""
    frame_bytes = spec.mean_wire_bytes
    return Rate(
        fps, l1_bps(fps, frame_bytes), l2_bps(fps, frame_bytes), fps / theoretical_max_fps(spec)
    )


def theoretical_max_fps(spec: PointSpec) -> float:
    """The line rate at the point's (mean) frame size, summed over its directions."""
    return len(spec.directions) * line_rate_fps(spec.traffic.link_bps, spec.mean_wire_bytes)


@dataclass(frozen=True, slots=True)
class PointFigures:
    """The headline rates of one point; None where the search did not find one.

    constant: what was forwarded at a fixed load. reason: why figures are missing.
    """

    point: PointRecord
    maximum_fps: float
    ndr: Rate | None
    pdr: Rate | None
    mrr: Rate | None
    constant: Rate | None
    reason: str | None

    @property
    def conformant(self) -> bool:
        """Whether RFC 2544 trial rules were kept; a point without result claims nothing."""
        return self.point.result is not None and self.point.result.conformant

    @property
    def best(self) -> Rate | None:
        """The strictest figure there is, for one bar or one line of a summary."""
        return self.ndr or self.pdr or self.mrr or self.constant


def point_figures(point: PointRecord) -> PointFigures:
    """The figures of a stored point."""
    spec, result = point.spec, point.result
    found: dict[str, Rate | None] = dict.fromkeys(("ndr", "pdr", "mrr", "constant"))
    if result is not None:
        found["ndr"] = _lower(result.ndr, spec)
        found["pdr"] = _lower(result.pdr, spec)
        if result.mrr_fps is not None:
            found["mrr"] = rate(result.mrr_fps, spec)
        if result.constant is not None:
            found["constant"] = rate(result.constant.forwarding_fps, spec)
    return PointFigures(point, theoretical_max_fps(spec), **found, reason=_reason(point))


def _lower(interval: Interval | None, spec: PointSpec) -> Rate | None:
    if interval is None or interval.lower is None:
        return None
    return rate(interval.lower.load_fps, spec)


def _reason(point: PointRecord) -> str | None:
    """Why figures are missing: not measured, stopped by an error, or not measurable."""
    if point.result is not None:
        return point.result.not_measurable
    if point.error is not None:
        return point.error
    return "not measured yet"
