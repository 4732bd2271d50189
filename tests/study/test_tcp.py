# SPDX-License-Identifier: Apache-2.0
"""How often is TCP run, until enough runs can be believed?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from tests.fake_rig import FakeTcpBench
from tests.report.sample import Nobody
from wirespeed.bench.interface import BenchError
from wirespeed.model.tcp import Tcp, TcpProgram, TcpRun
from wirespeed.study.tcp import measure_tcp

TCP = Tcp(seconds=2, repeats=2)


@dataclass
class Restless:
    """Each letter is a run: v valid, d disturbed, f fails. After the last one they begin again."""

    course: str
    bench: FakeTcpBench = field(default_factory=lambda: FakeTcpBench(TCP))
    number: int = 0

    def run(self) -> TcpRun:
        kind = self.course[self.number % len(self.course)]
        self.number += 1
        if kind == "f":
            raise BenchError("the speed test failed: Broken pipe")
        run = self.bench.run()
        taken = TcpProgram(
            "clients", 1, steal_s=run.elapsed_s if kind == "d" else 0.0, waited_s=0.0
        )
        return replace(run, programs=(taken,))

    def describe(self) -> Mapping[str, object]:
        return {}


@dataclass
class Told(Nobody):
    """What a watcher hears: the numbers of valid runs, and why others do not count."""

    heard: list[int | str] = field(default_factory=list)

    def tcp_run(self, run: TcpRun, number: int) -> None:  # noqa: ARG002
        self.heard.append(number)

    def tcp_discarded(self, why: str) -> None:
        self.heard.append(why)


def test_a_disturbed_run_is_made_again_and_told() -> None:
    told = Told()
    result = measure_tcp(Restless("vdfv"), TCP, told)
    assert result.tcp is not None
    assert len(result.tcp.runs) == 2
    assert [why[:7] for why in result.tcp.discarded] == ["clients", "the spe"]
    assert [each if isinstance(each, int) else each[:7] for each in told.heard] == [
        1, "clients", "the spe", 2,
    ]  # fmt: skip
    assert (result.not_measurable, result.notes) == (None, ())


def test_what_a_restless_host_gives_is_kept_and_said_to_be_less() -> None:
    bench = Restless("ddddvddddddddddddd")
    result = measure_tcp(bench, TCP, Nobody())
    assert bench.number == 8
    assert result.tcp is not None
    assert len(result.tcp.runs) == 1
    assert result.not_measurable is None
    assert "1 of the 2 runs" in result.notes[0]


def test_a_host_that_is_never_quiet_is_not_measured_for_ever() -> None:
    bench = Restless("d")
    result = measure_tcp(bench, TCP, Nobody())
    assert bench.number == 8
    assert result.tcp is None
    assert "the limit is 10%" in (result.not_measurable or "")


def test_a_bench_that_fails_again_and_again_is_broken() -> None:
    bench = Restless("vffff")
    with pytest.raises(BenchError, match="4 TCP runs in a row failed; the last: the speed test"):
        measure_tcp(bench, TCP, Nobody())
    assert bench.number == 5
