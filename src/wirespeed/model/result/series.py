# SPDX-License-Identifier: Apache-2.0
"""Define a value over time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SeriesKind(StrEnum):
    COUNT = "count"
    """Count between one moment and the next."""
    COUNTER = "counter"
    """Count since the epoch; the difference of two values gives a rate."""
    GAUGE = "gauge"
    """Level at that moment."""


# Names of a trial's series: frames by window, over all directions. BACKLOG is the queue at the
# beginning of the window. COUNTED is 1 if the window counts and 0 if it is excluded.
OFFERED, UNSENT, RECEIVED, BACKLOG = "offered", "unsent", "received", "backlog"
COUNTED = "counted"
_SLOWNESS = "slowness of CPU "


def slowness_name(cpu: int, host: str = "") -> str:
    """Return the name of a CPU's contention samples (evidence.ContentionSamples)."""
    return f"{_SLOWNESS}{cpu} on {host}" if host else f"{_SLOWNESS}{cpu}"


def is_slowness(name: str) -> bool:
    return name.startswith(_SLOWNESS)


@dataclass(frozen=True, slots=True)
class Series:
    """One named value over time."""

    name: str
    unit: str
    """One of "frames", "ns" and "ratio"."""
    kind: SeriesKind
    epoch: str
    """Meaning of time 0 in words, e.g. "first frame due"."""
    at_ns: tuple[int, ...]
    """Moments in ns since the epoch, ascending."""
    values: tuple[float, ...]
    """One value for each moment, in `unit`."""

    def __post_init__(self) -> None:
        if len(self.at_ns) != len(self.values):
            raise ValueError(
                f"series {self.name}: {len(self.at_ns)} moments and {len(self.values)} values"
            )
