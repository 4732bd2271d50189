# SPDX-License-Identifier: Apache-2.0
"""What did the machine do to the CPUs that poll: what do they share, and with whom?

In a virtual machine nothing in the guest tells: both are measured, around and during each trial.
"""

from __future__ import annotations

from dataclasses import dataclass

# Two cores of one cache need less, one way, on every server processor since 2017: 20 to 70 ns.
SHARED_CACHE_NS = 100.0
# Two cores do not slow each other by more, whatever their clocks do.
OWN_CORE_SLOWDOWN = 1.2


@dataclass(frozen=True, slots=True)
class Proximity:
    """What two CPUs share, told by what it does.

    core_to_core_ns: how long a cache line takes from one to the other, one way: tens of ns within a
    cache, hundreds between chips. slowdown: how much longer work takes that both do at once: 1 on
    two cores, about 1.5 on two threads of one.
    """

    core_to_core_ns: float
    slowdown: float

    # Between one cache and two chips lies a factor of three to six in time, between two cores and
    # one of 1.3 and more in speed. What is measured twice on one placement differs by less; within
    # a cache it may be 30 ns or 75.
    def worse_than(self, other: Proximity) -> bool:
        """Whether these CPUs share clearly less of a cache, or more of a core, than those."""
        return self.core_to_core_ns > max(
            SHARED_CACHE_NS, 2 * other.core_to_core_ns
        ) or self.slowdown > 1.2 * max(1.0, other.slowdown)

    def like(self, other: Proximity) -> bool:
        """Whether the CPUs may have been placed alike both times."""
        return not self.worse_than(other) and not other.worse_than(self)

    def __str__(self) -> str:
        return f"{self.core_to_core_ns:.0f} ns apart and {self.slowdown:.2f}x slower together"


# What uses the other thread of a core takes up to half of it: for a tenth of the time, 5%.
# Undisturbed cores of a shared machine show up to 0.08 by chance.
SHARED_CORE_RATIO = 0.1


@dataclass(frozen=True, slots=True)
class CpuPulse:
    """Was a polling CPU as fast as it can be?

    beats: how often a thread woke up on it, before what polls there. slow_beats: when a piece of
    work took over 4% more than it does undisturbed: something else used the core. work_ns: a tenth
    of all beats took no longer for it. ran_ns: what all this took from the CPU.
    """

    cpu: int
    beats: int
    slow_beats: int
    work_ns: int
    ran_ns: int

    @property
    def slow_ratio(self) -> float:
        """The share of the time in which something else used the core."""
        return self.slow_beats / self.beats if self.beats else 0.0
