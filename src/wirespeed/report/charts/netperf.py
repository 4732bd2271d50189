# SPDX-License-Identifier: Apache-2.0
"""Show TCP throughput over the size of a program's writes, next to S2's netperf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.model.study.study import flat
from wirespeed.model.words import EMULATED, gbps
from wirespeed.report.charts.shapes import Categories, Chart, Curve, LineStyle
from wirespeed.report.views.published_tcp import NETPERF, NETPERF_INTERFACES, NetperfRow
from wirespeed.report.views.tcp import parameter_words, tcp_points, tcp_result
from wirespeed.store.records import PointRecord, RunRecord

_X = "tcp.message_bytes"


@dataclass(frozen=True, slots=True)
class Messages:
    """Rates by message size."""

    names: tuple[str, ...]
    """Measured combinations."""
    rows: tuple[tuple[int, tuple[float | None, ...], NetperfRow | None], ...]
    """Size, rates in the order of names (None where a point is missing), and S2's rates for that
    size, if any.
    """


def messages(points: Sequence[PointRecord]) -> Messages | None:
    """Group the points by the size of their writes; None with fewer than two sizes."""
    measured = [point for point in points if tcp_result(point) is not None]
    flattened = [flat(point.parameters) for point in measured]
    sizes = sorted({int(str(values[_X])) for values in flattened})
    if len(sizes) < 2:
        return None
    keys = dict.fromkeys(key for values in flattened for key in values)
    varied = [
        key
        for key in keys
        if key != _X and len({str(v[key]) for v in flattened if key in v}) > 1
    ]  # fmt: skip
    found: dict[str, dict[int, float]] = {}
    for point, values in zip(measured, flattened, strict=True):
        words = [parameter_words(key, values[key]) for key in varied if key in values]
        result = tcp_result(point)
        assert result is not None
        name = ", ".join(word for word in words if word) or "measured"
        name += f" ({EMULATED})" if point.emulated else ""
        found.setdefault(name, {})[int(str(values[_X]))] = result.total_bps
    published = {row.message_bytes: row for row in NETPERF}
    rows = [
        (size, tuple(rates.get(size) for rates in found.values()), published.get(size))
        for size in sizes
    ]
    return Messages(tuple(found), tuple(rows))


def message_chart(run: RunRecord) -> tuple[Chart, ...]:
    """Return rates over sizes, both logarithmic in effect; S2's lines where it has the sizes."""
    found = messages(tcp_points(run))
    if found is None:
        return ()
    ours = [
        _series(name, LineStyle.SOLID, at, [rates[at] for _, rates, _ in found.rows])
        for at, name in enumerate(found.names)
    ]
    theirs = [
        _series(
            f"S2 {name}", LineStyle.SOLID, len(ours) + at,
            [row.newer[at] * 1e9 if row else None for _, _, row in found.rows],
        )
        for at, name in enumerate(NETPERF_INTERFACES)
    ]  # fmt: skip
    return (
        Chart(
            key="tcp-messages",
            title="TCP by size of writes, next to S2",
            x_label="octets of each write",
            y_label="Gbps",
            axis=Categories(tuple(str(size) for size, _, _ in found.rows)),
            curves=tuple(series for series in (*ours, *theirs) if series.points),
            log_y=True,
        ),
    )


def _series(name: str, line: LineStyle, colour: int, rates: Sequence[float | None]) -> Curve:
    shown = [(float(x), bps) for x, bps in enumerate(rates) if bps]
    hover = tuple(f"{name}: {gbps(bps)} Gbps" for _, bps in shown)
    return Curve(name, line, colour, tuple((x, bps / 1e9) for x, bps in shown), hover)
