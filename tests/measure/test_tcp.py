# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.measure.tcp import invalid, summarise
from wirespeed.model.tcp import TcpDirection, TcpRun, TcpWay

WAY = TcpWay(TcpDirection.DOWN, 1_250_000_000, 10e9, 3, "path", ("loss",), 1.5, 99.0, 20.0)


def run(*ways: TcpWay, vswitch_cpu_s: float | None = None) -> TcpRun:
    return TcpRun(ways, 1.1, server_cpu_s=0.5, clients_cpu_s=0.25, vswitch_cpu_s=vswitch_cpu_s)


def test_rates_of_a_run_add_up_and_runs_are_not_averaged() -> None:
    slow, fast = replace(WAY, bits_per_second=1e9), replace(WAY, bits_per_second=4e9)
    [figure] = summarise([run(slow, fast), run(fast, fast), run(slow, slow)]).figures
    assert (figure.median_bps, figure.lowest_bps, figure.highest_bps) == (5e9, 2e9, 8e9)
    assert figure.retransmits == 6


def test_the_verdict_of_most_tests_counts_with_its_own_evidence() -> None:
    other = replace(WAY, limited_by="server_cpu", because=("busy",))
    [figure] = summarise([run(other, WAY), run(WAY, WAY)]).figures
    assert (figure.limited_by, figure.agreeing, figure.tests) == ("path", 3, 4)
    assert figure.because == ("loss",)


def test_directions_are_kept_apart_and_only_a_sending_server_has_rfc_6349() -> None:
    up = replace(WAY, direction=TcpDirection.UP, bits_per_second=2e9, transfer_time_ratio=None)
    result = summarise([run(up, WAY)])
    assert [figure.direction for figure in result.figures] == [TcpDirection.UP, TcpDirection.DOWN]
    assert [figure.transfer_time_ratio for figure in result.figures] == [None, 1.5]
    assert result.total_bps == 12e9


def test_cpu_time_is_told_for_each_gbit() -> None:
    result = summarise([run(WAY, vswitch_cpu_s=1.0), run(WAY, vswitch_cpu_s=1.0)])
    assert result.server_cpu_s_per_gbit == pytest.approx(0.05)
    assert result.cpu_s_per_gbit == pytest.approx(0.05 + 0.025 + 0.1)
    assert summarise([run(WAY)]).vswitch_cpu_s_per_gbit is None


def test_a_run_that_did_not_count_over_the_seconds_asked_for_is_invalid() -> None:
    assert invalid(run(WAY), 1.0) is None
    starved = replace(WAY, bytes=108_600, bits_per_second=58e9)
    assert invalid(run(WAY, starved), 1.0) == "a test counted over 1.5e-05 s instead of 1 s"
    assert invalid(run(replace(WAY, bits_per_second=WAY.bits_per_second / 14)), 1.0) is not None
    drained = replace(WAY, bits_per_second=WAY.bits_per_second / 2.5)
    assert invalid(run(drained), 1.0) is None
    nothing = replace(WAY, bytes=0, bits_per_second=0.0)
    assert invalid(run(nothing), 1.0) == "a test counted over 0 s instead of 1 s"
