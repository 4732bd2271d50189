# SPDX-License-Identifier: Apache-2.0
"""In which order are points measured, each so many times? Pure.

A shared machine drifts: what is measured later finds another machine. In random order drift falls
on all points alike; in blocks each point is measured once before any is measured again, so that
points of a block stand beside each other in time.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from wirespeed.model.design import Order

T = TypeVar("T")


def ordered(
    points: Sequence[T], repeats: int, order: Order, seed: int
) -> tuple[tuple[T, int], ...]:
    """(point, repeat) in the order of measuring; repeats count from 1. The same for one seed."""
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
    """The repeats of each point numbered in the order in which they are measured."""
    counts: dict[int, int] = {}
    numbered = []
    for point, _ in pairs:
        counts[id(point)] = counts.get(id(point), 0) + 1
        numbered.append((point, counts[id(point)]))
    return numbered
