# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.measure.tcp import invalid, summarise
from wirespeed.model.tcp import Tcp, TcpDirection, TcpProgram, TcpRun, TcpWay

SECOND = Tcp(seconds=1)
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
    assert invalid(run(WAY), SECOND) is None
    starved = replace(WAY, bytes=108_600, bits_per_second=58e9)
    assert invalid(run(WAY, starved), SECOND) == "a test counted over 1.5e-05 s instead of 1 s"
    assert invalid(run(replace(WAY, bits_per_second=WAY.bits_per_second / 14)), SECOND) is not None
    drained = replace(WAY, bits_per_second=WAY.bits_per_second / 2.5)
    assert invalid(run(drained), SECOND) is None
    nothing = replace(WAY, bytes=0, bits_per_second=0.0)
    assert invalid(run(nothing), SECOND) == "a test counted over 0 s instead of 1 s"


def treated(
    *, cpus: int = 1, steal_s: float = 0.0, waited_s: float = 0.0, others_s: float = 0.0
) -> TcpRun:
    """A run of 10 s in which the server was treated so, beside clients that were left alone."""
    programs = (TcpProgram("clients", 1, 0.0, 0.0), TcpProgram("server", cpus, steal_s, waited_s))
    others = ("cc1", "sh") if others_s else ()
    return replace(run(WAY), elapsed_s=10.0, programs=programs, others_cpu_s=others_s,
                   others=others)  # fmt: skip


@pytest.mark.parametrize(
    ("disturbed", "says"),
    [
        (
            treated(steal_s=1.1, others_s=0.0),
            "11.0% of the run, the limit is 10%: in 10.0 s 1.10 s",
        ),
        (treated(waited_s=3.0, others_s=2.0), "20.0% of the run"),
        (treated(steal_s=0.6, waited_s=0.6, others_s=2.0), "12.0% of the run"),
        (treated(cpus=2, waited_s=3.0, others_s=9.0), "server on 2 CPUs may have lost 15.0%"),
        (treated(waited_s=30.0, others_s=20.0), "may have lost 100.0%"),
    ],
)
def test_a_run_is_invalid_when_too_much_of_a_programs_time_was_taken(
    disturbed: TcpRun, says: str
) -> None:
    why = invalid(disturbed, SECOND)
    assert why is not None
    assert why.startswith("server on")
    assert says in why


@pytest.mark.parametrize(
    "bearable",
    [
        treated(steal_s=0.4, waited_s=0.5, others_s=0.5),
        treated(waited_s=9.0, others_s=0.5),  # it waited for the bench's own programs
        treated(waited_s=0.5, others_s=9.0),  # others ran, but elsewhere or while it slept
        treated(cpus=4, waited_s=3.0, others_s=9.0),
    ],
)
def test_a_little_disturbance_spoils_no_run(bearable: TcpRun) -> None:
    assert invalid(bearable, SECOND) is None


def test_validity_is_decided_without_looking_at_the_rate() -> None:
    disturbed = treated(steal_s=2.0)
    for bits_per_second in (1.0, 10e9, 1e15):
        way = replace(WAY, bits_per_second=bits_per_second)
        assert invalid(replace(disturbed, ways=(way,)), SECOND) == invalid(disturbed, SECOND)


def test_the_reason_names_who_ran_instead() -> None:
    assert (invalid(treated(waited_s=3.0, others_s=2.0), SECOND) or "").endswith(
        "0.00 s steal, 3.00 s run-queue wait, and other programs ran for 2.00 s (cc1, sh)"
    )


def test_how_much_a_run_bears_is_the_studys_choice() -> None:
    disturbed = treated(steal_s=2.0)
    assert invalid(disturbed, replace(SECOND, max_taken=0.3)) is None
    assert "the limit is 15%" in (invalid(disturbed, replace(SECOND, max_taken=0.15)) or "")
