# SPDX-License-Identifier: Apache-2.0
"""Read from a point the rate that is compared with a published one: measured or predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from wirespeed.model.plan.prediction import Prediction
from wirespeed.model.words import NONE, counted, percent
from wirespeed.report.views.figures import point_figures
from wirespeed.store.records import PointRecord, PointState

# Share from which a link counts as full: trials offer line rate to within a frame or two.
FULL = 0.995


@dataclass(frozen=True, slots=True)
class Share:
    """Share of line rate without loss."""

    low: float
    """Share that was carried."""
    high: float | None
    """Share that is too much; None: not bounded."""

    @property
    def words(self) -> str:
        """Format the share: "63.1%", "50.0% to 99.0%" of a bracket, or "at least 50.0%"."""
        if self.high is not None and self.high > 1.02 * self.low:
            return f"{percent(self.low)} to {percent(min(self.high, 1.0))}"
        bounded = self.high is not None or self.low >= FULL
        return percent(self.low) if bounded else f"at least {percent(self.low)}"


class Reading(Protocol):
    """One kind of rate of a point."""

    where: str
    """Its name in sentences, headings and legends."""

    def full_load_fps(self, point: PointRecord) -> float | None:
        """Return the rate under full load in frames/s, over all directions, or None."""

    def lossless(self, point: PointRecord) -> Share | None:
        """Return the highest rate without loss as a share of line rate, or None."""

    def missing(self, point: PointRecord) -> str:
        """Return why there is no rate."""

    def differs(self, point: PointRecord) -> str:
        """Return what of the host explains a difference from the paper; empty where unknown."""


class _Measured:
    where = "here"

    def full_load_fps(self, point: PointRecord) -> float | None:
        """Return the MRR over clean time, else over all time."""
        found = point_figures(point)
        rate = found.mrr or found.as_is_mrr
        return None if rate is None or not rate.fps else rate.fps

    def lossless(self, point: PointRecord) -> Share | None:
        """Return the NDR, or the bracket in which it lies."""
        found, result = point_figures(point), point.result
        if found.ndr is not None and result is not None and result.ndr is not None:
            upper = result.ndr.upper
            return Share(
                found.ndr.line_share, None if upper is None else upper.load_fps / found.maximum_fps
            )
        low, high = found.carried, found.overloads
        if low is None and high is None:
            return None
        return Share(
            0.0 if low is None else low.line_share, None if high is None else high.line_share
        )

    def missing(self, point: PointRecord) -> str:
        if point.state is PointState.NOT_RUN:
            return f"not run: {point.error}"
        return point_figures(point).reason or NONE

    def differs(self, point: PointRecord) -> str:
        """Return how many CPUs forwarded, and whether functions had their own."""
        host = None if point.plan is None else point.plan.sut_host
        if host is None or host.vswitch is None:
            return ""
        cpus = counted(len(host.vswitch.pmd_cpus.value), "CPU")
        shared = any(guest.process is None for guest in host.guests)
        beside = ", and the VNFs take turns with the generator on one" if shared else ""
        if host.partner is not None and set(host.partner.pmd_cpus.value) & set(
            host.vswitch.pmd_cpus.value
        ):
            beside += ", and the bond's partner took turns with it"
        return f"Here {cpus} forwarded for all ports{beside}"


class _Predicted:
    where = "predicted there"

    def full_load_fps(self, point: PointRecord) -> float | None:
        return None if point.predicted is None else point.predicted.rate_fps

    def lossless(self, point: PointRecord) -> Share | None:
        """Derive the share from full-load rate and ring depth; a full link loses nothing."""
        found = point.predicted
        if found is None:
            return None
        share = found.rate_fps / point.frames.line_rate_fps
        if share >= FULL:
            return Share(1.0, None)
        return Share(share * found.ndr_share, share)

    def missing(self, point: PointRecord) -> str:
        return point.error or "not predicted"

    def differs(self, point: PointRecord) -> str:
        return "" if point.predicted is None else _limit(point.predicted)


MEASURED: Reading = _Measured()
PREDICTED: Reading = _Predicted()


def _limit(found: Prediction) -> str:
    """Format the limit: "Predicted: limited by the PMD cores; next the function core, 80% busy"."""
    words = f"Predicted: limited by the {found.limit.resource}"
    if len(found.loads) > 1:
        second = found.loads[1]
        words += f"; next the {second.resource}, {percent(second.utilisation, 0)} busy"
    return words


def figure_or_why(point: PointRecord, figure: str | None, reading: Reading) -> str:
    """Return the rate, or why there is none."""
    return reading.missing(point) if figure is None else figure
