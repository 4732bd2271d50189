# SPDX-License-Identifier: Apache-2.0
"""Check a run of TCP points in every form of a report."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.sample import sample_run
from tests.unit.report.test_document import problems
from wirespeed.cli.show.show import print_results
from wirespeed.model.result.result import TCP, Grade, SearchResult
from wirespeed.model.result.tcp import TcpProgram
from wirespeed.report.charts.shapes import LineStyle
from wirespeed.report.charts.tcp import tcp_charts
from wirespeed.report.json.document import document
from wirespeed.report.page.html import html_report
from wirespeed.report.text.csv_table import csv_text
from wirespeed.report.text.limits import explanations, remarks
from wirespeed.report.views.tcp import offload_gains
from wirespeed.store.records import PointState, RunRecord

SMALL = ("tcp.congestion=cubic", "tcp.mtu=1500", "tcp.queues=1", "vary.tcp.streams=[1, 4]")


@pytest.fixture(scope="module")
def tcp_run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return sample_run(tmp_path_factory.mktemp("run"), *SMALL, study="s0-speedtest")


def test_a_tcp_run_follows_the_schema(tcp_run: RunRecord) -> None:
    assert problems(document(tcp_run)) == []
    [point, *_] = document(tcp_run)["points"]
    assert point["dut_type"] == "ovs-dpdk"
    assert len(point["result"]["tcp"]["runs"][0]["directions"]) == 5
    failed = replace(tcp_run.points[0], state=PointState.FAILED, error="gone", result=None)
    assert problems(document(replace(tcp_run, points=(failed,)))) == []


def test_gains_compare_points_that_differ_in_their_offloads_only(tcp_run: RunRecord) -> None:
    gains = offload_gains(tcp_run.points)
    assert len(gains) == len(tcp_run.points) / 2
    assert [gain.factor for gain in gains] == pytest.approx([2.5] * len(gains))
    assert gains[0].what == "over ovs, clients 5, streams 1"
    assert any("10 Gbps wire" in gain.what for gain in gains)
    assert offload_gains(tcp_run.points[:1]) == ()


def test_the_terminal_shows_rates_verdicts_and_gains_and_nothing_of_frames(
    tcp_run: RunRecord,
) -> None:
    out = io.StringIO()
    print_results(tcp_run, Console(file=out, width=200))
    text = out.getvalue()
    assert "NDR" not in text
    assert "RFC 2544" not in text
    assert "path" in text
    assert "Offloads gain 2.5x: over veth, clients 1, streams 4" in text


def test_the_sentences_name_the_limiter_its_evidence_and_who_used_the_cpu(
    tcp_run: RunRecord,
) -> None:
    rates, rfc6349, cpu = remarks(tcp_run.points[0])
    (limited,) = explanations(tcp_run.points[0])
    assert rates.startswith("Down: 4.24 +- ")
    assert rates.endswith(" Gbps in clean time (grade A); all time, 4.24 (4.04 to 4.44).")
    assert limited.limit == "path"
    assert limited.sentence.startswith("Down: path, as 7 of 90 segments")
    verdicts = {figure.name: figure.value for figure in limited.evidence}
    assert verdicts["tests with this verdict"] == verdicts["tests"] > 0
    assert rfc6349 == (
        "RFC 6349: TCP efficiency 92.20%, transfer time ratio 1.50, buffer delay 30%."
    )
    assert "Open vSwitch" in cpu
    assert "Open vSwitch" not in remarks(tcp_run.points[-1])[-1]


def test_the_page_has_the_tcp_section_and_none_of_the_empty_ones(tcp_run: RunRecord) -> None:
    page = html_report(tcp_run)
    for present in ('id="tcp"', "What the offloads gain", 'class="first"', "2.5x"):
        assert present in page
    for absent in ('id="results"', 'id="loss"', 'id="trials"', "Not RFC 2544 conformant"):
        assert absent not in page


def test_charts_hold_everything_but_streams_and_offloads_constant(tcp_run: RunRecord) -> None:
    charts = tcp_charts(tcp_run)
    assert [chart.title for chart in charts] == [
        "over ovs, clients 5", "over ovs, clients 1, 10 Gbps wire", "over ovs, clients 1",
        "over veth, clients 1",
    ]  # fmt: skip
    assert [label for _, label in charts[0].axis.ticks] == ["1", "4"]
    assert [(series.name, series.line) for series in charts[0].curves] == [
        ("offloads on", LineStyle.SOLID), ("offloads on", LineStyle.DASHED),
        ("offloads off", LineStyle.SOLID), ("offloads off", LineStyle.DASHED),
    ]  # fmt: skip
    assert tcp_charts(replace(tcp_run, points=tcp_run.points[::2][:1])) == ()


def test_csv_has_both_kinds_of_point_in_the_same_columns(
    tcp_run: RunRecord, tmp_path: Path
) -> None:
    frames = sample_run(tmp_path, "topology.kind=p2p", "traffic.frame=64")
    both = replace(tcp_run, points=(*tcp_run.points[:1], *frames.points))
    tcp, frame = csv.DictReader(io.StringIO(csv_text(both)))
    assert (tcp["topology_kind"], tcp["tcp_path"], tcp["ndr_fps"]) == ("", "ovs", "")
    assert float(tcp["tcp_down_bps"]) == pytest.approx(4.2e9 * 1.01)
    assert tcp["tcp_down_limited_by"] == "path"
    assert (frame["tcp_down_bps"], frame["topology_kind"]) == ("", "p2p")
    assert frame["ndr_fps"]


def test_a_point_without_a_run_that_counts_says_why_everywhere(tcp_run: RunRecord) -> None:
    why = "none of 8 runs counts; the last: server on 1 CPU may have lost 43.2% of the run"
    nothing = SearchResult(
        TCP, conformant=False, trials=(), not_measurable=why, notes=("run 1: x",)
    )
    run = replace(tcp_run, points=(replace(tcp_run.points[0], result=nothing), *tcp_run.points[1:]))
    assert problems(document(run)) == []
    assert document(run)["points"][0]["result"]["not_measurable"] == why
    assert f"not measurable: {why}" in html_report(run)
    out = io.StringIO()
    print_results(run, Console(file=out, width=200))
    assert "not measurable: none of 8 runs" in out.getvalue()
    assert remarks(run.points[0]) == (f"Not measurable: {why}.",)
    [line, *_] = csv.DictReader(io.StringIO(csv_text(run)))
    assert (line["tcp_down_bps"], line["not_measurable"]) == ("", why)


def test_a_point_without_clean_time_shows_its_rates_over_all_time(
    tcp_run: RunRecord,
) -> None:
    result = tcp_run.points[0].result
    assert result is not None
    assert result.tcp is not None
    figures = tuple(
        replace(figure, undisturbed_bps=None, undisturbed_error_bps=None)
        for figure in result.tcp.figures
    )
    graded = replace(
        result, grade=Grade.D, because=("only 0.3 s were clean",),
        tcp=replace(result.tcp, figures=figures, clean_s=0.3),
    )  # fmt: skip
    run = replace(tcp_run, points=(replace(tcp_run.points[0], result=graded),))
    first, second, *_ = remarks(run.points[0])
    assert first.startswith("Down: all time, 4.24 (4.04 to 4.44) Gbps (grade D)")
    assert second == "Only 0.3 s were clean."
    out = io.StringIO()
    print_results(run, Console(file=out, width=200))
    assert "4.04 to 4.44" in out.getvalue()
    [line] = csv.DictReader(io.StringIO(csv_text(run)))
    assert line["tcp_down_undisturbed_bps"] == ""
    assert float(line["tcp_undisturbed_share"]) == pytest.approx(0.3 / 4)


def test_the_share_of_taken_cpu_time_is_in_every_output(tcp_run: RunRecord) -> None:
    result = tcp_run.points[0].result
    assert result is not None
    assert result.tcp is not None
    programs = (TcpProgram("server", 1, 0.02, 0.0), TcpProgram("clients", 2, 0.02, 9.0))
    runs = tuple(
        replace(run, elapsed_s=1.0, programs=programs, others_cpu_s=0.04) for run in result.tcp.runs
    )
    point = replace(tcp_run.points[0], result=replace(result, tcp=replace(result.tcp, runs=runs)))
    assert "took at most 3.0% of a run." in remarks(point)[-1]
    disturbed = replace(tcp_run, points=(point,))
    [line] = csv.DictReader(io.StringIO(csv_text(disturbed)))
    assert float(line["tcp_most_taken"]) == pytest.approx(0.03)
    out = io.StringIO()
    print_results(disturbed, Console(file=out, width=200))
    assert " 3.0% " in out.getvalue()
    assert ">3.0%</td>" in html_report(disturbed)
