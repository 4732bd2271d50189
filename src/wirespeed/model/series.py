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
