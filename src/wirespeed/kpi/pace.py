# SPDX-License-Identifier: Apache-2.0
"""Decide how often each collector reads, and lower the rate of one that cannot keep up."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.kpi.interface import Collector
from wirespeed.model.errors import BadInput

DEFAULT_HZ, LEAST_HZ, MOST_HZ = 10.0, 1.0, 50.0
SPARSE_HZ = 1.0
# Reads in a row that are late or long before the rate is halved.
_PATIENCE = 5
_SLOWEST_HZ = 0.1


def checked_rate(rate_hz: float) -> float:
    """Return the rate. Raises BadInput outside 1 to 50 Hz."""
    if not LEAST_HZ <= rate_hz <= MOST_HZ:
        raise BadInput(
            f"rate {rate_hz:g} Hz: not within {LEAST_HZ:g} and {MOST_HZ:g}",
            f"Leave it out for {DEFAULT_HZ:g} Hz.",
        )
    return rate_hz


@dataclass(slots=True)
class Traffic:
    """State of the host that all collectors look at; a run's trials change it."""

    sparse: bool
    """No CPU to spare: reads stop polling threads."""
    running: bool = False
    """Frames flow, so that a stopped thread loses some."""


@dataclass(slots=True)
class Pace:
    """Rate of one collector."""

    collector: Collector
    traffic: Traffic
    rate_hz: float
    _behind: int = 0

    def period_s(self) -> float | None:
        """Return the time between two reads; None while the collector must not read."""
        if not (self.traffic.sparse and self.traffic.running):
            return 1 / self.rate_hz
        return 1 / min(SPARSE_HZ, self.rate_hz) if self.collector.cheap else None

    def note(self, late_s: float, took_s: float) -> str | None:
        """Take note of a read. Returns a sentence where the rate was lowered.

        late_s: time from when it was due to its begin. took_s: its duration.
        """
        period_s = self.period_s()
        if period_s is None or (late_s < period_s and took_s < period_s / 2):
            self._behind = 0
            return None
        self._behind += 1
        if self._behind < _PATIENCE or self.rate_hz <= _SLOWEST_HZ:
            return None
        self._behind = 0
        before, self.rate_hz = self.rate_hz, max(_SLOWEST_HZ, self.rate_hz / 2)
        return (
            f"{self.collector.name}: cannot keep up (read {took_s * 1e3:.1f} ms, begun "
            f"{late_s * 1e3:.1f} ms late); rate lowered from {before:g} to {self.rate_hz:g} Hz"
        )
