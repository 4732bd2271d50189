# SPDX-License-Identifier: Apache-2.0
"""Draw a small chart of our rates and the paper's over the same categories."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.report.charts.shapes import Categories, Chart, Curve, LineStyle


def beside_chart(
    key: str,
    title: str,
    labels: tuple[str, str],
    names: tuple[str, str],
    points: Sequence[tuple[str, float | None, float | None]],
    *,
    log_y: bool = False,
) -> Chart:
    """Build a panel: ours and theirs over categories. labels: of the axes. names: ours, theirs."""
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
        axis=Categories(tuple(row[0] for row in points)),
        curves=tuple(curves),
        log_y=log_y,
    )
