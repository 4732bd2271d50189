# SPDX-License-Identifier: Apache-2.0
"""Write the page of a speed-test site."""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wirespeed.model.host.sites import Day, Site
from wirespeed.model.words import counted, percent
from wirespeed.report.charts.shapes import Categories, Chart, Curve, LineStyle
from wirespeed.report.charts.svg import WIDE, line_svg
from wirespeed.report.page.html import page_style

# More labels of days would overlap on the axis.
_LABELS = 8


def site_page(site: Site, sites: Sequence[Site], days: int, version: str) -> str:
    """Return one HTML file that needs no network and links to the pages of the other sites."""
    environment = Environment(
        loader=PackageLoader("wirespeed.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    chart = rates_chart(site)
    return environment.get_template("site.html.j2").render(
        site=site,
        others=[(one.name, page_name(one)) for one in sites if one.name != site.name],
        days=days,
        version=version,
        style=page_style(),
        chart=None if chart is None else Markup(line_svg(chart, WIDE)),  # noqa: S704
        tests_limited=sum(site.limits.values()),
        counted=counted,
        percent=percent,
    )


def page_name(site: Site) -> str:
    """Return the file's name; other characters than letters and digits could lead elsewhere."""
    plain = "".join(c if c.isalnum() or c in "-_" else f"~{ord(c):x}" for c in site.name)
    return f"{plain}.html"


def rates_chart(site: Site) -> Chart | None:
    """Return the median rate of each day; None without a test."""
    days = sorted({day.day for day in (*site.download, *site.upload)})
    if not days:
        return None
    step = -(-len(days) // _LABELS)
    labels = tuple(day[5:] if index % step == 0 else "" for index, day in enumerate(days))
    curves = [
        _curve(name, colour, found, days)
        for colour, (name, found) in enumerate(
            (("download", site.download), ("upload", site.upload))
        )
        if found
    ]
    return Chart(
        "rates", f"{site.name}: median of a day's tests", "day (UTC)", "Gbit/s",
        Categories(labels), tuple(curves),
    )  # fmt: skip


def _curve(name: str, colour: int, found: Sequence[Day], days: Sequence[str]) -> Curve:
    return Curve(
        name, LineStyle.SOLID, colour,
        tuple((float(days.index(day.day)), day.median_bps / 1e9) for day in found),
        tuple(f"{day.day}: {day.median_bps / 1e9:.3g} Gbit/s, {counted(day.tests, 'test')}"
              for day in found),
    )  # fmt: skip
