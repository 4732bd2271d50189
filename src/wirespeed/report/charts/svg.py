# SPDX-License-Identifier: Apache-2.0
"""Draw charts as SVG, for a page or for a file."""

from __future__ import annotations

from html import escape

from wirespeed.explain.trial import Outcome
from wirespeed.report.charts.canvas import LEFT, Canvas, Entry, Scale, round_ticks
from wirespeed.report.charts.shapes import (
    Axis,
    Categories,
    Chart,
    Curve,
    LineStyle,
    Range,
    SearchChart,
)

# Size of a file, of the first drawing of a page, and of one in two columns.
WIDE = (720, 340)
MEDIUM = (560, 300)
SMALL = (460, 280)

# Top of a search chart, relative to the found loads.
_ABOVE_LEVELS = 1.5

_OUTCOME = {
    Outcome.NO_LOSS: "pass",
    Outcome.WITHIN_GOAL: "goal",
    Outcome.OVERLOAD: "fail",
    Outcome.UNKNOWN: "invalid",
}


def line_svg(chart: Chart, size: tuple[int, int] = WIDE, standalone: bool = False) -> str:
    """Draw the chart's curves; the <title> of every dot is its value.

    standalone: a file has the chart's legend as text; a page shows it next to the title.
    """
    values = [y for series in chart.curves for _, y in series.points]
    values += [y for one in chart.ranges for y in (one.low, one.high) if y]
    values += [
        y + error
        for series in chart.curves
        for (_, y), error in zip(series.points, series.errors, strict=False)
        if error
    ]
    scale = Scale.logarithmic(values) if chart.log_y else Scale.linear(max(values))
    remarks = [Entry(part) for part in chart.legend.split("; ") if part and standalone]
    canvas = Canvas(*size, scale, (*_entries(chart), *remarks))
    canvas.y_axis(chart.y_label)
    axis = chart.axis
    canvas.x_axis(((axis.share(x), label) for x, label in axis.ticks), chart.x_label)
    for series in chart.curves:
        _line(canvas, series, axis)
    for one in chart.ranges:
        _range(canvas, one, axis)
    title = f"{chart.title}: {chart.y_label} against {chart.x_label}"
    return canvas.document(title, standalone)


def _entries(chart: Chart) -> tuple[Entry, ...]:
    """Return one legend entry for each name: its solid line, else its dashed one, else its bar."""
    kinds: dict[str, str] = {}
    for series in chart.curves:
        if series.name not in kinds or series.line is LineStyle.SOLID:
            kinds[series.name] = _line_class(series)
    for one in chart.ranges:
        kinds.setdefault(one.name, f"range c{one.colour % 8}")
    return tuple(Entry(name, f'<path class="{kind}" d="M0 0h18"/>') for name, kind in kinds.items())


def _line_class(series: Curve) -> str:
    if series.line is LineStyle.REFERENCE:
        return "reference"
    dashed = " dashed" if series.line is LineStyle.DASHED else ""
    return f"line c{series.colour % 8}{dashed}"


def _line(canvas: Canvas, series: Curve, axis: Axis | Categories) -> None:
    at = [(canvas.x(axis.share(x)), canvas.y(y)) for x, y in series.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
    canvas.add(f'<path class="{_line_class(series)}" d="M{path}"/>')
    for (x, y), (_, value), error in zip(at, series.points, series.errors, strict=False):
        if error:
            _error_bar(canvas, series, x, canvas.y(value + error), 2 * y - canvas.y(value + error))
    radius = 4 if series.line is LineStyle.SOLID else 2.5
    kind = f"{'ring' if series.hollow else 'dot'} c{series.colour % 8}"
    for (x, y), hover in zip(at, series.hover, strict=True):
        if not hover:
            continue
        canvas.add(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">'
            f"<title>{escape(hover)}</title></circle>"
        )


def _error_bar(canvas: Canvas, series: Curve, x: float, top: float, bottom: float) -> None:
    canvas.add(
        f'<path class="error c{series.colour % 8}" '
        f'd="M{x - 4:.1f} {top:.1f}h8M{x:.1f} {top:.1f}V{bottom:.1f}m-4 0h8"/>'
    )


def _range(canvas: Canvas, one: Range, axis: Axis | Categories) -> None:
    """Draw a bar with a foot and a head; an open upper end gets an arrow."""
    x = canvas.x(axis.share(one.x))
    low, high = canvas.y(one.low), canvas.y(one.low if one.high is None else one.high)
    head = f"M{x - 6:.1f} {high:.1f}h12" if one.high is not None else ""
    arrow = _arrow(x, high) if one.high is None else ""
    canvas.add(
        f'<g><title>{escape(one.hover)}</title><path class="range c{one.colour % 8}" '
        f'd="M{x - 6:.1f} {low:.1f}h12M{x:.1f} {low:.1f}V{high:.1f}{head}"/>{arrow}</g>'
    )


def search_svg(chart: SearchChart, size: tuple[int, int] = WIDE, standalone: bool = False) -> str:
    """Draw each trial as a bar from its start to its end at its load, marked by its outcome.

    Overload trials far above the found loads would flatten the rest. They are drawn at the upper
    edge under an arrow.
    """
    top = max(trial.load_mpps for trial in chart.trials)
    if chart.levels:
        top = min(top, _ABOVE_LEVELS * max(level for _, level in chart.levels))
    end_s = chart.trials[-1].end_s or 1.0
    shown = [found for found in Outcome if any(trial.outcome is found for trial in chart.trials)]
    legend = tuple(Entry(found.value, _symbol(found, 12, 0)) for found in shown)
    canvas = Canvas(*size, Scale.linear(top), legend)
    canvas.y_axis("load (Mpps)")
    ticks = [tick for tick in round_ticks(end_s) if tick <= end_s]
    canvas.x_axis(((t / end_s, f"{t:g}") for t in ticks), "time spent on trials (s)")
    for index, (name, level) in enumerate(chart.levels):
        y = canvas.y(level)
        canvas.add(f'<path class="level" d="M{LEFT} {y:.1f}H{canvas.right}"/>')
        x, anchor = ((LEFT + 4, "start"), (canvas.right - 4, "end"))[index % 2]
        canvas.text(x, y - 5, f"{name} {level:.3f}", anchor, "strong halo")
    for trial in chart.trials:
        x1, x2 = canvas.x(trial.start_s / end_s), canvas.x(trial.end_s / end_s)
        middle = (x1 + x2) / 2
        beyond = trial.load_mpps > canvas.y_scale.high
        y = canvas.y(min(trial.load_mpps, canvas.y_scale.high))
        path = f"M{x1:.1f} {y:.1f}H{max(x2, x1 + 1):.1f}"
        canvas.add(
            f"<g><title>{escape(trial.hover)}</title>"
            f'<path class="bar {_OUTCOME[trial.outcome]}" d="{path}"/>'
            f"{_symbol(trial.outcome, middle, y)}{_arrow(middle, y) if beyond else ''}</g>"
        )
    return canvas.document(f"Trials of {chart.title}: load against time", standalone)


def _arrow(x: float, y: float) -> str:
    """Draw an arrow that points up: the value is above the drawing."""
    return f'<path class="arrow" d="M{x - 3:.1f} {y - 7:.1f}l3 -4l3 4"/>'


def _symbol(found: Outcome, x: float, y: float) -> str:
    """Draw the shape of an outcome, so that colour is not needed."""
    outcome = _OUTCOME[found]
    if found is Outcome.NO_LOSS:
        return f'<circle class="full {outcome}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if found is Outcome.UNKNOWN:
        return f'<circle class="hollow" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if found is Outcome.WITHIN_GOAL:
        path = f"{x - 4:.1f},{y + 3:.1f} {x + 4:.1f},{y + 3:.1f} {x:.1f},{y - 4:.1f}"
        return f'<polygon class="full {outcome}" points="{path}"/>'
    path = f"M{x - 3.5:.1f} {y - 3.5:.1f}l7 7m0 -7l-7 7"
    return f'<path class="cross {outcome}" d="{path}"/>'
