# SPDX-License-Identifier: Apache-2.0
"""Which figures of a point stand beside a published one, and what is different about its host?"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.words import NONE, counted, percent
from wirespeed.report.charts.shapes import Chart, Curve, LineStyle
from wirespeed.report.figures import point_figures
from wirespeed.store.records import PointRecord, PointState


@dataclass(frozen=True, slots=True)
class Share:
    """Of line rate without loss: `low` was carried, `high` is too much; None: not bounded."""

    low: float
    high: float | None

    @property
    def words(self) -> str:
        """E.g. "63.1%", or "50.0% to 99.0%" of a bracket, or "at least 50.0%"."""
        if self.high is not None and self.high > 1.02 * self.low:
            return f"{percent(self.low)} to {percent(min(self.high, 1.0))}"
        bounded = self.high is not None or self.low >= FULL
        return percent(self.low) if bounded else f"at least {percent(self.low)}"


# A share from which on a link is full: trials offer line rate to within a frame or two.
FULL = 0.995


def lossless(point: PointRecord) -> Share | None:
    """The NDR, or the bracket in which it lies, as a share of line rate; None: it has neither."""
    found, result = point_figures(point), point.result
    if found.ndr is not None and result is not None and result.ndr is not None:
        upper = result.ndr.upper
        return Share(
            found.ndr.line_share, None if upper is None else upper.load_fps / found.maximum_fps
        )
    low, high = found.carried, found.overloads
    if low is None and high is None:
        return None
    return Share(0.0 if low is None else low.line_share, None if high is None else high.line_share)


def full_load_fps(point: PointRecord) -> float | None:
    """The MRR: of undisturbed time, else as this host is."""
    found = point_figures(point)
    rate = found.mrr or found.as_is_mrr
    return None if rate is None or not rate.fps else rate.fps


def figure_or_why(point: PointRecord, figure: str | None) -> str:
    """The figure, or why there is none."""
    if figure is not None:
        return figure
    if point.state is PointState.NOT_RUN:
        return f"not run: {point.error}"
    return point_figures(point).reason or NONE


def cores_words(point: PointRecord) -> str:
    """How many CPUs forwarded, and whether functions had their own; empty without a plan."""
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


def beside_chart(
    key: str,
    title: str,
    labels: tuple[str, str],
    names: tuple[str, str],
    points: list[tuple[str, float | None, float | None]],
    *,
    log_y: bool = False,
) -> Chart:
    """A panel: ours and theirs over categories. labels: of the axes; names: ours, theirs."""
    curves = []
    ours = [(float(x), y) for x, (_, y, _) in enumerate(points)]
    theirs = [(float(x), y) for x, (_, _, y) in enumerate(points)]
    for number, (name, found) in enumerate(zip(names, (ours, theirs), strict=True)):
        shown = tuple((x, y) for x, y in found if y is not None and (y > 0 or not log_y))
        style = LineStyle.DASHED if number else LineStyle.SOLID
        hover = tuple(f"{name}, {points[int(x)][0]}: {y:.3g}" for x, y in shown)
        if shown:
            curves.append(Curve(name, style, number, shown, hover))
    return Chart(
        key=key,
        title=title,
        x_label=labels[0],
        y_label=labels[1],
        categories=tuple(row[0] for row in points),
        curves=tuple(curves),
        log_y=log_y,
    )
