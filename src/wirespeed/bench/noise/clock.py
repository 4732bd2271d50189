# SPDX-License-Identifier: Apache-2.0
"""Convert TSC readings to ns since the first frame of a trial was due.

All programs of a host read the same TSC. The TSC of another host is aligned to it here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from wirespeed.bench.noise.interface import WatchingProgram

# Number of readings; the time of the quickest answer is the most exact.
_READINGS = 5


@dataclass(frozen=True, slots=True)
class TrialClock:
    """Clock of one trial."""

    started_tsc: int
    """TSC at which the first frame was due."""
    tsc_hz: float
    error_ns: int = 0
    """Largest error of a converted time in ns."""

    def at_ns(self, tsc: int) -> int:
        return self.length_ns(tsc - self.started_tsc)

    def length_ns(self, cycles: int) -> int:
        return round(cycles * 1e9 / self.tsc_hz)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Readings of two hosts' TSCs for one moment."""

    near: int
    far: int
    error_ns: int
    """Largest error of the moment in ns."""


class ClockElsewhere:
    """TSC of another host than the generator's, aligned before and after each trial.

    It is assumed to run evenly in between, so its error is at most the larger of the two errors.
    """

    def __init__(self, near: WatchingProgram, far: WatchingProgram) -> None:
        """Store both programs; `near` runs on the host whose TSC the trial's clock reads."""
        self._near, self._far = near, far
        self._before: _Pair | None = None

    def align(self) -> None:
        """Align the clocks before the trial."""
        self._before = self._pair()

    def of(self, clock: TrialClock) -> TrialClock:
        """Convert the clock of an ended trial to readings of this TSC.

        Raises ValueError if `align` was not called before the trial.
        """
        before, after = self._before, self._pair()
        if before is None:
            raise ValueError("the clocks were not aligned before the trial")
        rate = (after.far - before.far) / (after.near - before.near)
        started = before.far + (clock.started_tsc - before.near) * rate
        error_ns = max(before.error_ns, after.error_ns)
        return TrialClock(round(started), clock.tsc_hz * rate, error_ns)

    def _pair(self) -> _Pair:
        near, near_ns, near_error, _ = read_tsc(self._near)
        far, far_ns, far_error, far_hz = read_tsc(self._far)
        return _Pair(near, far - round((far_ns - near_ns) * far_hz / 1e9), near_error + far_error)


def read_tsc(program: WatchingProgram) -> tuple[int, int, int, float]:
    """Read a TSC.

    Returns the reading, its time on our clock in ns, that time's error in ns, and the TSC rate in
    Hz.
    """
    found = []
    for _ in range(_READINGS):
        asked_ns = time.monotonic_ns()
        info = program.ask("info")
        half_ns = (time.monotonic_ns() - asked_ns) // 2
        found.append((half_ns, asked_ns + half_ns, int(info["tsc"]), float(info["tsc_hz"])))
    half_ns, at_ns, tsc, tsc_hz = min(found)
    return tsc, at_ns, half_ns, tsc_hz
