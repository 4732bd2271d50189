# SPDX-License-Identifier: Apache-2.0
"""Classify how polling CPUs are placed: on one core, within one cache, or across caches.

A hypervisor may place virtual CPUs anywhere and does not tell the guest. The CPU placement probe
therefore measures the placement before and after each trial.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# Two cores of one cache need less, one way, on every server processor since 2017: 20 to 70 ns.
SHARED_CACHE_NS = 100.0
# Two cores slow each other down by less, at any clock frequency.
OWN_CORE_SLOWDOWN = 1.2


class PlacementKind(StrEnum):
    """Placement of two polling CPUs relative to each other, the nearest first."""

    ONE_CACHE = "one cache"
    """Cores that share a cache."""
    ACROSS_CACHES = "across caches"
    """Cores of two caches, or of two chips."""
    ONE_CORE = "one core"
    """Two threads of a core."""


NEAREST: Final = tuple(PlacementKind)
"""All kinds, nearest first: the order in which their rates are preferred."""
_WORDS: Final = {
    PlacementKind.ONE_CACHE: "polling CPUs within one cache",
    PlacementKind.ACROSS_CACHES: "polling CPUs across caches",
    PlacementKind.ONE_CORE: "polling CPUs on one core",
}


def placement_words(kind: PlacementKind | None) -> str:
    """Name a placement in a sentence or legend; None: it is not known."""
    return "CPU placement not known" if kind is None else _WORDS[kind]


Placed = tuple[PlacementKind, ...]
"""Kind of each pair of polling CPUs, in the order of the pairs."""


def worst(placed: Placed) -> PlacementKind:
    """Return the kind of the worst pair, which names the whole placement."""
    return max(placed, key=NEAREST.index)


@dataclass(frozen=True, slots=True)
class CpuPair:
    """Measured placement of two of several polling CPUs of one host; see CpuPlacement."""

    host: str
    cpus: tuple[int, int]
    core_to_core_ns: float
    slowdown: float

    @property
    def kind(self) -> PlacementKind:
        return _kind(self.core_to_core_ns, self.slowdown)


@dataclass(frozen=True, slots=True)
class CpuPlacement:
    """Resources that polling CPUs share, measured by the CPU placement probe.

    Both values are those of the worst pair.
    """

    core_to_core_ns: float
    """Time a cache line takes from one CPU to the other, in ns: tens within a cache, hundreds
    between chips."""
    slowdown: float
    """Time ratio of a fixed piece of work while the other CPU is busy: 1 on two cores, about 1.5 on
    two threads of one core."""
    pairs: tuple[CpuPair, ...] = ()
    """Each pair, if there is more than one."""

    @classmethod
    def of(cls, pairs: tuple[CpuPair, ...]) -> CpuPlacement | None:
        """Return the placement of these pairs of one host or several; None without a pair."""
        if not pairs:
            return None
        return cls(
            max(pair.core_to_core_ns for pair in pairs),
            max(pair.slowdown for pair in pairs),
            pairs if len(pairs) > 1 else (),
        )

    @property
    def placed(self) -> Placed:
        """Kind of each pair; two placements are equal if these are equal."""
        if not self.pairs:
            return (_kind(self.core_to_core_ns, self.slowdown),)
        return tuple(pair.kind for pair in self.pairs)

    @property
    def kind(self) -> PlacementKind:
        """Kind of the worst pair."""
        return worst(self.placed)

    def __str__(self) -> str:
        return f"core-to-core latency {self.core_to_core_ns:.0f} ns, slowdown {self.slowdown:.2f}x"


def _kind(core_to_core_ns: float, slowdown: float) -> PlacementKind:
    if slowdown > OWN_CORE_SLOWDOWN:
        return PlacementKind.ONE_CORE
    near = core_to_core_ns <= SHARED_CACHE_NS
    return PlacementKind.ONE_CACHE if near else PlacementKind.ACROSS_CACHES
