# SPDX-License-Identifier: Apache-2.0
"""Where has the hypervisor placed the CPUs that poll: what do they share?

In a virtual machine nothing in the guest tells: it is measured around each trial.
"""

from __future__ import annotations

from dataclasses import dataclass

# Two cores of one cache need less, one way, on every server processor since 2017: 20 to 70 ns.
SHARED_CACHE_NS = 100.0
# Two cores do not slow each other by more, whatever their clocks do.
OWN_CORE_SLOWDOWN = 1.2


@dataclass(frozen=True, slots=True)
class CpuPlacement:
    """What two CPUs share, told by what it does (the CPU placement probe).

    core_to_core_ns: core-to-core latency, how long a cache line takes from one to the other, one
    way: tens of ns within a cache, hundreds between chips. slowdown: how much longer work takes
    that both do at once: 1 on two cores, about 1.5 on two threads of one.
    """

    core_to_core_ns: float
    slowdown: float

    # Between one cache and two chips lies a factor of three to six in time, between two cores and
    # one of 1.3 and more in speed. What is measured twice on one placement differs by less; within
    # a cache it may be 30 ns or 75.
    def _worse_than(self, other: CpuPlacement) -> bool:
        return self.core_to_core_ns > max(
            SHARED_CACHE_NS, 2 * other.core_to_core_ns
        ) or self.slowdown > 1.2 * max(1.0, other.slowdown)

    def same_as(self, other: CpuPlacement) -> bool:
        """Whether the CPUs may have been placed the same both times."""
        return not self._worse_than(other) and not other._worse_than(self)

    def __str__(self) -> str:
        return f"{self.core_to_core_ns:.0f} ns apart and {self.slowdown:.2f}x slower together"
