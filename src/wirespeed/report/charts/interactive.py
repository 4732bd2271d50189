# SPDX-License-Identifier: Apache-2.0
"""How does a chart look on the screen, with values under the pointer?

Every model that has a colour carries the name of that colour as its only tag, so that the page can
repaint it for a dark theme (templates/report.js).
"""

from __future__ import annotations

import math
from typing import Any

from bokeh.embed import components
from bokeh.models import (
    ColumnDataSource,
    DataRange1d,
    FactorRange,
    FixedTicker,
    HoverTool,
    Line,
    PrintfTickFormatter,
    Scatter,
)
from bokeh.models.annotations import Legend, LegendItem
from bokeh.plotting import figure
from bokeh.resources import Resources

from wirespeed.report.charts.shapes import Chart, Range, Series
from wirespeed.report.charts.shapes import Line as Style
from wirespeed.report.theme import LIGHT

FONT = "system-ui, sans-serif"
_DASH = {Style.SOLID: "solid", Style.DASHED: "dashed", Style.REFERENCE: "dotted"}


def bokeh_script() -> str:
    """BokehJS itself, to be part of the page: nothing is loaded from anywhere."""
    return Resources(mode="inline", components=["bokeh"]).render_js()


def bokeh_charts(charts: tuple[Chart, ...]) -> tuple[str, tuple[str, ...]]:
    """One script for all charts, and the place of each on the page."""
    script, divisions = components(tuple(bokeh_figure(chart) for chart in charts))
    return script, tuple(divisions)


def bokeh_figure(chart: Chart, height: int = 340) -> figure:
    """A figure as wide as its place on the page."""
    plot = figure(
        x_range=FactorRange(factors=list(chart.categories)),
        y_range=DataRange1d() if chart.log_y else DataRange1d(start=0),
        y_axis_type="log" if chart.log_y else "linear",
        height=height, sizing_mode="stretch_width", toolbar_location=None, tools="",
        background_fill_color=None, border_fill_color=None, outline_line_color=None,
        x_axis_label=chart.x_label, y_axis_label=chart.y_label, name=chart.key,
    )  # fmt: skip
    drawn = [(series, _draw(plot, chart, series)) for series in chart.series]
    for one in chart.ranges:
        _draw_range(plot, chart, one)
    items = [item for series, item in drawn if series.line is not Style.DASHED]
    legend = Legend(items=items, location="left")
    legend.update(
        margin=0, padding=0, spacing=18,
        border_line_color=None, background_fill_color=None, label_text_font=FONT,
        label_text_font_size="12px", label_text_color=LIGHT["muted"], tags=["muted"],
        orientation="horizontal",
    )  # fmt: skip
    plot.add_layout(legend, "above")
    if chart.log_y:
        ticks = _log_ticks([y for series in chart.series for _, y in series.points])
        plot.yaxis.ticker = FixedTicker(ticks=ticks)
        plot.yaxis.formatter = PrintfTickFormatter(format="%g")
    _style(plot)
    return plot


def _log_ticks(values: list[float]) -> list[float]:
    """1, 2 and 5 in each decade that has values; of more than three decades the tens alone."""
    first, last = (math.floor(math.log10(value)) for value in (min(values), max(values)))
    mantissas = (1, 2, 5) if last - first < 3 else (1,)
    return [m * 10.0**decade for decade in range(first, last + 2) for m in mantissas]


def _draw(plot: figure, chart: Chart, series: Series) -> LegendItem:
    reference = series.line is Style.REFERENCE
    name = "muted" if reference else f"s{series.colour % 8}"
    source = ColumnDataSource(
        {
            "x": [chart.categories[int(x)] for x, _ in series.points],
            "y": [y for _, y in series.points],
            "hover": list(series.hover),
        }
    )
    line = Line(
        x="x", y="y", line_color=LIGHT[name], line_dash=_DASH[series.line], tags=[name],
        line_width=2.25 if series.line is Style.SOLID else 1.5,
    )  # fmt: skip
    renderers: list[Any] = [plot.add_glyph(source, line)]
    if not reference:
        size = 8 if series.line is Style.SOLID else 5
        dots = Scatter(
            x="x", y="y", size=size, fill_color=LIGHT[name], line_color=None, tags=[name]
        )
        renderers.append(plot.add_glyph(source, dots))
    plot.add_tools(HoverTool(renderers=renderers[-1:], tooltips="@hover", mode="mouse"))
    return LegendItem(label=series.name, renderers=renderers)


def _draw_range(plot: figure, chart: Chart, one: Range) -> None:
    """A bar from the lower end to the upper; where that is open, a triangle that points up."""
    name, category = f"s{one.colour % 8}", chart.categories[int(one.x)]
    ends = [one.low, one.low if one.high is None else one.high]
    source = ColumnDataSource({"x": [category] * 2, "y": ends, "hover": [one.hover] * 2})
    bar = Line(x="x", y="y", line_color=LIGHT[name], line_width=3, line_alpha=0.7, tags=[name])
    plot.add_glyph(source, bar)
    heads = Scatter(
        x="x", y="y", size=12, line_color=LIGHT[name], line_width=3, fill_color=None, tags=[name],
        marker="dash" if one.high is not None else "triangle",
    )  # fmt: skip
    renderer = plot.add_glyph(source, heads)
    plot.add_tools(HoverTool(renderers=[renderer], tooltips="@hover", mode="mouse"))


def _style(plot: figure) -> None:
    for axis in (*plot.xaxis, *plot.yaxis):
        axis.update(
            axis_line_color=None, major_tick_line_color=None, minor_tick_line_color=None,
            major_label_text_font=FONT, major_label_text_font_size="12px",
            axis_label_text_font=FONT, axis_label_text_font_size="12px",
            axis_label_text_font_style="normal", major_label_text_color=LIGHT["muted"],
            axis_label_text_color=LIGHT["muted"], tags=["muted"],
        )  # fmt: skip
    for grid in plot.xgrid:
        grid.update(grid_line_color=None)
    for grid in plot.ygrid:
        grid.update(grid_line_color=LIGHT["rule"], tags=["rule"])
