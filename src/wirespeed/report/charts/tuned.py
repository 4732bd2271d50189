# SPDX-License-Identifier: Apache-2.0
"""Draw the main effects of a search for faster settings, and its measurements by placement."""

from __future__ import annotations

from wirespeed.model.cpus import placement_words
from wirespeed.report.charts.shapes import Categories, Chart, Curve, LineStyle, Range
from wirespeed.report.compare.tuned import TunedReport, signed

# More labels of measurements would overlap on the axis.
_LABELS = 12


def main_effects_chart(found: TunedReport) -> Chart:
    """Return a dot for each factor's effect and a bar for its interval."""
    rows = [row for row in found.rows if row.gain is not None]
    none = tuple((float(at), 1.0) for at in range(len(rows)))
    dots = tuple(
        Curve("effect", LineStyle.SOLID, 0, ((float(at), 1 + (row.gain or 0.0)),),
              (f"{row.name}: {signed(row.gain)}, {row.verdict}",))
        for at, row in enumerate(rows)
    )  # fmt: skip
    bars = tuple(
        Range("95% interval", 1, float(at), 1 + (row.low or 0.0), 1 + (row.high or 0.0),
              f"{row.name}: {signed(row.low)} to {signed(row.high)}")
        for at, row in enumerate(rows)
    )  # fmt: skip
    return Chart(
        "main-effects", "Effect of each factor's other level", "", f"times the {found.goal}",
        Categories(tuple(row.name for row in rows)),
        (*dots, Curve("no effect", LineStyle.REFERENCE, 0, none, ("",) * len(none))), ranges=bars,
    )  # fmt: skip


def trace_chart(found: TunedReport) -> Chart:
    """Return every measurement in order, a curve for each CPU placement."""
    curves = []
    kinds = list(dict.fromkeys(each.placement for each in found.measurements if each.value))
    for colour, kind in enumerate(kinds):
        seen = [
            (at, each) for at, each in enumerate(found.measurements)
            if each.value and each.placement is kind
        ]  # fmt: skip
        points = tuple((float(at), (each.value or 0.0) / 1e6) for at, each in seen)
        hover = tuple(
            f"{at + 1}, {each.stage}: {' + '.join(each.factors) or 'start'}" for at, each in seen
        )
        curves.append(Curve(placement_words(kind), LineStyle.SOLID, colour, points, hover))
    count = len(found.measurements)
    step = max(1, -(-count // _LABELS))
    labels = tuple(str(at + 1) if at % step == 0 else "" for at in range(count))
    unit = "Mpps" if found.unit == "frames/s" else f"10^6 {found.unit}"
    return Chart("trace", "Measurements by CPU placement", "measurement", unit,
                 Categories(labels), tuple(curves))  # fmt: skip
