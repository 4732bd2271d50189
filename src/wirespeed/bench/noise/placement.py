# SPDX-License-Identifier: Apache-2.0
"""Measure whether the polling CPUs share a core, a cache, or neither.

A hypervisor moves the CPUs of a virtual machine. Two CPUs on cores of one chip may become threads
of one core, or move to two chips. The same vSwitch then forwards a third less. Nothing in the guest
reports it, so the placement is measured before and after each trial.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import combinations

from wirespeed.model.cpus import CpuPair, CpuPlacement


@dataclass(frozen=True, slots=True)
class PlacementProbe:
    """Probe of each pair of a host's polling CPUs."""

    cpus: tuple[int, ...]
    ask: Callable[[int, int], CpuPlacement]
    """Function that measures one pair of CPUs."""
    host: str = ""

    @classmethod
    def of(
        cls, cpus: Collection[int], ask: Callable[[int, int], CpuPlacement], host: str = ""
    ) -> PlacementProbe | None:
        """Return the probe; None if only one CPU polls."""
        return cls(tuple(sorted(cpus)), ask, host) if len(cpus) > 1 else None

    def now(self) -> tuple[CpuPair, ...]:
        """Return what each pair shares. Raises BenchError if it cannot be measured."""
        pairs = []
        for a, b in combinations(self.cpus, 2):
            found = self.ask(a, b)
            pairs.append(CpuPair(self.host, (a, b), found.core_to_core_ns, found.slowdown))
        return tuple(pairs)
