# SPDX-License-Identifier: Apache-2.0
"""Generate the prefixes that a router has in addition to those of its flows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from wirespeed.bench.function.fib_memory import tables_behind
from wirespeed.published.prefixes import prefix_lengths, published_table
from wirespeed.routing.formats import prefix_text
from wirespeed.routing.generate import Route, Shape, generate

# About as many as the Internet's tables have.
MOST_ROUTES = {4: 1_000_000, 6: 200_000}
# Bits that the first lookup table resolves.
_FIRST_BITS = 24


def route_lines(version: int, count: int, seed: int, hops: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a route file; the next hops take turns at random."""
    for route in _generate(version, count, len(hops), seed):
        yield f"route {prefix_text(route)} {hops[route.hop]}"


@cache
def generated_tables(version: int, count: int, seed: int) -> int:
    """Return the number of lookup tables behind the first one that the prefixes take."""
    if max(prefix_lengths(version)) <= _FIRST_BITS:
        return 0
    return tables_behind(version, _generate(version, count, 1, seed))


def _generate(version: int, count: int, hops: int, seed: int) -> list[Route]:
    shape = Shape(version, prefix_lengths(version), published_table(version).more_specific)
    return generate(shape, count, hops, seed)
