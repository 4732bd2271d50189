# SPDX-License-Identifier: Apache-2.0
"""Check that of TCP between emulated guests only the sign of an offload's gain is judged."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.sample import sample_run
from wirespeed.cli.show.show import print_results
from wirespeed.model.words import EMULATED
from wirespeed.report.page.html import html_report
from wirespeed.report.text.tiles import tiles
from wirespeed.report.views.emulated_tcp import offload_direction
from wirespeed.report.views.tcp import tcp_of, tcp_result
from wirespeed.report.views.waterfall import waterfalls
from wirespeed.store.records import PointRecord, RunRecord

SMALL = ("vary.tcp.streams=[1]", "vary.tcp.queues=[1]", "tcp.seconds=1")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return sample_run(tmp_path_factory.mktemp("run"), *SMALL, study="s0-speedtest-guests")


@pytest.fixture(scope="module")
def emulated(real: RunRecord) -> RunRecord:
    return replace(real, points=tuple(_emulated(point) for point in real.points))


def _emulated(point: PointRecord, factor: float = 1.0) -> PointRecord:
    assert point.result is not None
    assert point.result.tcp is not None
    figures = tuple(
        replace(each, median_bps=each.median_bps * factor) for each in point.result.tcp.figures
    )
    tcp = replace(point.result.tcp, figures=figures)
    return replace(point, result=replace(point.result, emulated="guests: no KVM", tcp=tcp))


def test_a_gain_in_every_pair_is_as_s0_found(emulated: RunRecord) -> None:
    said = offload_direction(emulated.points)
    assert said is not None
    assert said.startswith("Emulated: says nothing about speed, but in which direction")
    assert "carried more than without in 3 of 3 pairs of points (2.5x)" in said
    assert said.endswith("as in all of S0's (1.7x to 8.6x).")


def test_a_loss_is_reported(emulated: RunRecord) -> None:
    [first, *_] = [p for p in emulated.points if (tcp := tcp_of(p)) is not None and tcp.offloads]
    slower = [_emulated(p, 0.1) if p is first else p for p in emulated.points]
    said = offload_direction(slower)
    assert said is not None
    assert "in 2 of 3 pairs of points (0.2x to 2.5x), unlike in S0's" in said


def test_tcp_of_real_guests_has_tiles_and_no_verdict_on_offloads(real: RunRecord) -> None:
    assert offload_direction(real.points) is None
    assert {tile.unit for tile in tiles(real)} == {"Gbps"}


def test_every_rate_is_marked_and_none_is_a_tile(emulated: RunRecord) -> None:
    assert tiles(emulated) == ()
    assert all(EMULATED in found.name for found in waterfalls(emulated.points))
    assert tcp_result(emulated.points[0]) is not None
    printed = io.StringIO()
    print_results(emulated, Console(file=printed, width=400))
    assert printed.getvalue().count(EMULATED) >= len(emulated.points)
    sentence = offload_direction(emulated.points)
    assert sentence is not None
    assert sentence in " ".join(printed.getvalue().split())
    assert sentence.replace("'", "&#39;") in html_report(emulated)


def test_s0s_figures_stand_next_to_the_guests(real: RunRecord) -> None:
    names = [found.name for found in waterfalls(real.points)]
    assert names == [
        "five external clients, over vhost-user, guests server",
        "two hosts, 10 Gbps between them, over vhost-user, guests server",
        "both on one host, over vhost-user, guests all",
    ]
    assert all(found.steps[1].published is not None for found in waterfalls(real.points))


def test_s2s_figures_stand_next_to_message_sizes_of_guests(tmp_path: Path) -> None:
    run = sample_run(tmp_path, "vary.tcp.message_bytes=[64, 1518]", study="s2-message-sizes")
    page = html_report(run)
    assert "over tap" in page
    assert "over vhost-user" in page
    assert "36.85 (16.22)" in page
