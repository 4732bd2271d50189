# SPDX-License-Identifier: Apache-2.0
"""Check how charts and tables show rates of several CPU placements."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from tests.unit.report.test_charts import rates_of
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import Bound, Interval
from wirespeed.report.charts.shapes import LineStyle
from wirespeed.report.charts.svg import line_svg
from wirespeed.report.page.html import html_report
from wirespeed.report.text.csv_table import csv_text
from wirespeed.store.records import RunRecord


def _moved(run: RunRecord) -> RunRecord:
    """Return the run with both placements at the first point, and one at the others."""
    first = run.points[0]
    assert first.result is not None
    far = replace(
        first.result, trials=(), placement=PlacementKind.ACROSS_CACHES, mrr_fps=1e6,
        ndr=Interval(Bound(0.9e6, 0.9e6, 0.0), Bound(1e6, 1e6, 0.1)),
    )  # fmt: skip
    points = [
        replace(p, result=replace(p.result, placement=PlacementKind.ONE_CACHE))
        for p in run.points
        if p.result is not None
    ]
    assert points[0].result is not None
    met = replace(points[0].result, by_placement=(far,))
    return replace(run, points=(replace(points[0], result=met), *points[1:]))


def test_throughput_other_placement_is_a_hollow_series_of_its_own(run: RunRecord) -> None:
    mpps = rates_of(_moved(run))
    p2p = [c for c in mpps.curves if c.name == "p2p" and c.line is LineStyle.SOLID]
    assert [(curve.hollow, len(curve.points)) for curve in p2p] == [(False, 3), (True, 1)]
    assert "hollow: polling CPUs across caches" in mpps.legend
    assert 'class="ring c0"' in line_svg(mpps)


def test_throughput_one_placement_is_not_in_the_legend(run: RunRecord) -> None:
    mpps = rates_of(run)
    assert "hollow" not in mpps.legend
    assert not any(curve.hollow for curve in mpps.curves)


def test_csv_has_a_line_for_each_placement(run: RunRecord) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(_moved(run)))))
    assert [row["placement"] for row in rows[:3]] == ["one cache", "across caches", "one cache"]
    assert float(rows[1]["ndr_fps"]) == 0.9e6
    assert rows[2]["trials"] == str(len(run.points[1].trials))
    assert rows[0]["as_is_lossless_s"] == "2.0"
    assert len(rows) == len(run.points) + 1


def test_html_has_a_row_for_each_placement_and_the_length_of_the_lossless_trial(
    run: RunRecord,
) -> None:
    page = html_report(_moved(run))
    assert page.count('placed">polling CPUs across caches') == 1
    assert page.count('placed">polling CPUs within one cache') == len(run.points)
    assert "(2 s)</td>" in page
    assert 'placed">' not in html_report(run)
