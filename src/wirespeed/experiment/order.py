# SPDX-License-Identifier: Apache-2.0
"""Order the measurements of points that are repeated. Pure.

A shared machine drifts, so later measurements find another state. In random order, drift affects
all points equally. In blocks, each point is measured once before any is repeated, so points of a
block are close in time. Where a hypervisor moves the CPUs, measurements that lack the present
placement are taken while it lasts.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.study.design import Order

T = TypeVar("T")


def ordered(
    points: Sequence[T], repeats: int, order: Order, seed: int
) -> tuple[tuple[T, int], ...]:
    """Return (point, repeat) in measuring order; repeats count from 1.

    The same seed gives the same order.
    """
    draw = random.Random(seed)  # noqa: S311  an order, no secret
    blocks = [[(point, repeat) for point in points] for repeat in range(1, repeats + 1)]
    if order is Order.RANDOM:
        blocks = [[pair for block in blocks for pair in block]]
    if order is not Order.WRITTEN:
        for block in blocks:
            draw.shuffle(block)
    found = [pair for block in blocks for pair in block]
    return tuple(_by_time(found)) if order is Order.RANDOM else tuple(found)


def _by_time(pairs: Sequence[tuple[T, int]]) -> list[tuple[T, int]]:
    """Assign numbers to the repeats of each point in measuring order."""
    counts: dict[int, int] = {}
    numbered = []
    for point, _ in pairs:
        counts[id(point)] = counts.get(id(point), 0) + 1
        numbered.append((point, counts[id(point)]))
    return numbered


@dataclass(frozen=True, slots=True)
class Planned:
    """A measurement that is left."""

    sample: str
    """The same for the same parameters."""
    block: int
    """All measurements of a block come before any of the next block."""


def next_in_placement(
    left: Sequence[Planned],
    found: Mapping[PlacementKind, Counter[str]],
    now: PlacementKind | None,
) -> int:
    """Return the index of the next measurement.

    It is the first of the first block among those with the fewest results in this placement. left:
    in planned order, at least one. found: results of each sample by placement. The plan's order
    holds while fewer than two placements were met, or while now is None (unknown).
    """
    if now is None or len(found) < 2:
        return 0
    here = found.get(now, Counter())
    block = [at for at, planned in enumerate(left) if planned.block == left[0].block]
    return min(block, key=lambda at: here[left[at].sample])
