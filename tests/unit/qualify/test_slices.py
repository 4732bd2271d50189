# SPDX-License-Identifier: Apache-2.0
"""Check what counts as a gap of a slice, and what is reported as not seen."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from wirespeed.bench.interface import BenchError
from wirespeed.qualify.attribute import Gap
from wirespeed.qualify.qualification import Cause
from wirespeed.qualify.slices import Slice, SliceRecorder
from wirespeed.remote.interface import Runner

GHZ, MS = 1_000_000_000, 1_000_000
BEGAN = 7 * GHZ
HOG, POLLER, ENDED = 7, 100, 9
FIRST = BEGAN + 20 * MS


@dataclass
class Program:
    """A wsdp with one CPU, whose TSC counts ns."""

    gaps: list[list[int]] = field(default_factory=list)
    runs: list[list[int]] = field(default_factory=list)
    overflowed: int = 0
    lost: int = 0
    refuse: str | None = None
    dead: str | None = None
    asked: list[str] = field(default_factory=list)

    def ask(self, command: str) -> Any:
        self.asked.append(command)
        if command.startswith("switches,") and self.refuse is not None:
            raise BenchError(self.refuse)
        return {"tsc": BEGAN} if command == "info" else {"ok": 1}

    def export(self, command: str) -> str:
        self.asked.append(command)
        if command == "gaps":
            log = {"cpu": 1, "overflowed": self.overflowed, "gaps": self.gaps}
            return json.dumps({"format": "wirespeed-gaps-1", "lcores": {"1": log}})
        seen = {"lost": self.lost, "runs": self.runs, "names": {str(ENDED): "make"}}
        return json.dumps({"format": "wirespeed-switches-1", "cpus": {"1": seen}})

    def ended(self) -> str | None:
        return self.dead


class Names:
    """A host on which one program still runs."""

    def read_many(self, paths: Iterable[str]) -> dict[str, str | OSError]:
        there = {f"/proc/{HOG}/comm": "hog\n"}
        return {path: there.get(path, FileNotFoundError(path)) for path in paths}


def recorded(program: Program, seconds: float = 1.0) -> list[Slice]:
    runner = cast(Runner, Names())
    waited: list[float] = []
    recorder = SliceRecorder(program, runner, GHZ, {1: POLLER}, waited.append)
    found = list(recorder.slices(seconds))
    assert len(waited) == len(found)
    assert sum(waited) > seconds
    return found


def test_slice_gap_outside_is_not_counted() -> None:
    inside = [FIRST + 5 * MS, 2 * MS, 0]
    late = [FIRST + GHZ + 1, 4 * MS, 0]
    [one] = recorded(Program(gaps=[[FIRST - 1, MS, 0], inside, late], runs=[]))
    assert one.gaps[1] == (Gap(FIRST + 5 * MS, 2 * MS, Cause.STOPPED),)
    assert one.watched_s == 1.0


def test_slice_gap_has_the_name_of_a_living_or_ended_program() -> None:
    gaps = [[FIRST, 2 * MS, 0], [FIRST + 10 * MS, 2 * MS, 0]]
    runs = [[FIRST, 2 * MS, HOG], [FIRST + 2 * MS, 8 * MS, POLLER], [FIRST + 10 * MS, MS, ENDED]]
    [one] = recorded(Program(gaps=gaps, runs=runs))
    assert [gap.name for gap in one.gaps[1]] == ["hog", "make"]


def test_slices_last_as_long_as_asked() -> None:
    program = Program()
    assert [one.watched_s for one in recorded(program, 12.0)] == [5.0, 5.0, 2.0]
    assert program.asked.count("switches,cpu=1") == program.asked.count("switches_stop") == 3


def test_slice_without_switch_records_has_gaps_of_unknown_cause() -> None:
    program = Program(gaps=[[FIRST, MS, 0]], refuse="Permission denied; be root")
    [one] = recorded(program)
    assert one.gaps[1] == (Gap(FIRST, MS, Cause.UNKNOWN),)
    assert one.unseen == ("who caused the gaps is not known: Permission denied; be root",)
    assert "switches_stop" not in program.asked


def test_slice_of_a_program_that_ended_is_an_error() -> None:
    with pytest.raises(BenchError, match="no answer"):
        recorded(Program(refuse="no answer", dead="killed by SIGKILL"))


def test_slice_with_full_logs_says_so() -> None:
    [one] = recorded(Program(overflowed=3, lost=2))
    assert one.unseen == (
        "CPU 1: 2 context switches were not recorded",
        "qualify/lcore1 stopped 3 times more than its log has room for",
    )
