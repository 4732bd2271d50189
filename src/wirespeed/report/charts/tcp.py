# SPDX-License-Identifier: Apache-2.0
"""Draw TCP's throughput over the number of streams, with offloads and without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirespeed.model.study.study import flat
from wirespeed.model.words import gbps
from wirespeed.report.charts.shapes import Categories, Chart, Curve, LineStyle
from wirespeed.report.views.tcp import parameter_words, tcp_of, tcp_points, tcp_result
from wirespeed.store.records import PointRecord, RunRecord

# More charts do not help to compare.
MAX_CHARTS = 16
_X, _LINES = "tcp.streams", "tcp.offloads"


def tcp_charts(run: RunRecord) -> tuple[Chart, ...]:
    """Return a chart for each combination of the other parameters.

    Empty with fewer than two x values.
    """
    points = [point for point in tcp_points(run) if tcp_result(point) is not None]
    streams = sorted({tcp.streams for point in points if (tcp := tcp_of(point))})
    if len(streams) < 2:
        return ()
    groups = list(_groups(points).items())[:MAX_CHARTS]
    return tuple(
        Chart(
            key=f"tcp-{number}",
            title=name,
            x_label="streams of each client",
            y_label="Gbps",
            axis=Categories(tuple(str(count) for count in streams)),
            curves=tuple(_series(members, streams)),
            legend="solid: all time, dashed: clean time",
        )
        for number, (name, members) in enumerate(groups, start=1)
    )


def _groups(points: Sequence[PointRecord]) -> dict[str, list[PointRecord]]:
    """Group points that differ only in streams and offloads, by the other parameters that vary."""
    flattened = [flat({"tcp": point.parameters["tcp"]}) for point in points]
    varied = [
        key
        for key in flattened[0]
        if key not in (_X, _LINES) and len({str(values[key]) for values in flattened}) > 1
    ]
    groups: dict[str, list[PointRecord]] = {}
    for point, values in zip(points, flattened, strict=True):
        words = [parameter_words(key, values[key]) for key in varied]
        groups.setdefault(", ".join(word for word in words if word) or "TCP", []).append(point)
    return groups


def _series(members: Sequence[PointRecord], streams: Sequence[int]) -> Iterator[Curve]:
    for colour, (name, on) in enumerate((("offloads on", True), ("offloads off", False))):
        measured = {
            float(streams.index(tcp.streams)): result
            for point in members
            if (tcp := tcp_of(point))
            and tcp.offloads is on
            and (result := tcp_result(point)) is not None
        }
        as_is = {x: result.total_bps for x, result in measured.items()}
        undisturbed = {
            x: bps for x, result in measured.items() if (bps := result.undisturbed_bps) is not None
        }
        for line, which, rates in (
            (LineStyle.SOLID, "all time", as_is),
            (LineStyle.DASHED, "clean time", undisturbed),
        ):
            if rates:
                shown = sorted(rates.items())
                points = tuple((x, bps / 1e9) for x, bps in shown)
                hover = tuple(f"{name}, {which}: {gbps(bps)} Gbps" for _, bps in shown)
                yield Curve(name, line, colour, points, hover)
