# SPDX-License-Identifier: Apache-2.0
"""Check from when on `wirespeed kpi record --for` counts."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from wirespeed.cli.verbs import kpi_record


class Clock:
    """Replaces `time` and `select`: a wait takes no time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 100.0
        monkeypatch.setattr(kpi_record, "time", self)
        monkeypatch.setattr(kpi_record, "select", self)

    def monotonic(self) -> float:
        return self.now_s

    def select(self, *waiting: Any) -> tuple[Sequence[int], ...]:
        self.now_s += waiting[-1]
        return (), (), ()


class Recorder:
    """Recorder of a host that is read from a moment of the clock on."""

    def __init__(self, clock: Clock, first_read_s: float) -> None:
        self._clock, self._first_read_s = clock, first_read_s
        self.writer = SimpleNamespace(id="kpi-7")
        self.has_begun = False

    def take(self) -> None:
        self.has_begun = self.has_begun or self._clock.now_s >= self._first_read_s


def test_record_for_a_time_counts_from_the_first_read_of_the_last_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    recorders: list[Any] = [Recorder(clock, first_read_s) for first_read_s in (100.0, 105.0)]
    kpi_record._loop(recorders, 1.5, None)
    assert clock.now_s >= 106.5


def test_record_for_a_time_of_a_silent_host_counts_after_a_while_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    recorders: list[Any] = [Recorder(clock, float("inf"))]
    kpi_record._loop(recorders, 1.5, None)
    assert 131.5 <= clock.now_s < 133
    assert capsys.readouterr().err == "kpi-7: no read within 30 s; --for counts from now\n"
