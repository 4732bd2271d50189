# SPDX-License-Identifier: Apache-2.0
"""Check the gain of each tuning step, and message sizes, against what S0 and S2 published."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.sample import sample_run
from wirespeed.cli.show.show import print_results, write_svg
from wirespeed.model.study.tcp import Tcp
from wirespeed.report.charts.netperf import message_chart, messages
from wirespeed.report.charts.waterfall import waterfall_svg
from wirespeed.report.page.html import html_report
from wirespeed.report.views.published_tcp import (
    EXTERNAL,
    NETPERF,
    ONE_HOST,
    TWO_HOSTS,
    Scenario,
    Tuning,
    scenario,
)
from wirespeed.report.views.tcp import tcp_of
from wirespeed.report.views.waterfall import waterfalls
from wirespeed.store.records import RunRecord

SMALL = ("tcp.congestion=cubic", "vary.tcp.streams=[1, 4]")


@pytest.fixture(scope="module")
def tcp_run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return sample_run(tmp_path_factory.mktemp("run"), *SMALL, study="s0-speedtest")


@pytest.fixture(scope="module")
def messages_run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return sample_run(tmp_path_factory.mktemp("run"), study="tcp-messages")


@pytest.mark.parametrize(
    ("tcp", "which"),
    [
        (Tcp(path="ovs", clients=5), EXTERNAL),
        (Tcp(path="ovs", wire_bps=10e9), TWO_HOSTS),
        (Tcp(path="ovs-pmd"), ONE_HOST),
        (Tcp(path="veth"), None),
        (Tcp(path="ovs", clients=3), None),
        (Tcp(path="ovs", wire_bps=1e9), None),
    ],
)
def test_only_points_that_s0_measured_are_compared_with_s0(
    tcp: Tcp, which: Scenario | None
) -> None:
    assert scenario(tcp, tcp.path != "veth") is which


def test_s0s_words_agree_with_its_figures() -> None:
    """About 2.4x, 1.7x and 10x; the last is 45 over 3.9 in figures."""
    said = [one.steps[step].said for one, step in SAID]
    assert said == [2.4, 1.7, 1.7, 10.0]
    for one, step in SAID:
        assert one.gain(step) == pytest.approx(one.steps[step].said, rel=0.16)
    assert ONE_HOST.gain(Tuning.MTU) is None


SAID = [
    (EXTERNAL, Tuning.OFFLOADS),
    (TWO_HOSTS, Tuning.OFFLOADS),
    (TWO_HOSTS, Tuning.QUEUES),
    (ONE_HOST, Tuning.QUEUES),
]


def test_each_step_stands_on_those_before(tcp_run: RunRecord) -> None:
    found = waterfalls(tcp_run.points)
    assert [one.name for one in found] == [
        "five external clients, over ovs",
        "two hosts, 10 Gbps between them, over ovs",
        "both on one host, over ovs",
        "1 client, over veth",
    ]
    assert [one.scenario for one in found] == [EXTERNAL, TWO_HOSTS, ONE_HOST, None]
    steps = found[2].steps
    assert [step.what for step in steps] == [
        "offloads off, 1 queue, MTU 1500",
        "TSO, GSO and GRO on",
        "4 queues",
        "MTU 9000",
    ]
    assert [step.streams for step in steps] == [4] * 4
    assert steps[0].bps == pytest.approx(4e9 * 1.05 * 1.04)
    assert steps[0].lowest_bps == pytest.approx(4e9 * 1.05 * 1.01)
    assert [found[2].gain(i) for i in range(4)] == [
        None,
        pytest.approx(2.5),
        pytest.approx(0.74 / 1.04),
        pytest.approx(0.75 / 0.74),
    ]
    assert found[2].total(3) == pytest.approx(2.5 * 0.75 / 1.04)
    assert [step.published and step.published.highest_bps for step in steps] == [
        3.9e9, 33.5e9, 45e9, None,
    ]  # fmt: skip


def test_a_step_that_skips_one_of_s0s_is_not_put_next_to_s0(tcp_run: RunRecord) -> None:
    without = [p for p in tcp_run.points if (tcp := tcp_of(p)) and not tcp.offloads]
    found = waterfalls(without)[2]
    assert [step.tuning for step in found.steps] == [Tuning.BASELINE, Tuning.QUEUES, Tuning.MTU]
    assert [step.published is not None for step in found.steps] == [True, False, False]
    assert waterfall_svg(found).count("<title>S0,") == 1


def test_a_missing_step_is_omitted_and_one_step_is_no_waterfall(tcp_run: RunRecord) -> None:
    without = [p for p in tcp_run.points if (tcp := tcp_of(p)) and tcp.offloads]
    assert waterfalls(without)[0].steps[0].what.startswith("offloads on")
    unmeasured = [replace(p, result=None) for p in tcp_run.points[1:]]
    assert waterfalls([tcp_run.points[0], *unmeasured]) == ()


def test_the_drawing_shows_s0_only_where_it_has_figures(tcp_run: RunRecord) -> None:
    beside, alone = (waterfall_svg(waterfalls(tcp_run.points)[i]) for i in (2, 3))
    assert beside.count("<title>S0,") == 3
    assert "12x" in beside
    assert "S0" not in alone
    assert alone.count('class="fall c0 lost"') == 1


def test_page_terminal_and_files_show_the_steps(tcp_run: RunRecord, tmp_path: Path) -> None:
    page = html_report(tcp_run)
    for present in ("What each step of tuning gains", "22 - 33.5", "S0 scenario 2, figure 6"):
        assert present in page
    out = io.StringIO()
    print_results(tcp_run, Console(file=out, width=200))
    assert "five external clients, over ovs" in out.getvalue()
    names = [path.name for path in write_svg(tcp_run, tmp_path)]
    assert sum("waterfall" in name for name in names) == 4


def test_sizes_of_writes_stand_next_to_s2(messages_run: RunRecord) -> None:
    found = messages(messages_run.points)
    assert found is not None
    assert [size for size, _, _ in found.rows] == [row.message_bytes for row in NETPERF]
    assert found.names == (
        "over veth, offloads on", "over ovs, offloads on", "over ovs-pmd, offloads off",
    )  # fmt: skip
    size, rates, row = found.rows[0]
    assert (size, row) == (64, NETPERF[0])
    assert rates[2] == pytest.approx(4e9 * 1.05 * 1.04)
    [chart] = message_chart(messages_run)
    assert [series.name for series in chart.curves][3:] == [
        "S2 virtio", "S2 vhost-user", "S2 SR-IOV",
    ]  # fmt: skip
    page = html_report(messages_run)
    assert "34.66 (15.72)" in page
    assert messages(messages_run.points[:1]) is None


def test_sizes_that_s2_has_not_have_nothing_next_to_them(tmp_path: Path) -> None:
    run = sample_run(tmp_path, "vary.tcp.message_bytes=[64, 100]", study="tcp-messages")
    found = messages(run.points)
    assert found is not None
    assert [row for _, _, row in found.rows] == [NETPERF[0], None]
    html_report(run)


REFERENCE = """message_size_bytes,virtio,vhost,sriov
64,5.35,4.80,6.31
1024,35.36,34.66,38.79
65536,38.88,38.88,39.22
"""


def test_s2s_figures_are_those_of_its_table() -> None:
    """Rows of the newer generation, copied a second time from section 5.1."""
    rows = {row.message_bytes: row.newer for row in NETPERF}
    for line in csv.DictReader(io.StringIO(REFERENCE)):
        published = tuple(float(line[name]) for name in ("virtio", "vhost", "sriov"))
        assert rows[int(line["message_size_bytes"])] == published
