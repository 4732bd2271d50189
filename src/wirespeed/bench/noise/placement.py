# SPDX-License-Identifier: Apache-2.0
"""Measure where the polling CPUs are: whether they share a core, a cache, or neither.

In a virtual machine the hypervisor moves CPUs about: two that ran on cores of one chip a second ago
may be threads of one core now, or sit on two chips, and the same vSwitch forwards a third less.
Nothing in the guest tells, so it is measured before and after each trial.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import combinations

from wirespeed.model.cpus import CpuPair, CpuPlacement


@dataclass(frozen=True, slots=True)
class PlacementProbe:
    """Measures each pair of a host's polling CPUs; ask(a, b) measures one."""

    cpus: tuple[int, ...]
    ask: Callable[[int, int], CpuPlacement]
    host: str = ""

    @classmethod
    def of(
        cls, cpus: Collection[int], ask: Callable[[int, int], CpuPlacement], host: str = ""
    ) -> PlacementProbe | None:
        """Return None where only one CPU polls."""
        return cls(tuple(sorted(cpus)), ask, host) if len(cpus) > 1 else None

    def now(self) -> tuple[CpuPair, ...]:
        """Return what each pair shares. Raises BenchError where it cannot be measured."""
        pairs = []
        for a, b in combinations(self.cpus, 2):
            found = self.ask(a, b)
            pairs.append(CpuPair(self.host, (a, b), found.core_to_core_ns, found.slowdown))
        return tuple(pairs)
