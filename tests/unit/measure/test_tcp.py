# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.fake_rig import FakeTcpBench
from wirespeed.measure.tcp import fault, grade, is_enough, placebo, summarise
from wirespeed.measure.tcp_gate import BESIDE, UNWATCHED
from wirespeed.model.result.result import Grade
from wirespeed.model.result.tcp import TcpDirectionResult, TcpProgram, TcpResult, TcpRun
from wirespeed.model.study.tcp import Tcp, TcpDirection
from wirespeed.store.codec import decode, encode

SECOND = Tcp(seconds=1)
DOWN = TcpDirectionResult(
    TcpDirection.DOWN, 1_250_000_000, 10e9, 3, "path", ("loss",), 1.5, 99.0, 20.0
)


def run(*directions: TcpDirectionResult, vswitch_cpu_s: float | None = None) -> TcpRun:
    return TcpRun(
        directions, 1.1, server_cpu_s=0.5, clients_cpu_s=0.25, vswitch_cpu_s=vswitch_cpu_s
    )


def test_rates_of_a_run_add_up_and_runs_are_not_averaged() -> None:
    slow, fast = replace(DOWN, bits_per_second=1e9), replace(DOWN, bits_per_second=4e9)
    [figure] = summarise([run(slow, fast), run(fast, fast), run(slow, slow)], SECOND).figures
    assert (figure.median_bps, figure.lowest_bps, figure.highest_bps) == (5e9, 2e9, 8e9)
    assert figure.retransmits == 6


def test_the_verdict_of_most_tests_counts_with_its_own_evidence() -> None:
    other = replace(DOWN, limited_by="server_cpu", because=("busy",))
    [figure] = summarise([run(other, DOWN), run(DOWN, DOWN)], SECOND).figures
    assert (figure.limited_by, figure.agreeing, figure.tests) == ("path", 3, 4)
    assert figure.because == ("loss",)


def test_directions_are_kept_apart_and_only_a_sending_server_has_rfc_6349() -> None:
    up = replace(DOWN, direction=TcpDirection.UP, bits_per_second=2e9, transfer_time_ratio=None)
    result = summarise([run(up, DOWN)], SECOND)
    assert [figure.direction for figure in result.figures] == [TcpDirection.UP, TcpDirection.DOWN]
    assert [figure.transfer_time_ratio for figure in result.figures] == [None, 1.5]
    assert result.total_bps == 12e9


def test_cpu_time_is_reported_for_each_gbit() -> None:
    result = summarise([run(DOWN, vswitch_cpu_s=1.0), run(DOWN, vswitch_cpu_s=1.0)], SECOND)
    assert result.server_cpu_s_per_gbit == pytest.approx(0.05)
    assert result.cpu_s_per_gbit == pytest.approx(0.05 + 0.025 + 0.1)
    assert summarise([run(DOWN)], SECOND).vswitch_cpu_s_per_gbit is None


def test_a_run_that_did_not_count_over_the_seconds_asked_for_is_fault() -> None:
    assert fault(run(DOWN), SECOND) is None
    starved = replace(DOWN, bytes=108_600, bits_per_second=58e9)
    assert fault(run(DOWN, starved), SECOND) == "a test counted over 1.5e-05 s instead of 1 s"
    assert fault(run(replace(DOWN, bits_per_second=DOWN.bits_per_second / 14)), SECOND) is not None
    drained = replace(DOWN, bits_per_second=DOWN.bits_per_second / 2.5)
    assert fault(run(drained), SECOND) is None
    nothing = replace(DOWN, bytes=0, bits_per_second=0.0)
    assert fault(run(nothing), SECOND) == "a test counted over 0 s instead of 1 s"


def test_a_run_is_faulty_whatever_was_taken_from_it_only_where_it_has_no_rate() -> None:
    programs = (TcpProgram("server", 1, 1.0, 9.0),)
    assert fault(replace(run(DOWN), programs=programs, others_cpu_s=9.0), SECOND) is None


def pointed(*runs: TcpRun, **settings: Any) -> tuple[TcpResult, Grade]:
    tcp = replace(SECOND, **settings)
    result = summarise(runs, tcp)
    return result, grade(result)[0]


def faked(*stolen: range) -> list[TcpRun]:
    """Return runs of 2 s at about 10 Gbps; half of each interval that is named was stolen."""
    bench = FakeTcpBench(Tcp(seconds=2, streams=1), is_stolen=lambda n, i: i in stolen[n])
    return [bench.run() for _ in stolen]


def test_noise_lowers_the_rate_over_all_time_alone() -> None:
    result, found = pointed(*faked(range(5), range(0)))
    [figure] = result.figures
    clean_bps = (14 * 10.1e9 + 20 * 11.11e9) / 34
    assert figure.undisturbed_bps == pytest.approx(clean_bps, rel=0.01)
    assert figure.lowest_bps == pytest.approx(10.1e9 * 17.5 / 20)
    assert figure.highest_bps == pytest.approx(10.1e9 * 1.1 / 1.01 * 1.01, rel=0.02)
    assert found is Grade.B
    assert [(each.why, round(each.share * 40)) for each in result.left_out] == [
        ("steal from server", 5), (BESIDE, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stolen", "expected"),
    [
        ((range(0), range(0)), Grade.A),
        ((range(1), range(0)), Grade.B),
        ((range(20), range(1)), Grade.C),
        ((range(20), range(0, 20, 3)), Grade.D),
        ((range(20), range(20)), Grade.D),
    ],
)
def test_the_grade_says_how_much_time_was_clean(stolen: tuple[range, ...], expected: Grade) -> None:
    result, found = pointed(*faked(*stolen))
    assert found is expected
    assert (result.undisturbed_bps is None) == (expected is Grade.D)
    assert result.total_bps > 0
    assert (grade(result)[1] == ()) == (expected is Grade.A)


@pytest.mark.parametrize(
    ("clean_s", "pieces", "enough"), [(1.0, 5, True), (0.9, 9, False), (9.0, 4, False)]
)
def test_a_rate_needs_a_second_in_five_pieces(clean_s: float, pieces: int, enough: bool) -> None:
    result, _ = pointed(*faked(range(0)))
    assert is_enough(replace(result, clean_s=clean_s, pieces=pieces)) is enough


def test_runs_without_a_clean_interval_have_no_clean_rate_and_say_why() -> None:
    result, found = pointed(*faked(range(20), range(20)))
    assert (found, result.pieces) == (Grade.D, 0)
    assert all(figure.undisturbed_bps is None for figure in result.figures)
    assert grade(result)[1][0].startswith("no interval of the 4.0 s was clean;")


def test_a_direction_without_intervals_has_no_rate_of_its_own() -> None:
    runs = [
        replace(each, directions=(*each.directions, replace(DOWN, direction=TcpDirection.UP)))
        for each in faked(range(0), range(0))
    ]
    down, up = (pointed(*runs)[0].figures[i] for i in (1, 0))
    assert (down.direction, up.direction) == (TcpDirection.DOWN, TcpDirection.UP)
    assert down.undisturbed_bps is not None
    assert up.undisturbed_bps is None


def test_runs_that_nobody_looked_at_have_no_grade_but_the_last() -> None:
    result, found = pointed(run(DOWN), run(DOWN))
    assert (found, result.undisturbed_bps, result.total_bps) == (Grade.D, None, 10e9)
    assert [each.why for each in result.left_out] == [UNWATCHED]


def test_several_clients_carry_what_the_ports_saw_not_the_sum_of_tests_at_other_times() -> None:
    [one] = faked(range(0))
    twice = replace(one, directions=one.directions * 2)
    assert twice.rate_bps(TcpDirection.DOWN) == pytest.approx(10.1e9)
    assert replace(twice, payload=()).rate_bps(TcpDirection.DOWN) == pytest.approx(20.2e9)


def test_a_placebo_finds_a_slowdown_of_tcp_that_is_not_noise() -> None:
    stolen = (range(5, 15), range(8, 20))
    slowed = summarise(faked(*stolen), SECOND)
    assert (slowed.beaten_share or 0) > 0.95
    assert placebo(slowed) == ()
    steady = [
        replace(each, payload=tuple(
            replace(s, values=tuple(1e8 + (i * 7919) % 1000 for i in range(len(s.values))))
            for s in each.payload))
        for each in faked(*stolen)
    ]  # fmt: skip
    [said] = placebo(summarise(steady, SECOND))
    assert "noise is not shown to explain the rate" in said


def test_a_record_of_an_older_version_opens() -> None:
    old = encode(summarise([run(DOWN)], SECOND))
    for key in ("watched_s", "clean_s", "pieces", "left_out", "beaten_share"):
        del old[key]
    for each in old["runs"]:
        del each["evidence"], each["payload"]
    opened = decode(TcpResult, old)
    assert opened.total_bps == 10e9
    assert opened.undisturbed_bps is None
