# SPDX-License-Identifier: Apache-2.0
"""Write generated routes for a router of wsdp, and size their tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from wirespeed.bench.function.fib_memory import tables_behind
from wirespeed.bench.routing.table import Hop, RoutingTable, generated
from wirespeed.bench.topology.wiring import SIDES
from wirespeed.published.prefixes import prefix_lengths

# Bits that the first lookup table resolves.
_FIRST_BITS = 24


def route_lines(table: RoutingTable, macs: Mapping[int, tuple[str, str | None]]) -> Iterator[str]:
    """Yield the lines of a route file.

    macs: by port, the address that frames are sent from, and the one that they are sent to.
    """
    numbers: dict[Hop, int] = {}
    for number, hop in enumerate(table.hops, len(SIDES)):
        numbers[hop] = number
        yield f"hop {number} {hop.port} {' '.join(map(str, macs[hop.port]))}"
    targets = numbers
    if table.routing.ecmp > 1:
        first = len(SIDES) + len(numbers)
        targets = {hop: first + number for number, hop in enumerate(table.hops)}
        for hop, number in targets.items():
            members = " ".join(str(numbers[member]) for member in table.members(hop))
            yield f"group {number} {members}"
    for version in table.routing.versions:
        for prefix, hop in table.routes(version):
            yield f"route {prefix} {targets[hop]}"


@cache
def generated_tables(version: int, count: int, seed: int) -> int:
    """Return the number of lookup tables behind the first one that the prefixes take."""
    if max(prefix_lengths(version)) <= _FIRST_BITS:
        return 0
    return tables_behind(version, generated(version, count, 1, seed))
