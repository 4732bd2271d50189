# SPDX-License-Identifier: Apache-2.0
"""When was a reading of the TSC, in ns since the trial's first frame was due?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrialClock:
    """started_tsc: when the first frame was due. All programs of a host read the same TSC."""

    started_tsc: int
    tsc_hz: int

    def at_ns(self, tsc: int) -> int:
        return self.length_ns(tsc - self.started_tsc)

    def length_ns(self, cycles: int) -> int:
        return round(cycles * 1e9 / self.tsc_hz)
