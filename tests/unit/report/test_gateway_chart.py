# SPDX-License-Identifier: Apache-2.0
"""Check the chart of a gateway's run against S1's figure 5 and its published rate."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sample import sample_run
from wirespeed.model.study.gateway import Bng
from wirespeed.model.units import line_rate_fps
from wirespeed.report.charts.gateway import gateway_charts
from wirespeed.report.charts.shapes import Chart, Curve
from wirespeed.report.charts.svg import line_svg
from wirespeed.report.page.html import html_report
from wirespeed.report.views.figures import point_figures
from wirespeed.report.views.published import S1_FIGURE_5, published
from wirespeed.store.records import RunRecord
from wirespeed.study.load import load_study

QUICK = "search.latency=false"


def chart_of(run: RunRecord) -> tuple[Chart, dict[str, Curve]]:
    [chart] = gateway_charts(run)
    return chart, {series.name: series for series in chart.curves}


def test_gateway_chart_has_a_curve_for_each_topology(tmp_path: Path) -> None:
    run = sample_run(tmp_path, "vary.traffic.frame=[64, 256]", QUICK, study="s1-bng")
    chart, series = chart_of(run)
    assert [label for _, label in chart.axis.ticks] == ["64", "256"]
    assert list(series) == ["host", "pvp", "S1 (2015), figure 5: 100.0% at 256 octets"]
    assert series["S1 (2015), figure 5: 100.0% at 256 octets"].points == ((1.0, 100.0),)
    ndr = point_figures(run.points[0]).ndr
    assert ndr is not None
    assert series["host"].points[0] == (0.0, pytest.approx(100 * ndr.line_share))
    # Both directions together; in the network 64 octets are 78.
    assert ndr.line_share == pytest.approx(ndr.fps / (2 * line_rate_fps(10e9, 78)))
    assert "figure 5: 100.0% at 256 octets" in line_svg(chart)
    assert "Share of line rate without loss (NDR)" in html_report(run)


def test_s1_says_nothing_of_other_links_sizes_and_functions() -> None:
    (same,) = load_study("s1-bng", ["topology.kind=pvp", "traffic.frame=256"]).points
    assert published(same.workload) is S1_FIGURE_5
    for override in (
        "traffic.link_bps=25e9", "traffic.frame=128", "traffic.frame=imix:cc",
        "sut.vnf.threads=node", "sut.vnf.pages=4K",
    ):  # fmt: skip
        overrides = ["topology.kind=host", "traffic.frame=256", override]
        (other,) = load_study("s1-bng", overrides).points
        assert published(other.workload) is None


def test_other_runs_have_no_such_chart(run: RunRecord) -> None:
    assert gateway_charts(run) == ()


def test_a_frame_in_the_network() -> None:
    """78 octets with a label for the shortest; 24 more than the subscriber's for the others."""
    assert [Bng().network_bytes(size) for size in (64, 65, 256, 1518)] == [78, 89, 280, 1542]
    assert [Bng(mpls=False).network_bytes(size) for size in (64, 256)] == [74, 276]
