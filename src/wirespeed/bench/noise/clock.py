# SPDX-License-Identifier: Apache-2.0
"""When was a reading of the TSC, in ns since the trial's first frame was due?

All programs of a host read the same TSC; another host has its own, which is aligned to it here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from wirespeed.bench.noise.interface import WatchingProgram

# The quickest of so many answers says best when it was given.
_READINGS = 5


@dataclass(frozen=True, slots=True)
class TrialClock:
    """started_tsc: when the first frame was due. error_ns: how wrong a moment may be."""

    started_tsc: int
    tsc_hz: float
    error_ns: int = 0

    def at_ns(self, tsc: int) -> int:
        return self.length_ns(tsc - self.started_tsc)

    def length_ns(self, cycles: int) -> int:
        return round(cycles * 1e9 / self.tsc_hz)


@dataclass(frozen=True, slots=True)
class _Pair:
    """What the TSCs of two hosts read at one moment, give or take error_ns."""

    near: int
    far: int
    error_ns: int


class ClockElsewhere:
    """The TSC of another host than the generator's, aligned before and after each trial.

    Between the two it is taken to run evenly, so it is never more wrong than the worse of them.
    """

    def __init__(self, near: WatchingProgram, far: WatchingProgram) -> None:
        """near: on the generator's host, whose TSC a trial's clock reads."""
        self._near, self._far = near, far
        self._before: _Pair | None = None

    def align(self) -> None:
        """Before the trial."""
        self._before = self._pair()

    def of(self, clock: TrialClock) -> TrialClock:
        """The trial's clock, once it has ended, for readings of this TSC."""
        before, after = self._before, self._pair()
        if before is None:
            raise ValueError("the clocks were not aligned before the trial")
        rate = (after.far - before.far) / (after.near - before.near)
        started = before.far + (clock.started_tsc - before.near) * rate
        error_ns = max(before.error_ns, after.error_ns)
        return TrialClock(round(started), clock.tsc_hz * rate, error_ns)

    def _pair(self) -> _Pair:
        near, near_ns, near_error, _ = _read(self._near)
        far, far_ns, far_error, far_hz = _read(self._far)
        return _Pair(near, far - round((far_ns - near_ns) * far_hz / 1e9), near_error + far_error)


def _read(program: WatchingProgram) -> tuple[int, int, int, float]:
    """A reading of a TSC, when it was by our clock, how wrong that may be (ns), and its rate."""
    found = []
    for _ in range(_READINGS):
        asked_ns = time.monotonic_ns()
        info = program.ask("info")
        half_ns = (time.monotonic_ns() - asked_ns) // 2
        found.append((half_ns, asked_ns + half_ns, int(info["tsc"]), float(info["tsc_hz"])))
    half_ns, at_ns, tsc, tsc_hz = min(found)
    return tsc, at_ns, half_ns, tsc_hz
