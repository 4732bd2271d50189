# SPDX-License-Identifier: Apache-2.0
"""Do the CPUs that poll share a core, a cache or a chip?

A hypervisor may place virtual CPUs anywhere and does not tell the guest. The CPU placement probe
measures it before and after each trial.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# Two cores of one cache need less, one way, on every server processor since 2017: 20 to 70 ns.
SHARED_CACHE_NS = 100.0
# Two cores do not slow each other by more, whatever their clocks do.
OWN_CORE_SLOWDOWN = 1.2


class PlacementKind(StrEnum):
    """Where the polling CPUs are to one another, the nearest first; of several pairs the worst."""

    ONE_CACHE = "one cache"
    """Cores that share a cache."""
    ACROSS_CACHES = "across caches"
    """Cores of two caches, or of two chips."""
    ONE_CORE = "one core"
    """Two threads of a core."""


NEAREST: Final = tuple(PlacementKind)
"""The kinds in the order in which their figures come first."""
PLACEMENT_WORDS: Final = {
    PlacementKind.ONE_CACHE: "polling CPUs within one cache",
    PlacementKind.ACROSS_CACHES: "polling CPUs across caches",
    PlacementKind.ONE_CORE: "polling CPUs on one core",
}


@dataclass(frozen=True, slots=True)
class CpuPlacement:
    """What two CPUs share, as the CPU placement probe measures it.

    core_to_core_ns: core-to-core latency: how long a cache line takes from one CPU to the other.
    It is tens of ns within a cache, hundreds between chips. slowdown: how much longer a piece of
    work takes while the other CPU works too: 1 on two cores, about 1.5 on two threads of a core.
    """

    core_to_core_ns: float
    slowdown: float

    @property
    def kind(self) -> PlacementKind:
        if self.slowdown > OWN_CORE_SLOWDOWN:
            return PlacementKind.ONE_CORE
        near = self.core_to_core_ns <= SHARED_CACHE_NS
        return PlacementKind.ONE_CACHE if near else PlacementKind.ACROSS_CACHES

    # Two chips have three to six times the latency of one cache; two threads of a core are 1.3
    # times and more as slow as two cores. Repeated measurements of one placement differ by less;
    # within a cache they may show 30 ns or 75.
    def _worse_than(self, other: CpuPlacement) -> bool:
        return self.core_to_core_ns > max(
            SHARED_CACHE_NS, 2 * other.core_to_core_ns
        ) or self.slowdown > 1.2 * max(1.0, other.slowdown)

    def same_as(self, other: CpuPlacement) -> bool:
        """Whether the CPUs may have been placed the same both times."""
        return not self._worse_than(other) and not other._worse_than(self)

    def __str__(self) -> str:
        return f"core-to-core latency {self.core_to_core_ns:.0f} ns, slowdown {self.slowdown:.2f}x"
