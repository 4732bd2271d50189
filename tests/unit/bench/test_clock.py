# SPDX-License-Identifier: Apache-2.0
"""Check that a moment on another host's TSC is placed within the reported error."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pytest

from wirespeed.bench.noise.clock import ClockElsewhere, TrialClock


@dataclass
class Program:
    """Reports a TSC that runs at hz, `ahead_s` ahead, and off its stated rate by ppm."""

    hz: float
    ahead_s: float = 0.0
    ppm: float = 0.0

    def tsc(self, at_ns: int) -> int:
        return round((at_ns / 1e9 + self.ahead_s) * self.hz * (1 + self.ppm / 1e6))

    def ask(self, command: str) -> Any:
        assert command == "info"
        return {"tsc": self.tsc(time.monotonic_ns()), "tsc_hz": int(self.hz)}

    def export(self, command: str) -> str:
        raise NotImplementedError(command)

    def ended(self) -> str | None:
        return None


@pytest.mark.parametrize(
    ("near", "far"),
    [
        (Program(2e9), Program(2e9)),
        (Program(2e9), Program(3e9, ahead_s=1e5)),
        (Program(3e9, ppm=40), Program(2e9, ahead_s=-100, ppm=-40)),
    ],
)
def test_moments_of_another_host_are_found(near: Program, far: Program) -> None:
    clocks = ClockElsewhere(near, far)
    clocks.align()
    began = time.monotonic_ns()
    trial = TrialClock(near.tsc(began), near.hz)
    while time.monotonic_ns() < began + 20_000_000:
        pass
    there = clocks.of(trial)
    assert there.error_ns > 0
    for after_ns in (0, 10_000_000, 20_000_000):
        moment = there.at_ns(far.tsc(began + after_ns))
        # The trial's clock itself uses the rate that wsdp measured.
        assert abs(moment - trial.at_ns(near.tsc(began + after_ns))) <= there.error_ns + 1_000


def test_the_clocks_must_have_been_aligned_before() -> None:
    clocks = ClockElsewhere(Program(1e9), Program(1e9))
    with pytest.raises(ValueError, match="before the trial"):
        clocks.of(TrialClock(0, 1e9))
