# SPDX-License-Identifier: Apache-2.0
"""Draw a point's latency over its load."""

from __future__ import annotations

from collections.abc import Callable

from wirespeed.model.result.observation import Latency
from wirespeed.model.words import microseconds, mpps, percent
from wirespeed.report.charts.shapes import Chart, Curve, LineStyle
from wirespeed.store.records import PointRecord

PERCENTILES: tuple[tuple[str, Callable[[Latency], float]], ...] = (
    ("p50", lambda latency: latency.p50_ns),
    ("p90", lambda latency: latency.p90_ns),
    ("p99", lambda latency: latency.p99_ns),
    ("p99.9", lambda latency: latency.p999_ns),
    ("max", lambda latency: latency.max_ns),
)

# A logarithmic axis has no zero, and the clock does not resolve less than a nanosecond.
_LEAST_NS = 1.0


def latency_chart(point: PointRecord) -> Chart | None:
    """Return percentiles against load, or None where latency was not measured."""
    found = point.result.latency if point.result is not None else ()
    if not found:
        return None
    series = tuple(
        Curve(
            name,
            LineStyle.SOLID,
            colour,
            tuple((float(i), max(pick(at.latency), _LEAST_NS) / 1e3) for i, at in enumerate(found)),
            tuple(f"{name}: {microseconds(pick(at.latency))} us" for at in found),
        )
        for colour, (name, pick) in enumerate(PERCENTILES)
    )
    return Chart(
        key=f"latency-{point.key}",
        title=point.label,
        x_label="load as a share of the PDR (Mpps)",
        y_label="latency (us)",
        categories=tuple(f"{percent(at.share, 0)} ({mpps(at.load_fps)})" for at in found),
        curves=series,
        log_y=True,
    )
