# SPDX-License-Identifier: Apache-2.0
"""What does a run look like as one HTML file that opens anywhere, without a network?

The template only arranges; every figure and sentence is made here or in the modules this imports.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wirespeed.model.result import LatencyAtLoad
from wirespeed.model.trial import Latency, Trial
from wirespeed.report import text
from wirespeed.report.as_is import bracket_words, loss_range
from wirespeed.report.charts.canvas import CHART_CSS
from wirespeed.report.charts.gateway import gateway_charts
from wirespeed.report.charts.interactive import bokeh_charts, bokeh_script
from wirespeed.report.charts.lane import lane_chart
from wirespeed.report.charts.lane_svg import lane_svg
from wirespeed.report.charts.latency import PERCENTILES, latency_chart
from wirespeed.report.charts.search import search_chart
from wirespeed.report.charts.svg import SMALL, line_svg, search_svg
from wirespeed.report.charts.tcp import tcp_charts
from wirespeed.report.charts.throughput import throughput_charts
from wirespeed.report.charts.waterfall import waterfall_svg
from wirespeed.report.explain import explain
from wirespeed.report.figures import PointFigures, point_figures
from wirespeed.report.grades import LIFT, MEANING, could_be_lifted
from wirespeed.report.headline import key_figures
from wirespeed.report.loss import first_loss, lost_in_what_counts, total_drops
from wirespeed.report.netperf import message_chart, messages
from wirespeed.report.published_tcp import NETPERF_INTERFACES, NETPERF_SOURCE
from wirespeed.report.sentence import point_sentences
from wirespeed.report.tcp import (
    grade_of,
    limited_by,
    most_taken,
    offload_gains,
    split,
    undisturbed,
    why_missing,
)
from wirespeed.report.theme import DARK, LIGHT, css_variables
from wirespeed.report.trial_words import Outcome, Shown, Standing, outcome, shown, standing
from wirespeed.report.waterfall import cpu_ms, published_rate, times, waterfalls
from wirespeed.store.codec import encode
from wirespeed.store.records import PointRecord, RunRecord


@dataclass(frozen=True, slots=True)
class TrialView:
    """One trial as a row: as a whole, and in the time that counts."""

    trial: Trial
    standing: Standing
    outcome: Outcome
    shown: Shown | None

    @classmethod
    def of(cls, trial: Trial, pdr_loss: float) -> TrialView:
        return cls(trial, standing(trial), outcome(trial, pdr_loss), shown(trial))

    @property
    def because(self) -> str:
        """What disturbed it, or why nothing of it counts."""
        return self.trial.fault or self.trial.disturbed or ""


@dataclass(frozen=True, slots=True)
class PointView:
    """One point as the template shows it."""

    figures: PointFigures
    found: tuple[str, ...]
    sentences: tuple[str, ...]
    search: Markup | None
    lane: Markup | None
    deciding: int
    latency: Markup | None
    first_loss: Trial | None
    decisions: tuple[tuple[str, str, str], ...]

    @property
    def record(self) -> PointRecord:
        return self.figures.point

    @property
    def quiet(self) -> int:
        """How many of the trials nothing disturbed."""
        return sum(stored.trial.quiet for stored in self.record.trials)

    @property
    def trials(self) -> list[TrialView]:
        pdr_loss = self.record.spec.search.pdr_loss
        return [TrialView.of(stored.trial, pdr_loss) for stored in self.record.trials]


def html_report(run: RunRecord) -> str:
    """The report as one file: style, script, charts and data inside."""
    environment = Environment(
        loader=PackageLoader("wirespeed.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "mpps": text.mpps, "gbps": text.gbps, "percent": text.percent, "loss": text.loss,
        "us": text.microseconds, "share": text.share, "frames": text.frames,
        "seconds": text.seconds, "moment": _moment, "times": times,
        "cpu_ms": cpu_ms, "published_rate": published_rate,
    }  # fmt: skip
    frames, tcp = split(run)
    charts = throughput_charts(run) + gateway_charts(run) + tcp_charts(run) + message_chart(run)
    script, places = bokeh_charts(charts) if charts else ("", ())
    points = [_view(point) for point in frames]
    return environment.get_template("report.html.j2").render(
        run=run,
        points=points,
        tcp=[_view(point) for point in tcp],
        gains=offload_gains(tcp),
        limited_by=limited_by,
        undisturbed=undisturbed,
        grade_of=grade_of,
        why_missing=why_missing,
        most_taken=most_taken,
        waterfalls=[(found, Markup(waterfall_svg(found))) for found in waterfalls(tcp)],  # noqa: S704
        messages=messages(tcp),
        netperf_interfaces=NETPERF_INTERFACES,
        netperf_source=NETPERF_SOURCE,
        key_figures=key_figures(run),
        charts=[(chart, Markup(place)) for chart, place in zip(charts, places, strict=True)],  # noqa: S704
        bokeh=Markup(bokeh_script()) if charts else "",  # noqa: S704
        chart_script=Markup(script),  # noqa: S704
        style=Markup(_style()),  # noqa: S704
        colours=Markup(json.dumps({"light": dict(LIGHT), "dark": dict(DARK)})),  # noqa: S704
        quick=[p for p in points if p.record.result and not p.figures.conformant],
        versions=_versions(run),
        all_trials=sum(len(point.record.trials) for point in points),
        quiet_trials=sum(point.quiet for point in points),
        lift=LIFT if could_be_lifted(run) else "",
        meaning=MEANING,
        not_recorded=any(p.record.result and p.figures.grade is None for p in points),
        bracket_words=bracket_words,
        loss_range=loss_range,
        latencies=list(_latencies(points)),
        percentile_names=[name for name, _ in PERCENTILES],
        lost_in_what_counts=lost_in_what_counts,
        total_drops=total_drops,
        frame=text.frame,
        outline=lambda value: "\n".join(_outline(value)),
        memory_gib=sum(node.memory_kib for node in run.host.nodes) / 1024 / 1024,
        took=_took(run),
    )


def _view(point: PointRecord) -> PointView:
    search, latency, lane = search_chart(point), latency_chart(point), lane_chart(point)
    return PointView(
        point_figures(point),
        point_sentences(point),
        explain(point),
        Markup(search_svg(search)) if search else None,  # noqa: S704
        Markup(lane_svg(lane)) if lane else None,  # noqa: S704
        lane.number if lane else 0,
        Markup(line_svg(latency, SMALL)) if latency else None,  # noqa: S704
        first_loss(point),
        tuple(_decisions(encode(point.plan), "")) if point.plan else (),
    )


def _style() -> str:
    """Light, dark where the reader prefers it, and light again on paper."""
    light, dark = css_variables(LIGHT), css_variables(DARK)
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}{CHART_CSS}"
    )


def _decisions(plan: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Every decision of a plan: what, value, because."""
    if isinstance(plan, dict) and set(plan) == {"value", "because"}:
        value = plan["value"]
        shown = json.dumps(value) if isinstance(value, list | dict) else str(value)
        yield path, shown, plan["because"]
    elif isinstance(plan, dict):
        for key, inner in plan.items():
            yield from _decisions(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(plan, list):
        for index, inner in enumerate(plan):
            name = inner.get("name", inner.get("host", index)) if isinstance(inner, dict) else index
            yield from _decisions(inner, f"{path}[{name}]")


def _versions(run: RunRecord) -> dict[str, str]:
    """What measured, and every part of the benches that says its version."""
    found = dict(run.versions)
    for point in run.points:
        for name, part in point.bench.items():
            if isinstance(part, dict) and "version" in part:
                versions = (part["version"], part.get("dpdk_version"))
                found[name] = ", ".join(str(version) for version in versions if version)
    return found


def _outline(value: Any, indent: str = "") -> Iterator[str]:
    """Nested tables and lists as indented lines; a text of several lines as a block."""
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
    """A row per point, load and answer: the percentiles in ns, in the order of PERCENTILES."""
    for point in points:
        for at in point.record.result.latency if point.record.result else ():
            answers = [("as is", at.latency)]
            if at.undisturbed is not None:
                answers.insert(0, ("undisturbed", at.undisturbed))
            for of, latency in answers:
                yield point, at, of, latency, [pick(latency) for _, pick in PERCENTILES]


def _moment(iso: str | None) -> str:
    return text.NONE if iso is None else datetime.fromisoformat(iso).strftime("%Y-%m-%d %H:%M UTC")


def _took(run: RunRecord) -> str:
    if run.finished_at is None:
        return "not finished"
    begun, ended = (datetime.fromisoformat(t) for t in (run.started_at, run.finished_at))
    return text.seconds((ended - begun).total_seconds())
