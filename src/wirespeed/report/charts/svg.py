# SPDX-License-Identifier: Apache-2.0
"""How does a chart look as static SVG, in a page or in a file for papers and mail?

Colours come from CSS variables, so that a page's dark theme reaches the drawing; a file of its own
brings its style along.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from wirespeed.report.charts.shapes import Chart, Line, Mark, SearchChart, Series
from wirespeed.report.theme import LIGHT, css_variables

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 34, 46

FONT = "font:12px system-ui,sans-serif"


def svg(chart: Chart, standalone: bool = False) -> str:
    """A line chart, 640 x 320 units."""
    y_scale = _Scale.of(chart)
    parts = [*_y_axis(y_scale, chart.y_label), *_x_axis(chart)]
    for series in chart.series:
        parts += _series(series, chart, y_scale)
    parts += _legend(chart.series)
    return _document(f"{chart.title}: {chart.y_label} against {chart.x_label}", parts, standalone)


def search_svg(chart: SearchChart, standalone: bool = False) -> str:
    """Each trial as a bar from its start to its end at its load, marked by its outcome."""
    top = max([trial.load_mpps for trial in chart.trials] + [level for _, level in chart.levels])
    y_scale = _Scale(0.0, _ticks(top)[-1], False, _ticks(top))
    end_s = chart.trials[-1].end_s or 1.0
    parts = [*_y_axis(y_scale, "load (Mpps)"), *_time_axis(end_s)]
    for index, (name, level) in enumerate(chart.levels):
        y = y_scale(level)
        parts.append(f'<path class="level" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        anchor, x = (("start", LEFT + 4), ("end", WIDTH - RIGHT - 4))[index % 2]
        parts.append(_text(x, y - 5, f"{name} {level:.3f}", anchor, "strong"))
    for trial in chart.trials:
        x1, x2 = (LEFT + _inner_width() * at / end_s for at in (trial.start_s, trial.end_s))
        y = y_scale(trial.load_mpps)
        shape = _mark(trial.mark, (x1 + x2) / 2, y)
        bar = (
            f'<path class="bar {_CLASS[trial.mark]}" d="M{x1:.1f} {y:.1f}H{max(x2, x1 + 1):.1f}"/>'
        )
        parts.append(f"<g><title>{escape(trial.hover)}</title>{bar}{shape}</g>")
    parts += _mark_legend(chart)
    return _document(f"Trials of {chart.title}: load against time", parts, standalone)


class _Scale:
    """Where on the drawing is a value of the y axis?"""

    def __init__(self, low: float, high: float, log: bool, ticks: list[float]) -> None:
        self.low, self.high, self.log, self.ticks = low, high, log, ticks

    @classmethod
    def of(cls, chart: Chart) -> _Scale:
        values = [y for series in chart.series for _, y in series.points]
        if not chart.log_y:
            ticks = _ticks(max(values))
            return cls(0.0, ticks[-1], False, ticks)
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        high = max(high, low + 1)
        return cls(low, high, True, [10.0**e for e in range(low, high + 1)])

    def __call__(self, value: float) -> float:
        at = math.log10(value) if self.log else value
        share = (at - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _ticks(top: float) -> list[float]:
    """0 and four to six round values above it, the last at or above `top`."""
    if top <= 0:
        return [0.0, 1.0]
    rough = top / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(m * unit for m in (1, 2, 2.5, 5, 10) if m * unit >= rough)
    return [round(i * step, 12) for i in range(math.ceil(round(top / step, 9)) + 1)]


def _inner_width() -> int:
    return WIDTH - LEFT - RIGHT


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    cls = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{cls}>{escape(text)}</text>'


def _y_axis(scale: _Scale, label: str) -> Iterable[str]:
    for tick in scale.ticks:
        y = scale(tick)
        yield f'<path class="rule" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield _text(LEFT - 8, y + 4, f"{tick:g}", "end")
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield (
        f'<text transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(label)}</text>"
    )


def _x_at(index: float, chart: Chart) -> float:
    """Categories sit in the middle of equal slots."""
    return LEFT + _inner_width() * (index + 0.5) / len(chart.categories)


def _x_axis(chart: Chart) -> Iterable[str]:
    for index, label in enumerate(chart.categories):
        yield _text(_x_at(index, chart), HEIGHT - BOTTOM + 18, label)
    yield _text(LEFT + _inner_width() / 2, HEIGHT - 8, chart.x_label)


def _time_axis(end_s: float) -> Iterable[str]:
    for tick in _ticks(end_s):
        if tick <= end_s:
            x = LEFT + _inner_width() * tick / end_s
            yield _text(x, HEIGHT - BOTTOM + 18, f"{tick:g}")
    yield _text(LEFT + _inner_width() / 2, HEIGHT - 8, "time spent on trials (s)")


def _series(series: Series, chart: Chart, scale: _Scale) -> Iterable[str]:
    at = [(_x_at(x, chart), scale(y)) for x, y in series.points]
    cls = "reference" if series.line is Line.REFERENCE else f"line c{series.colour % 8}"
    if series.line is Line.DASHED:
        cls += " dashed"
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
    yield f'<path class="{cls}" d="M{path}"/>'
    if series.line is Line.REFERENCE:
        return
    for (x, y), hover in zip(at, series.hover, strict=True):
        radius = 4 if series.line is Line.SOLID else 2.5
        yield (
            f'<circle class="dot c{series.colour % 8}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">'
            f"<title>{escape(hover)}</title></circle>"
        )


def _legend(series: Iterable[Series]) -> Iterable[str]:
    x = float(LEFT)
    for entry in series:
        cls = "reference" if entry.line is Line.REFERENCE else f"line c{entry.colour % 8}"
        cls += " dashed" if entry.line is Line.DASHED else ""
        yield f'<path class="{cls}" d="M{x:.0f} 14h18"/>'
        yield _text(x + 23, 18, entry.name, "start")
        x += 23 + 6.4 * len(entry.name) + 18


_CLASS = {
    Mark.NO_LOSS: "pass",
    Mark.WITHIN_GOAL: "goal",
    Mark.LOSS: "fail",
    Mark.INVALID: "invalid",
}


def _mark(mark: Mark, x: float, y: float) -> str:
    """Circle, triangle, cross, hollow circle."""
    cls = _CLASS[mark]
    if mark is Mark.NO_LOSS:
        return f'<circle class="mark {cls}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if mark is Mark.INVALID:
        return f'<circle class="mark hollow {cls}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    if mark is Mark.WITHIN_GOAL:
        return f'<path class="mark {cls}" d="M{x - 4:.1f} {y + 3:.1f}h8l-4 -7z"/>'
    return f'<path class="mark stroke {cls}" d="M{x - 3.5:.1f} {y - 3.5:.1f}l7 7m0 -7l-7 7"/>'


def _mark_legend(chart: SearchChart) -> Iterable[str]:
    shown = [mark for mark in Mark if any(trial.mark is mark for trial in chart.trials)]
    x = LEFT + 4.0
    for mark in shown:
        yield _mark(mark, x, 14)
        yield _text(x + 9, 18, mark.value, "start")
        x += 9 + 6.4 * len(mark.value) + 20


def _document(title: str, parts: Iterable[str], standalone: bool) -> str:
    style = _OWN_STYLE if standalone else ""
    namespace = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    return (
        f'<svg{namespace} viewBox="0 0 {WIDTH} {HEIGHT}" role="img" class="chart">'
        f"<title>{escape(title)}</title>{style}{''.join(parts)}</svg>"
    )


CHART_CSS = (
    "svg.chart text{fill:var(--muted)}svg.chart text.strong{fill:var(--ink);font-weight:600}"
    "svg.chart path{fill:none}.rule{stroke:var(--rule)}.level{stroke:var(--ink);stroke-width:1;"
    "stroke-dasharray:2 3}.line{stroke-width:2.25;stroke-linejoin:round}"
    ".dashed{stroke-dasharray:5 4;stroke-width:1.5}"
    ".reference{stroke:var(--muted);stroke-width:1.25;stroke-dasharray:2 3}"
    + "".join(f".line.c{i}{{stroke:var(--s{i})}}.dot.c{i}{{fill:var(--s{i})}}" for i in range(8))
    + "".join(
        f"svg.chart .mark.{kind}{{fill:var(--{kind})}}.bar.{kind}{{stroke:var(--{kind});"
        "stroke-width:2;stroke-opacity:.45}"
        f"svg.chart .stroke.{kind}{{stroke:var(--{kind});stroke-width:2;fill:none}}"
        for kind in ("pass", "goal", "fail", "invalid")
    )
    + "svg.chart .hollow{fill:var(--paper,#fff);stroke:var(--invalid);stroke-width:1.5}"
)
_OWN_STYLE = f"<style>svg{{{css_variables(LIGHT)}{FONT};background:#fff}}{CHART_CSS}</style>"
