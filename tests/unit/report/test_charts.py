# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from tests.support.sample import sample_run
from wirespeed.model.result.result import Bound, Bracket, Interval
from wirespeed.report.base.uncertainty import uncertainty
from wirespeed.report.charts.canvas import Scale, round_ticks
from wirespeed.report.charts.latency import latency_charts
from wirespeed.report.charts.search import search_chart
from wirespeed.report.charts.shapes import Categories, Chart, Curve, LineStyle
from wirespeed.report.charts.svg import SMALL, line_svg, search_svg
from wirespeed.report.charts.throughput import throughput_chart
from wirespeed.store.records import RunRecord

SVG = "{http://www.w3.org/2000/svg}"


def rates_of(run: RunRecord) -> Chart:
    chart = throughput_chart(run)
    assert chart is not None
    return chart


def test_throughput_has_a_line_for_each_topology_and_the_line_rate(run: RunRecord) -> None:
    mpps = rates_of(run)
    solid = [series.name for series in mpps.curves if series.line is LineStyle.SOLID]
    assert solid == ["p2p", "pvp"]
    assert [label for _, label in mpps.axis.ticks] == ["64", "512", "1518"]
    p2p = next(series for series in mpps.curves if series.name == "p2p")
    result = run.points[0].result
    assert result is not None
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert p2p.points[0] == (math.log(64), result.ndr.lower.load_fps / 1e6)


def test_line_rate_is_the_curve_of_every_frame_size_below_the_top(run: RunRecord) -> None:
    mpps = rates_of(run)
    (reference,) = [series for series in mpps.curves if series.line is LineStyle.REFERENCE]
    assert len(reference.points) > 20
    top = max(y for curve in mpps.curves if curve is not reference for _, y in curve.points)
    for x, y in reference.points:
        assert y == pytest.approx(10e9 / (8 * (math.exp(x) + 20)) / 1e6)
        assert y <= 1.15 * top


def test_line_rate_above_all_rates_is_reported_and_not_drawn(tmp_path: Path) -> None:
    mpps = rates_of(sample_run(tmp_path, "traffic.link_bps=400e9"))
    assert LineStyle.REFERENCE not in {series.line for series in mpps.curves}
    assert "the nominal line rate is above the chart" in mpps.legend


def test_error_bar_is_half_of_the_interval_and_absent_where_unknown(run: RunRecord) -> None:
    mpps = rates_of(run)
    solid = next(series for series in mpps.curves if series.line is LineStyle.SOLID)
    error = uncertainty(run.points[0], "NDR")
    assert error
    assert solid.errors[0] == pytest.approx(error * solid.points[0][1])
    assert 'class="error c0"' in line_svg(mpps)
    bare = replace(mpps, curves=tuple(replace(curve, errors=()) for curve in mpps.curves))
    assert 'class="error' not in line_svg(bare)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.27, 39.2], [0.2, 0.5, 1, 2, 5, 10, 20, 50]),
        ([3.0, 4.0], [2, 5]),
        ([7.0], [5, 10]),
        ([2.0], [2, 5]),
        ([0.5, 5000.0], [0.1, 1, 10, 100, 1000, 10000]),
    ],
)
def test_a_logarithmic_axis_has_values_that_people_can_read(
    values: list[float], ticks: list[float]
) -> None:
    scale = Scale.logarithmic(values)
    assert scale.ticks == pytest.approx(ticks)
    assert (scale.share(ticks[0]), scale.share(ticks[-1])) == pytest.approx((0, 1))


@given(st.lists(st.floats(1e-6, 1e9), min_size=1))
def test_a_logarithmic_axis_holds_every_value(values: list[float]) -> None:
    scale = Scale.logarithmic(values)
    assert all(-1e-9 <= scale.share(value) <= 1 + 1e-9 for value in values)


def test_a_long_legend_takes_more_rows_and_none_overlaps_another() -> None:
    names = [f"series number {i} of a long run" for i in range(5)]
    series = tuple(
        Curve(name, LineStyle.SOLID, i, ((0, 1.0),), ("",)) for i, name in enumerate(names)
    )
    chart = Chart(
        "k", "t", "x", "y", Categories(("a",)), series, legend="one remark; another remark"
    )
    drawn = ET.fromstring(line_svg(chart, SMALL, standalone=True))  # noqa: S314
    texts = {text.text: text.attrib for text in drawn.iter(f"{SVG}text")}
    spots = [texts[name] for name in (*names, "one remark", "another remark")]
    for spot, after in pairwise(spots):
        same_row = spot["y"] == after["y"]
        assert not same_row or float(after["x"]) - float(spot["x"]) > 100
    rows = len({spot["y"] for spot in spots})
    assert rows > 1
    assert drawn.attrib["viewBox"] == f"0 0 460 {280 + 18 * (rows - 1)}"
    assert "remark" not in line_svg(chart, SMALL)


def test_curves_are_named_by_the_key_that_differs(tmp_path: Path) -> None:
    run = sample_run(tmp_path, "topology.kind=p2p", "vary.traffic.flows=[1, 64]")
    mpps = rates_of(run)
    solid = [series.name for series in mpps.curves if series.line is LineStyle.SOLID]
    assert solid == ["p2p, flows 1", "p2p, flows 64"]


def test_a_curve_of_mrrs_alone_is_dashed(run: RunRecord) -> None:
    points = tuple(
        replace(point, result=replace(point.result, ndr=None, pdr=None))
        if point.result is not None and point.workload.topology.kind == "pvp"
        else point
        for point in run.points
    )
    mpps = rates_of(replace(run, points=points))
    lines = {(series.name, series.line) for series in mpps.curves}
    assert ("pvp", LineStyle.DASHED) in lines
    assert ("pvp", LineStyle.SOLID) not in lines
    assert ("p2p", LineStyle.SOLID) in lines


def test_a_point_of_grade_d_is_a_bar_and_never_a_dot(run: RunRecord) -> None:
    mpps = rates_of(run)
    bracket = run.points[3].result and run.points[3].result.bracket
    assert bracket is not None
    assert bracket.carried_fps is not None
    assert bracket.overloads_fps is not None
    (bar,) = mpps.ranges
    assert abs(bar.x - math.log(64)) < 0.1
    assert bar.name == "pvp"
    assert (bar.low, bar.high) == (bracket.carried_fps / 1e6, bracket.overloads_fps / 1e6)
    pvp = [series for series in mpps.curves if series.name == "pvp"]
    assert all(x > math.log(65) for series in pvp for x, _ in series.points)
    assert "grade D" in bar.hover
    only_bars = replace(mpps, curves=())
    assert ">pvp</text>" in line_svg(only_bars)
    drawn = ET.fromstring(line_svg(mpps, standalone=True))  # noqa: S314
    assert any(path.attrib.get("class") == "range c1" for path in drawn.iter(f"{SVG}path"))


@pytest.mark.parametrize("bracket", [Bracket(1e6, None), Bracket(None, 2e6), Bracket(None, None)])
def test_a_bracket_may_be_open(run: RunRecord, bracket: Bracket) -> None:
    point = run.points[3]
    assert point.result is not None
    open_ended = replace(point, result=replace(point.result, bracket=bracket))
    mpps = rates_of(replace(run, points=(*run.points[:3], open_ended, *run.points[4:])))
    ends = [(one.low, one.high) for one in mpps.ranges]
    assert (
        ends
        == {1e6: [(1.0, None)], 2e6: [(0.0, 2.0)], None: []}[
            bracket.carried_fps or bracket.overloads_fps
        ]
    )
    assert line_svg(mpps)


@pytest.mark.parametrize(
    ("bracket", "mrr_fps", "ends"),
    [
        (Bracket(1e6, 4e6), 3e6, (1.0, 3.0)),
        (Bracket(1e6, 2e6), 3e6, (1.0, 2.0)),
        (Bracket(1e6, None), 3e6, (1.0, 3.0)),
        (Bracket(None, 4e6), 3e6, (0.0, 3.0)),
        (Bracket(1e6, 4e6), 0.9e6, (1.0, 4.0)),
    ],
)
def test_bracket_ends_at_the_mrr(
    run: RunRecord, bracket: Bracket, mrr_fps: float, ends: tuple[float, float]
) -> None:
    point = run.points[3]
    assert point.result is not None
    bounded = replace(point, result=replace(point.result, bracket=bracket, mrr_fps=mrr_fps))
    mpps = rates_of(replace(run, points=(*run.points[:3], bounded, *run.points[4:])))
    (bar,) = mpps.ranges
    assert (bar.low, bar.high) == ends


def test_one_frame_size_makes_no_chart(run: RunRecord) -> None:
    assert throughput_chart(replace(run, points=run.points[:1])) is None


def test_every_trial_is_on_the_search_chart(run: RunRecord) -> None:
    for point in run.points:
        chart = search_chart(point)
        assert chart is not None
        assert len(chart.trials) == len(point.trials)
        assert point.result is not None
        bracket = point.result.bracket is not None
        levels = ["carried", "too much"] if bracket else ["NDR", "PDR"]
        assert [name for name, _ in chart.levels] == levels
        drawn = ET.fromstring(search_svg(chart, standalone=True))  # noqa: S314
        hovers = [title.text for title in drawn.iter(f"{SVG}title")]
        assert all(mark.hover in hovers for mark in chart.trials)


def test_overload_does_not_flatten_the_search(run: RunRecord) -> None:
    chart = search_chart(run.points[4])
    assert chart is not None
    found_mpps = chart.levels[0][1]
    beyond = [mark for mark in chart.trials if mark.load_mpps > 1.9 * found_mpps]
    assert beyond
    drawing = search_svg(chart)
    assert drawing.count('class="arrow"') >= len(beyond)
    assert drawing.count('class="arrow"') < len(chart.trials) / 2


def _with_histogram(run: RunRecord) -> tuple[RunRecord, HdrHistogram]:
    """Return the run with 20,000 stored latencies of the first point at half load."""
    histogram = HdrHistogram(1, 10_000_000_000, 3)
    for value_ns in range(1000, 21_000):
        histogram.record_value(value_ns)
    result = run.points[0].result
    assert result is not None
    half = next(at for at in result.latency if at.share == 0.5)
    hdrh = histogram.encode().decode()
    at = replace(half, latency=replace(half.latency, count=20_000, hdrh=hdrh))
    first = replace(run.points[0], result=replace(result, latency=(at,)))
    return replace(run, points=(first, *run.points[1:])), histogram


def test_latency_chart_shows_the_percentiles_of_the_histogram(run: RunRecord) -> None:
    stored, histogram = _with_histogram(run)
    (chart,) = [c for c in latency_charts(stored) if c.title == "Latency at 50% of the PDR"]
    (curve,) = [c for c in chart.curves if c.name == run.points[0].label]
    shown = {round(100 * (1 - 10**-x), 7): us for x, us in curve.points}
    for percentile in (50, 90, 99, 99.9, 99.99):
        value_us = histogram.get_value_at_percentile(percentile) / 1e3
        assert shown[percentile] == pytest.approx(value_us)
    assert line_svg(chart).count('class="dot') >= 5


def test_latency_chart_ends_where_frames_are_too_few(run: RunRecord) -> None:
    stored, _ = _with_histogram(run)
    result = stored.points[0].result
    assert result is not None
    at = result.latency[0]
    few = replace(result, latency=(replace(at, latency=replace(at.latency, count=150)),))
    one = replace(stored, points=(replace(stored.points[0], result=few),))
    (chart,) = latency_charts(one)
    assert 1 - 10 ** -chart.curves[0].points[-1][0] == pytest.approx(0.99, abs=0.004)


def test_without_latency_there_is_no_chart(run: RunRecord) -> None:
    result = run.points[0].result
    assert result is not None
    bare = replace(run.points[0], result=replace(result, latency=()))
    assert latency_charts(replace(run, points=(bare,))) == ()


def test_a_drawing_of_its_own_carries_its_colours(run: RunRecord) -> None:
    alone = line_svg(rates_of(run), standalone=True)
    assert ET.fromstring(alone).tag == f"{SVG}svg"  # noqa: S314
    assert "--s0:" in alone
    assert "--s0:" not in line_svg(rates_of(run))


def test_higher_values_are_drawn_higher(run: RunRecord) -> None:
    chart = rates_of(run)
    drawn = ET.fromstring(line_svg(chart, standalone=True))  # noqa: S314
    dots = [circle for circle in drawn.iter(f"{SVG}circle") if "c0" in circle.attrib["class"]]
    heights = [float(dot.attrib["cy"]) for dot in dots[:3]]
    values = [y for _, y in chart.curves[0].points]
    assert sorted(heights, reverse=True) == [
        h for _, h in sorted(zip(values, heights, strict=True))
    ]


@given(st.floats(1e-6, 1e9))
def test_ticks_are_few_and_reach_the_top(top: float) -> None:
    ticks = round_ticks(top)
    assert ticks[0] == 0
    assert ticks[-1] >= top * (1 - 1e-9)
    assert 3 <= len(ticks) <= 7


def test_throughput_ndr_without_upper_end_is_a_bar_up_to_the_mrr(run: RunRecord) -> None:
    first = run.points[0]
    assert first.result is not None
    passed = replace(first.result, ndr=Interval(Bound(4e6, 4e6, 0.0), None))
    points = (replace(first, result=passed), *run.points[1:])
    mpps = rates_of(replace(run, points=points))
    (bar,) = [bar for bar in mpps.ranges if bar.name == "p2p"]
    assert first.result.mrr_fps is not None
    assert (bar.low, bar.high) == (4.0, first.result.mrr_fps / 1e6)
    assert "at least 4.000" in bar.hover
