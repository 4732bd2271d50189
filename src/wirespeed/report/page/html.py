# SPDX-License-Identifier: Apache-2.0
"""Write a run as one HTML file that opens anywhere, without a network.

The template only arranges; every figure and sentence is made here or in the modules this imports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wirespeed.explain.loss import total_drops
from wirespeed.model import words
from wirespeed.model.cpus import placement_words
from wirespeed.model.result.counted_time import lost_in_what_counts
from wirespeed.model.result.observation import Latency
from wirespeed.model.result.result import LatencyAtLoad
from wirespeed.model.study.form_words import design_words, quick_words
from wirespeed.report.base.theme import DARK, LIGHT, css_variables
from wirespeed.report.charts.canvas import CHART_CSS
from wirespeed.report.charts.effects import effect_drawings
from wirespeed.report.charts.latency import PERCENTILES, latency_charts
from wirespeed.report.charts.netperf import messages
from wirespeed.report.charts.run import run_charts
from wirespeed.report.charts.shapes import Chart
from wirespeed.report.charts.svg import MEDIUM, SMALL, line_svg
from wirespeed.report.charts.waterfall import waterfall_svg
from wirespeed.report.compare.effects import effect_words, factor_groups
from wirespeed.report.compare.predicted import beside_predictions
from wirespeed.report.page.view import PointView, point_view
from wirespeed.report.papers.beside import beside_published, panels
from wirespeed.report.text.answer import answers_of
from wirespeed.report.text.columns import PAGE
from wirespeed.report.text.grades import BETTER_GRADE, MEANING, could_be_better
from wirespeed.report.text.limits import figure_words, gain_words
from wirespeed.report.text.path import queue_words
from wirespeed.report.text.tiles import tiles, tiles_note
from wirespeed.report.views.column import Column
from wirespeed.report.views.emulated_tcp import offload_direction
from wirespeed.report.views.published_tcp import NETPERF_INTERFACES, NETPERF_SOURCE
from wirespeed.report.views.tcp import offload_gains, tcp_points, why_missing
from wirespeed.report.views.thresholds import Judged
from wirespeed.report.views.time_shares import time_shares
from wirespeed.report.views.waterfall import cpu_ms, published_rate, times, waterfalls
from wirespeed.report.views.workloads import by_view, frames_of
from wirespeed.store.records import RunRecord


def html_report(run: RunRecord, judged: Sequence[Judged] = ()) -> str:
    """Return the report as one file: style, script, charts and data inside.

    judged: its points by thresholds.
    """
    environment = Environment(
        loader=PackageLoader("wirespeed.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "mpps": words.mpps, "gbps": words.gbps, "percent": words.percent, "loss": words.loss,
        "us": words.microseconds, "share": words.share, "frames": words.frames,
        "seconds": words.seconds, "moment": _moment, "times": times,
        "cpu_ms": cpu_ms, "published_rate": published_rate, "gain": gain_words,
        "figure": figure_words, "counted": words.counted,
    }  # fmt: skip
    frames, tcp = frames_of(run), tcp_points(run)
    points = [point_view(run, point) for point in frames]
    groups = factor_groups(run)
    paper = beside_published(run)
    sections = [(view, [point_view(run, point) for point in its]) for view, its in by_view(run)]
    return environment.get_template("report.html.j2").render(
        run=run,
        judged=judged,
        points=points,
        sections=sections,
        others=[point for _, members in sections for point in members],
        gains=offload_gains(tcp),
        direction=offload_direction(tcp),
        why_missing=why_missing,
        waterfalls=[(found, Markup(waterfall_svg(found))) for found in waterfalls(tcp)],  # noqa: S704
        messages=messages(tcp),
        netperf_interfaces=NETPERF_INTERFACES,
        netperf_source=NETPERF_SOURCE,
        answers=answers_of(run),
        tiles=tiles(run),
        tiles_note=tiles_note(run),
        times_spent=time_shares(run),
        charts=_drawn(run_charts(run), MEDIUM),
        latency_charts=_drawn(latency_charts(run), SMALL),
        style=page_style(),
        quick=[p for p in points if p.record.result and not p.figures.conformant],
        versions=_versions(run),
        all_trials=sum(len(point.record.trials) for point in points),
        quiet_trials=sum(point.quiet for point in points),
        lift=BETTER_GRADE if could_be_better(run) else "",
        meaning=MEANING,
        not_recorded=any(p.record.result and p.figures.grade is None for p in points),
        placed=len({f.placement for point in points for f in point.by_placement}) > 1,
        placement_words=placement_words,
        dash=words.NONE,
        latencies=list(_latencies(points)),
        percentile_names=[name for name, _ in PERCENTILES],
        groups=groups,
        effects=[(title, Markup(svg)) for _, title, svg in effect_drawings(groups)],  # noqa: S704
        effect_words=effect_words,
        paper=paper,
        panels=[] if paper is None else [(t, Markup(svg)) for _, t, svg in panels(paper)],  # noqa: S704
        about_study=[*design_words(run.form), *quick_words(run.form)],
        predictions=list(beside_predictions(frames)),
        column_groups=_groups(PAGE),
        groups_of=_groups,
        lost_in_what_counts=lost_in_what_counts,
        total_drops=total_drops,
        queue_words=queue_words,
        outline=lambda value: "\n".join(_outline(value)),
        memory_gib=sum(node.memory_kib for node in run.host.nodes) / 1024 / 1024,
        took=_took(run),
    )


def _groups(columns: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """Return neighbouring columns by the heading over them."""
    return [(group, list(of_it)) for group, of_it in groupby(columns, attrgetter("group"))]


def _drawn(charts: Sequence[Chart], size: tuple[int, int]) -> list[tuple[Chart, Markup]]:
    return [(chart, Markup(line_svg(chart, size))) for chart in charts]  # noqa: S704


def page_style() -> Markup:
    """Return light colours, and dark ones for readers who prefer them, except on paper."""
    light, dark = css_variables(LIGHT), css_variables(DARK)
    return Markup(  # noqa: S704
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}{CHART_CSS}"
    )


def _versions(run: RunRecord) -> dict[str, str]:
    """Return versions of wirespeed and of every component of the benches that has one."""
    found = dict(run.versions)
    for point in run.points:
        for name, part in point.bench.items():
            if isinstance(part, dict) and "version" in part:
                versions = (part["version"], part.get("dpdk_version"))
                found[name] = ", ".join(str(version) for version in versions if version)
    return found


def _outline(value: Any, indent: str = "") -> Iterator[str]:
    """Yield nested tables and lists as indented lines; a text of several lines as a block."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, dict | list) or "\n" in str(inner):
                yield f"{indent}{key}:"
                yield from _outline(inner, indent + "  ")
            else:
                yield f"{indent}{key}: {inner}"
    elif isinstance(value, list):
        for inner in value:
            yield from _outline(inner, indent)
    else:
        yield from (f"{indent}{line}" for line in str(value).splitlines())


def _latencies(
    points: list[PointView],
) -> Iterator[tuple[PointView, LatencyAtLoad, str, Latency, list[float]]]:
    """Yield one row for each point, load and kind of time: percentiles in ns, as in PERCENTILES."""
    for point in points:
        for at in point.record.result.latency if point.record.result else ():
            answers = [("all time", at.latency)]
            if at.undisturbed is not None:
                answers.insert(0, ("clean time", at.undisturbed))
            for of, latency in answers:
                yield point, at, of, latency, [pick(latency) for _, pick in PERCENTILES]


def _moment(iso: str | None) -> str:
    return words.NONE if iso is None else datetime.fromisoformat(iso).strftime("%Y-%m-%d %H:%M UTC")


def _took(run: RunRecord) -> str:
    if run.finished_at is None:
        return "not finished"
    begun, ended = (datetime.fromisoformat(t) for t in (run.started_at, run.finished_at))
    return words.seconds((ended - begun).total_seconds())
