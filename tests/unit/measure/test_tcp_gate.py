# SPDX-License-Identifier: Apache-2.0
"""Check which intervals of a TCP run are excluded, and the result over the others."""

from __future__ import annotations

import random
from dataclasses import replace
from inspect import signature

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fake_rig import TENTH_NS, FakeTcpBench, intervals
from wirespeed.measure import tcp_gate
from wirespeed.measure.tcp import summarise
from wirespeed.measure.tcp_gate import BESIDE, UNWATCHED, reasons
from wirespeed.model.result.series import Series, SeriesKind
from wirespeed.model.result.tcp import TcpRun
from wirespeed.model.result.tcp_evidence import ProgramIntervals, TcpEvidence
from wirespeed.model.study.tcp import Tcp

MS = 1_000_000
TCP = Tcp(seconds=2)


def one(
    *, cpus: int = 1, steal_ms: int = 0, waited_ms: int = 0, competing_ms: int = 0
) -> str | None:
    """Return the verdict on an interval of 0.1 s of a server, with clients without noise."""
    programs = (
        ProgramIntervals("clients", 1, (0,), (0,)),
        ProgramIntervals("server", cpus, (steal_ms * MS,), (waited_ms * MS,)),
    )
    evidence = TcpEvidence((0, TENTH_NS), 0, TENTH_NS, programs, (competing_ms * MS,))
    return reasons(evidence, 0.1)[0]


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (one(steal_ms=11), "steal from server"),
        (one(waited_ms=30, competing_ms=20), "competing processes before server"),
        (one(steal_ms=6, waited_ms=6, competing_ms=20), "competing processes before server"),
        (one(cpus=2, waited_ms=30, competing_ms=90), "competing processes before server"),
        (one(steal_ms=10), None),
        (one(steal_ms=4, waited_ms=5, competing_ms=5), None),
        (one(waited_ms=90, competing_ms=5), None),  # it waited for the bench's own programs
        (one(waited_ms=5, competing_ms=90), None),  # others ran elsewhere or while it slept
        (one(cpus=4, waited_ms=30, competing_ms=90), None),
    ],
)
def test_taken_time_is_steal_and_the_wait_for_competing_processes(
    found: str | None, says: str | None
) -> None:
    assert found == says


def test_an_interval_next_to_a_noisy_one_is_excluded() -> None:
    evidence = intervals([i == 5 for i in range(10)])
    assert [bool(why) for why in reasons(evidence, 0.1)] == [4 <= i <= 6 for i in range(10)]
    assert reasons(evidence, 0.1)[4] == BESIDE


def test_an_interval_that_nobody_looked_at_for_long_is_excluded() -> None:
    quiet = intervals([False] * 3)
    late = replace(quiet, at_ns=(0, TENTH_NS, 4 * TENTH_NS, 5 * TENTH_NS))
    assert reasons(late, 0.1)[1] == UNWATCHED


def test_the_judgement_cannot_see_a_rate() -> None:
    """Evidence holds neither octets nor rates, by its types, and there is no other argument."""
    for judge in (tcp_gate.reasons, tcp_gate.disturbed):
        kinds = [str(p.annotation) for p in signature(judge).parameters.values()]
        assert kinds == ["TcpEvidence", "float"]
    assert set(TcpEvidence.__slots__) == {
        "at_ns", "begin_ns", "end_ns", "programs", "competing_ns",
    }  # fmt: skip


def simulated(rng: random.Random, runs: int, *, taken: float, own_stalls: float) -> list[TcpRun]:
    """Return runs of 20 intervals at about 10 Gbps; half of a share `taken` of them was stolen.

    own_stalls: share of intervals in which TCP is slow without any noise.
    """
    made = []
    for _ in range(runs):
        stolen = [rng.random() < taken for _ in range(20)]
        [direction] = FakeTcpBench(TCP).run().directions
        octets = tuple(
            125e6 * rng.gauss(1, 0.1)
            * (0.5 if half else 1) * (0.2 if rng.random() < own_stalls else 1)
            for half in stolen
        )  # fmt: skip
        ends = tuple(TENTH_NS * (i + 1) for i in range(20))
        series = Series("down", "octets", SeriesKind.COUNT, "traffic", ends, octets)
        made.append(
            TcpRun((direction,), 3.0, 1.0, 1.0, evidence=intervals(stolen), payload=(series,))
        )
    return made


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.1, 0.2]))
def test_taken_cpu_time_does_not_lower_the_clean_rate(seed: int, taken: float) -> None:
    [figure] = summarise(simulated(random.Random(seed), 4, taken=taken, own_stalls=0), TCP).figures
    if figure.undisturbed_bps is None:
        return
    assert figure.undisturbed_bps == pytest.approx(10e9, rel=0.13)
    assert figure.median_bps <= 10e9 * 1.13


@pytest.mark.parametrize("taken", [0.0, 0.15])
def test_the_stated_interval_holds_the_rate_at_least_93_times_in_100(taken: float) -> None:
    rng = random.Random(7)
    held = told = 0
    for _ in range(600):
        runs = simulated(rng, 4, taken=taken, own_stalls=0.1)
        [figure] = summarise(runs, TCP).figures
        if figure.undisturbed_bps is None or figure.undisturbed_error_bps is None:
            continue
        told += 1
        # A tenth of the intervals carry a fifth: 0.92 of 10 Gbps.
        held += abs(figure.undisturbed_bps - 9.2e9) <= figure.undisturbed_error_bps
    assert told > 400
    assert held / told >= 0.93


def test_tcp_that_stalls_by_itself_is_not_excused() -> None:
    runs = simulated(random.Random(3), 4, taken=0.0, own_stalls=0.5)
    [figure] = summarise(runs, TCP).figures
    assert figure.undisturbed_bps == pytest.approx(figure.median_bps, rel=0.1)
    assert (figure.undisturbed_bps or 0) < 8e9
