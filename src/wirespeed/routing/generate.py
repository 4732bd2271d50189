# SPDX-License-Identifier: Apache-2.0
"""Generate a routing table from a seed: distinct prefixes of given lengths, clustered and nested.

Address space is divided into the blocks that registries hand out from. A prefix is either an
allocation of its own, next to the previous one of its block, or more specific than a shorter prefix
of the table. More specific prefixes come in runs, as operators announce them. Blocks with addresses
of special use (private, multicast, benchmarks) are not used.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from wirespeed.model.errors import BadInput

BITS = {4: 32, 6: 128}
# First octets of IPv4 blocks of which a part is of special use (RFC 6890 and others), or multicast.
_SPECIAL = frozenset({0, 10, 100, 127, 169, 172, 192, 198, 203, *range(224, 256)})
_IPV4_BLOCKS = [(octet << 24, 8) for octet in range(256) if octet not in _SPECIAL]
# The blocks of /12 that the five regional registries hold, in parts of /16.
_IPV6_BLOCKS = [
    ((first + part) << 112, 16)
    for first in (0x2400, 0x2600, 0x2800, 0x2A00, 0x2C00)
    for part in range(16)
]
_BLOCKS = {4: _IPV4_BLOCKS, 6: _IPV6_BLOCKS}
# Highest share of a length that is more specific.
_MOST_NESTED = 0.9
# Exponent that prefers short prefixes, i.e. large allocations, as parents.
_PREFER_SHORT = 2
# Runs of more specific prefixes have 1, 2, 4, 8 or 16 of them.
_RUNS = 5
# Parents that are tried before the rest become allocations of their own.
_TRIES = 200


@dataclass(frozen=True, slots=True)
class Shape:
    """Statistics of a routing table of one IP version."""

    version: int
    lengths: Mapping[int, float]
    """Share of each prefix length; the shares add up to 1."""
    nested: float
    """Share of prefixes that lie inside a shorter prefix of the table."""


class Route(NamedTuple):
    """A prefix and the number of its next hop."""

    version: int
    address: int
    length: int
    hop: int


def generate(shape: Shape, prefixes: int, next_hops: int, seed: int) -> list[Route]:
    """Return a table of exactly this many distinct prefixes in ascending order.

    The same arguments give the same table. Raises BadInput if the address space is too small.
    """
    table = _Table(shape.version, next_hops, random.Random(f"{seed}/IPv{shape.version}"))  # noqa: S311 not cryptography
    counts = _apportioned(shape.lengths, prefixes)
    nested = _nested(counts, shape.nested)
    for length, count in counts.items():
        within = table.add_nested(length, nested[length])
        table.add_allocations(length, count - within)
    return sorted(table.routes)


class _Table:
    def __init__(self, version: int, next_hops: int, rng: random.Random) -> None:
        self.routes: list[Route] = []
        """In ascending order of length."""
        self._version, self._bits = version, BITS[version]
        self._hops, self._random = next_hops, rng.random
        self._next = [first for first, _ in _BLOCKS[version]]
        self._end = [first + (1 << (self._bits - length)) for first, length in _BLOCKS[version]]

    def add_nested(self, length: int, count: int) -> int:
        """Add up to this many prefixes inside shorter ones; return how many found room."""
        parents, step = len(self.routes), self._bits - length
        taken: set[int] = set()
        failed = 0
        while parents and len(taken) < count and failed < _TRIES:
            parent = self.routes[int(parents * self._random() ** _PREFER_SHORT)]
            slots = 1 << (length - parent.length)
            first = int(slots * self._random())
            run = min(slots - first, count - len(taken), 1 << int(_RUNS * self._random()))
            before = len(taken)
            for slot in range(first, first + run):
                address = parent.address + (slot << step)
                if address not in taken:
                    taken.add(address)
                    self._add(address, length)
            failed = failed + 1 if len(taken) == before else 0
        return len(taken)

    def add_allocations(self, length: int, count: int) -> None:
        """Add prefixes outside all others, each behind the last one of a random block.

        Lengths ascend, so the end of a block's last prefix is aligned to each later one.
        """
        size = 1 << (self._bits - length)
        room = [i for i, first in enumerate(self._next) if first + size <= self._end[i]]
        for _ in range(count):
            if not room:
                raise BadInput(
                    f"IPv{self._version}: no room for {count} prefixes of /{length}; "
                    "generate fewer prefixes"
                )
            at = int(len(room) * self._random())
            block = room[at]
            self._add(self._next[block], length)
            self._next[block] += size
            if self._next[block] + size > self._end[block]:
                room[at] = room[-1]
                room.pop()

    def _add(self, address: int, length: int) -> None:
        hop = int(self._hops * self._random())
        self.routes.append(Route(self._version, address, length, hop))


def _apportioned(shares: Mapping[int, float], total: int) -> dict[int, int]:
    """Return how many of the total each length has, by largest remainder, shortest length first."""
    exact = {length: total * share for length, share in sorted(shares.items())}
    counts = {length: int(value) for length, value in exact.items()}
    by_rest = sorted(exact, key=lambda length: exact[length] - counts[length], reverse=True)
    for length in by_rest[: total - sum(counts.values())]:
        counts[length] += 1
    return {length: count for length, count in counts.items() if count}


def _nested(counts: Mapping[int, int], share: float) -> dict[int, int]:
    """Return how many prefixes of each length are more specific than others.

    Their share grows with the length, from 0 at the shortest one, and is `share` of all.
    """
    if not counts:
        return {}
    shortest, span = min(counts), max(1, max(counts) - min(counts))

    def at(slope: float) -> dict[int, int]:
        return {
            length: int(count * min(_MOST_NESTED, slope * (length - shortest) / span))
            for length, count in counts.items()
        }

    wanted, low, high = share * sum(counts.values()), 0.0, float(span)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(at(middle).values()) < wanted else (low, middle)
    return at(high)
