# SPDX-License-Identifier: Apache-2.0
"""Pair measurements with and without a change within a CPU placement. Pure.

A hypervisor may move the CPUs between the two halves of a pair. Such a half waits for a partner
that was measured in the same placement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from wirespeed.model.cpus import NEAREST, PlacementKind, placement_words
from wirespeed.model.words import counted

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Half(Generic[Value]):
    """One measurement."""

    changed: bool
    values: Mapping[PlacementKind | None, Value]
    """Values by the placement in which they were found; None: unknown."""


@dataclass(frozen=True, slots=True)
class Pair(Generic[Value]):
    """Two measurements in one placement."""

    before: Value
    after: Value
    placement: PlacementKind | None
    in_turn: bool
    """True if one directly followed the other."""


@dataclass(frozen=True, slots=True)
class Matching(Generic[Value]):
    """Pairs in the order in which they were completed, and the measurements left over."""

    pairs: tuple[Pair[Value], ...]
    waiting: tuple[Half[Value], ...]
    """Halves without a partner."""
    empty: int
    """Number of measurements without a value."""

    @property
    def measured(self) -> int:
        """Number of all measurements."""
        return 2 * len(self.pairs) + len(self.waiting) + self.empty

    @property
    def share(self) -> float:
        """Share of the measurements that were matched."""
        return 2 * len(self.pairs) / self.measured if self.measured else 0.0

    @property
    def words(self) -> str:
        """Sentence on the number of matched measurements and their placements."""
        said = f"{2 * len(self.pairs)} of {counted(self.measured, 'measurement')} matched"
        if self.waiting:
            halves = "half" if len(self.waiting) == 1 else "halves"
            said += f", {len(self.waiting)} {halves} waiting"
        if self.empty:
            said += f", {self.empty} without a rate"
        places = Counter(pair.placement for pair in self.pairs if pair.placement is not None)
        if places:
            each = (
                f"{counted(places[kind], 'pair')} with {placement_words(kind)}"
                for kind in NEAREST
                if kind in places
            )
            said += f"; {', '.join(each)}"
        later = sum(not pair.in_turn for pair in self.pairs)
        return f"{said}; {later} with a later partner" if later else said


def match(halves: Iterable[Half[Value]]) -> Matching[Value]:
    """Match each half with the newest waiting half of the other side in its placement.

    halves: in measuring order. A half with values of several placements is used once, in the
    nearest placement that has a partner.
    """
    pairs: list[Pair[Value]] = []
    waiting: dict[int, Half[Value]] = {}
    empty = 0
    for number, half in enumerate(halves):
        if not half.values:
            empty += 1
            continue
        found = _partner(half, waiting)
        if found is None:
            waiting[number] = half
            continue
        at, kind = found
        other = waiting.pop(at)
        before, after = (other, half) if half.changed else (half, other)
        pairs.append(Pair(before.values[kind], after.values[kind], kind, at == number - 1))
    return Matching(tuple(pairs), tuple(waiting.values()), empty)


def _partner(
    half: Half[Value], waiting: dict[int, Half[Value]]
) -> tuple[int, PlacementKind | None] | None:
    for number, other in reversed(waiting.items()):
        if other.changed is half.changed:
            continue
        for kind in (*NEAREST, None):
            if kind in half.values and kind in other.values:
                return number, kind
    return None
