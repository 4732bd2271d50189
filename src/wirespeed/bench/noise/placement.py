# SPDX-License-Identifier: Apache-2.0
"""Where are the polling CPUs: do they share a core, a cache, or neither? (CPU placement probe)

In a virtual machine the hypervisor moves CPUs about: two that ran on cores of one chip a second ago
may be threads of one core now, or sit on two chips, and the same vSwitch forwards a third less.
Nothing in the guest tells, so it is measured before and after each trial.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from wirespeed.model.cpus import CpuPlacement


@dataclass(frozen=True, slots=True)
class PlacementProbe:
    """Measures the first of some CPUs with each of the others; ask(a, b) measures two."""

    cpus: tuple[int, ...]
    ask: Callable[[int, int], CpuPlacement]

    @classmethod
    def of(
        cls, cpus: Collection[int], ask: Callable[[int, int], CpuPlacement]
    ) -> PlacementProbe | None:
        """None where only one CPU polls."""
        return cls(tuple(sorted(cpus)), ask) if len(cpus) > 1 else None

    def now(self) -> CpuPlacement:
        """Of all pairs the worst of each figure."""
        first, *others = self.cpus
        pairs = [self.ask(first, other) for other in others]
        return CpuPlacement(
            max(pair.core_to_core_ns for pair in pairs), max(pair.slowdown for pair in pairs)
        )
