# SPDX-License-Identifier: Apache-2.0
"""Size the lookup tables of a router; their numbers are those of `dataplane/tasks/fib.c`."""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.routing.generate import BITS, Route

# Bits that the first table resolves, and each further one.
_FIRST_BITS, _TABLE_BITS = 24, 8
# Entries of the first table, and of each table behind its 24 bits.
_FIRST_ENTRIES = 1 << 24
_TABLE_ENTRIES = 256
# DPDK rounds the number of tables and never uses the last one.
_SPARE_TABLES = 64
# Entries have 2 octets up to this number of tables, 4 beyond it.
_TABLES_OF_2_OCTETS = 32767
# Room for changes, in addition to a quarter of what there is.
_ROUTES_ROOM, _TABLES_ROOM = 4096, 1024
# Nodes of DPDK's tree of prefixes, spread over memory channels, with their places in a mempool's
# ring.
_BYTES_A_ROUTE = 2 * (192 + 16)
# DPDK takes memory in whole huge pages: for the first table, and for those behind it.
_ROUNDING_BYTES = 2 * (2 << 20)
# Tables that one prefix takes at most: 8 bits each behind the first 24.
_MOST_TABLES = {4: 1, 6: 13}


def fib_bytes(version: int, routes: int, tables: int | None = None) -> int:
    """Return the size of the tables of an IP version in bytes; 0 without routes.

    tables: number of tables behind the first 24 bits; None: as many as these routes can take.
    """
    if not routes:
        return 0
    behind = (routes * _MOST_TABLES[version] if tables is None else tables) + _SPARE_TABLES
    entry = 2 if behind <= _TABLES_OF_2_OCTETS else 4
    tables_bytes = (_FIRST_ENTRIES + behind * _TABLE_ENTRIES) * entry
    return tables_bytes + routes * _BYTES_A_ROUTE + _ROUNDING_BYTES


def roomy_fib_bytes(version: int, routes: int, tables: int) -> int:
    """Return the size of tables that follow a kernel: they have room for more routes."""
    return fib_bytes(
        version,
        routes + routes // 4 + _ROUTES_ROOM,
        tables + tables // 4 + _TABLES_ROOM,
    )


def tables_behind(version: int, routes: Iterable[Route]) -> int:
    """Return the number of tables behind the first one. routes: in ascending order.

    IPv4 prefixes of equal first bits share a table. For IPv6 DPDK reserves those of each prefix
    beyond the next shorter one that holds it, and some more while it inserts.
    """
    shared = reserved = 0
    ends: dict[int, int] = {}
    """End of the last table of each level."""
    parents: list[tuple[int, int]] = []
    """Ends and levels of the prefixes that hold the present one."""
    for route in routes:
        depth = _levels(route.length)
        for level in range(depth):
            if route.address >= ends.get(level, 0):
                shared += 1
                size = 1 << (BITS[version] - _FIRST_BITS - _TABLE_BITS * level)
                ends[level] = route.address - route.address % size + size
        while parents and parents[-1][0] <= route.address:
            parents.pop()
        reserved += depth - (parents[-1][1] if parents else 0)
        parents.append((route.address + (1 << (BITS[version] - route.length)), depth))
    return shared if version == 4 else max(reserved, 2 * shared)


def _levels(length: int) -> int:
    """Return the number of tables on the way to a prefix of this length."""
    return max(0, -((_FIRST_BITS - length) // _TABLE_BITS))
