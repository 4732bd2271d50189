# SPDX-License-Identifier: Apache-2.0
"""Write the page of a search for faster settings."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wirespeed.model.input.fault import show
from wirespeed.report.charts.svg import WIDE, line_svg
from wirespeed.report.charts.tuned import main_effects_chart, trace_chart
from wirespeed.report.compare.tuned import TunedReport, signed
from wirespeed.report.page.html import page_style


def tune_page(found: TunedReport, version: str) -> str:
    """Return one HTML file that needs no network."""
    environment = Environment(
        loader=PackageLoader("wirespeed.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    charts = []
    if any(row.gain is not None for row in found.rows):
        charts.append(main_effects_chart(found))
    if any(each.value for each in found.measurements):
        charts.append(trace_chart(found))
    return environment.get_template("tune.html.j2").render(
        found=found,
        version=version,
        style=page_style(),
        charts=[(chart.title, Markup(line_svg(chart, WIDE))) for chart in charts],  # noqa: S704
        signed=signed,
        overrides=[f"{key} = {show(value)}" for key, value in found.overrides.items()],
    )
