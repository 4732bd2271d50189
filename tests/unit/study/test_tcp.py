# SPDX-License-Identifier: Apache-2.0
"""Check how often TCP runs are repeated until there is enough clean time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tests.support.fake_rig import FakeTcpBench
from tests.support.sample import Nobody
from wirespeed.bench.interface import BenchError
from wirespeed.model.result.result import Grade
from wirespeed.model.result.tcp import TcpRun
from wirespeed.model.study.tcp import Tcp
from wirespeed.study.tcp import measure_tcp

TCP = Tcp(seconds=2, repeats=2)


class Course:
    """A bench whose runs follow letters: q quiet, l little clean time, d noisy, f fails.

    The letters repeat after the last one.
    """

    emulated: str | None = None

    def __init__(self, letters: str) -> None:
        self._letters = letters
        self._bench = FakeTcpBench(TCP, is_stolen=lambda _run, i: self._is_stolen(i))
        self.number = 0
        self._kind = ""

    def _is_stolen(self, interval: int) -> bool:
        return self._kind == "d" or (self._kind == "l" and interval > 5)

    def run(self) -> TcpRun:
        self._kind = self._letters[self.number % len(self._letters)]
        self.number += 1
        if self._kind == "f":
            raise BenchError("the speed test failed: Broken pipe")
        return self._bench.run()

    def describe(self) -> Mapping[str, object]:
        return {}


@dataclass
class Reports(Nobody):
    """A listener that records the numbers of valid runs, and the reasons of failed ones."""

    heard: list[int | str] = field(default_factory=list)

    def run_ended(self, rates: str, number: int) -> None:  # noqa: ARG002
        self.heard.append(number)

    def run_failed(self, why: str) -> None:
        self.heard.append(why)


@pytest.mark.parametrize(
    ("letters", "runs", "grade"),
    [
        ("q", 2, Grade.A),
        ("qd", 2, Grade.C),  # one quiet run is enough: the other is not made again
        ("l", 3, Grade.C),  # two give 1 s, but in too few pieces
        ("dl", 3, Grade.D),  # after two, four might have been enough; after three no longer
        ("d", 2, Grade.D),  # more of them could not help
    ],
)
def test_runs_are_added_only_where_more_clean_time_can_be_had(
    letters: str, runs: int, grade: Grade
) -> None:
    bench = Course(letters)
    result = measure_tcp(bench, TCP, Nobody())
    assert (bench.number, result.grade) == (runs, grade)
    assert result.tcp is not None
    assert len(result.tcp.runs) == runs
    assert result.tcp.total_bps > 0
    assert result.not_measurable is None
    assert bool(result.because) == (grade is not Grade.A)


def test_a_run_that_failed_is_made_again_and_reported() -> None:
    reports = Reports()
    result = measure_tcp(Course("qfq"), TCP, reports)
    assert result.tcp is not None
    assert result.tcp.discarded == ("the speed test failed: Broken pipe",)
    assert reports.heard == [1, "the speed test failed: Broken pipe", 2]
    assert (result.not_measurable, result.notes, result.grade) == (None, (), Grade.A)


def test_one_run_is_enough_for_an_answer() -> None:
    result = measure_tcp(Course("fqff"), TCP, Nobody())
    assert result.tcp is not None
    assert len(result.tcp.runs) == 1
    assert result.not_measurable is None
    assert "1 of the 2 runs" in result.notes[0]


def test_a_point_is_not_measurable_only_where_no_run_could_run() -> None:
    tcp = Tcp(seconds=2, repeats=1)
    result = measure_tcp(Course("f"), tcp, Nobody())
    assert (result.tcp, result.grade) == (None, None)
    assert "none of 2 runs has a rate" in (result.not_measurable or "")


def test_a_bench_that_fails_again_and_again_is_broken() -> None:
    bench = Course("ffff")
    with pytest.raises(BenchError, match="4 TCP runs in a row failed; the last: the speed test"):
        measure_tcp(bench, TCP, Nobody())
    assert bench.number == 4
