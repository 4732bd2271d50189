# SPDX-License-Identifier: Apache-2.0
"""Draw latency against percentile, a chart for each load."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from hdrh.histogram import HdrHistogram

from wirespeed.model.result.observation import Latency
from wirespeed.model.result.result import LatencyAtLoad
from wirespeed.model.words import microseconds, mpps, percent
from wirespeed.report.charts.shapes import Axis, Chart, Curve, LineStyle
from wirespeed.store.records import PointRecord, RunRecord

PERCENTILES: tuple[tuple[str, Callable[[Latency], float]], ...] = (
    ("p50", lambda latency: latency.p50_ns),
    ("p90", lambda latency: latency.p90_ns),
    ("p99", lambda latency: latency.p99_ns),
    ("p99.9", lambda latency: latency.p999_ns),
    ("max", lambda latency: latency.max_ns),
)

# A logarithmic axis has no zero, and the clock does not resolve less than a nanosecond.
_LEAST_NS = 1.0
_MAX_POINTS = 8
# Space for the label of the last percentile, in nines.
_MARGIN = 0.2
# As HdrHistogram plots them: each further nine takes the same width.
_NINES = (
    (0.0, "0"), (0.5, "50%"), (0.9, "90%"), (0.99, "99%"), (0.999, "99.9%"), (0.9999, "99.99%"),
)  # fmt: skip
_STEPS_A_NINE = 8
_DOTS = (0.5, 0.9, 0.99, 0.999, 0.9999)


def latency_charts(run: RunRecord) -> tuple[Chart, ...]:
    """Return a chart for each share of the PDR at which a latency was measured.

    Each has a curve for each of the first eight points: all frames, in all time.
    """
    shares = sorted({at.share for point in run.points for at in _measured(point)})
    return tuple(_chart(run, share) for share in shares)


def _measured(point: PointRecord) -> Iterator[LatencyAtLoad]:
    """Yield latencies with a histogram; those of emulated CPUs say nothing about speed."""
    for at in point.result.latency if point.result is not None and not point.emulated else ():
        if at.latency.hdrh:
            yield at


def _chart(run: RunRecord, share: float) -> Chart:
    measured = [point for point in run.points if any(_measured(point))][:_MAX_POINTS]
    ticks = tuple((_x(quantile), label) for quantile, label in _NINES)
    return Chart(
        key=f"latency-{percent(share, 0).removesuffix('%')}",
        title=f"Latency at {percent(share, 0)} of the PDR",
        x_label="percentile of all frames",
        y_label="latency (\N{MICRO SIGN}s)",
        axis=Axis(0.0, _x(_NINES[-1][0]) + _MARGIN, ticks),
        curves=tuple(
            _curve(point.label, colour, at)
            for colour, point in enumerate(measured)
            for at in _measured(point)
            if at.share == share
        ),
        log_y=True,
    )


def _curve(label: str, colour: int, at: LatencyAtLoad) -> Curve:
    """Return the curve, as far as the number of frames supports a percentile."""
    histogram = HdrHistogram.decode(at.latency.hdrh)
    last = 1 - 1 / at.latency.count
    steps = _STEPS_A_NINE * (len(_NINES) - 2)
    quantiles = {*_DOTS, *(round(1 - 10 ** (-i / _STEPS_A_NINE), 9) for i in range(steps + 1))}
    shown = sorted(q for q in quantiles if q <= last)
    points = tuple((_x(q), _value_ns(histogram, q) / 1e3) for q in shown)
    hover = tuple(
        f"{label} at {mpps(at.load_fps)} Mpps: p{100 * q:g} {microseconds(us * 1e3)} "
        "\N{MICRO SIGN}s" if q in _DOTS else ""
        for q, (_, us) in zip(shown, points, strict=True)
    )  # fmt: skip
    return Curve(label, LineStyle.SOLID, colour, points, hover)


def _x(quantile: float) -> float:
    return -math.log10(1 - quantile)


def _value_ns(histogram: HdrHistogram, quantile: float) -> float:
    return max(float(histogram.get_value_at_percentile(100 * quantile)), _LEAST_NS)
