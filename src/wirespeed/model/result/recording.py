# SPDX-License-Identifier: Apache-2.0
"""Define a recording of raw counters over time, in parts that a recorder writes as it goes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.result.series import SeriesKind

NO_VALUE = -(2**63)
"""Value of a series that a read did not have."""


class MarkKind(StrEnum):
    POINT = "point"
    """A point of a study began or is complete."""
    TRIAL = "trial"
    """A trial is about to start, or was judged."""
    GATE = "gate"
    """A trial was judged, and a part of its time does not count."""
    FAULT = "fault"
    """A point with an injected fault is complete: which one it was."""
    NOTE = "note"
    """The recorder reports on itself: a missing source, a lowered rate, a gap."""
    PRICE = "price"
    """Cost of the recording, at its end."""
    CLOCK = "clock"
    """The wall clock was stepped."""
    USER = "user"
    """A person's own."""


@dataclass(frozen=True, slots=True)
class RecordedSeries:
    """Name, labels and unit of one series of a source."""

    source: str
    """Program or file that is read, e.g. "cpu" or "ovs-pmd system"."""
    key: str
    """Stable name, e.g. "cpu_steal_seconds"."""
    labels: tuple[tuple[str, str], ...]
    unit: str
    """Unit of the stored integers, e.g. "ns"."""
    kind: SeriesKind


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive reads of one source that found the same series in one epoch."""

    source: str
    epoch: str
    """Changes with each start of the source; no rate is computed across epochs."""
    series: tuple[int, ...]
    """Number of each column's series in the recording."""
    begin_ns: tuple[int, ...]
    """Begin of each read by CLOCK_MONOTONIC, ascending."""
    took_ns: tuple[int, ...]
    """Duration of each read."""
    values: tuple[tuple[int, ...], ...]
    """One row a read; NO_VALUE where a series had none."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A named moment of a recording."""

    at_ns: int
    """CLOCK_MONOTONIC of the recorded host."""
    kind: MarkKind
    text: str


@dataclass(frozen=True, slots=True)
class RecordingClock:
    """The recorded host's clocks, read together at the begin of the recording."""

    boot: str
    """The kernel's boot id."""
    monotonic_ns: int
    realtime_ns: int

    def realtime_of(self, at_ns: int) -> int:
        """Return the wall clock, in ns since 1970, at a moment of CLOCK_MONOTONIC."""
        return at_ns - self.monotonic_ns + self.realtime_ns
