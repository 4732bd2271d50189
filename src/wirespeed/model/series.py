# SPDX-License-Identifier: Apache-2.0
"""What is a figure over time?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SeriesKind(StrEnum):
    COUNT = "count"
    """How many in the time from one moment to the next."""
    COUNTER = "counter"
    """How many since the epoch; a rate is the difference of two."""
    GAUGE = "gauge"
    """A level at that moment."""


# Names of a trial's series: frames by window, over all directions; BACKLOG is what was queued as
# the window began. COUNTED is 1 where the window counts and 0 where it was left out.
OFFERED, UNSENT, RECEIVED, BACKLOG = "offered", "unsent", "received", "backlog"
COUNTED = "counted"
_SLOWNESS = "slowness of CPU "


def slowness_name(cpu: int, host: str = "") -> str:
    """The name of a CPU's contention samples (evidence.ContentionSamples)."""
    return f"{_SLOWNESS}{cpu} on {host}" if host else f"{_SLOWNESS}{cpu}"


def is_slowness(name: str) -> bool:
    return name.startswith(_SLOWNESS)


@dataclass(frozen=True, slots=True)
class Series:
    """One named figure over time.

    epoch: what time 0 is, in words, e.g. "first frame due". at_ns: moments, ascending, in ns since
    the epoch. values: one for each moment, in `unit` ("frames", "ns", "ratio").
    """

    name: str
    unit: str
    kind: SeriesKind
    epoch: str
    at_ns: tuple[int, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.at_ns) != len(self.values):
            raise ValueError(
                f"series {self.name}: {len(self.at_ns)} moments and {len(self.values)} values"
            )
