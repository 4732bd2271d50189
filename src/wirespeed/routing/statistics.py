# SPDX-License-Identifier: Apache-2.0
"""Count what a generated table has, to print it next to what is published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirespeed.routing.generate import BITS, Route


@dataclass(frozen=True, slots=True)
class TableStatistics:
    prefixes: int
    mean_length: float
    """Mean prefix length in bits; 0 without prefixes."""
    more_specific: float
    """Share of prefixes that lie inside a shorter prefix of the table."""
    lengths: Mapping[int, int]
    """Number of prefixes of each length, in ascending order."""


def statistics(routes: Iterable[Route]) -> TableStatistics:
    """Return the statistics of a table. routes: of one IP version, in ascending order."""
    lengths: Counter[int] = Counter()
    nested, end = 0, 0
    for route in routes:
        lengths[route.length] += 1
        # In ascending order of address and length, a prefix that begins before the end of an
        # earlier one lies inside it.
        if route.address < end:
            nested += 1
        else:
            end = route.address + (1 << (BITS[route.version] - route.length))
    total = lengths.total()
    bits = sum(length * count for length, count in lengths.items())
    return TableStatistics(
        total,
        bits / total if total else 0,
        nested / total if total else 0,
        dict(sorted(lengths.items())),
    )
