# SPDX-License-Identifier: Apache-2.0
"""Choose an address in each prefix of a routing table that no more specific prefix holds. Pure."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address

from wirespeed.bench.routing.table import RoutingTable
from wirespeed.routing.formats import prefix_text
from wirespeed.routing.generate import BITS, Route


class _Open:
    """A prefix whose end has not been reached."""

    __slots__ = ("end", "free", "place")

    def __init__(self, place: int, first: int, end: int) -> None:
        self.place, self.free, self.end = place, first, end


def own_addresses(routes: Sequence[Route]) -> list[int | None]:
    """Return an address of each prefix; None where more specific prefixes hold all of them.

    routes: of one IP version, in ascending order. The address is the second one of the first gap
    between more specific prefixes, if the gap has two.
    """
    found: list[int | None] = [None] * len(routes)
    opened: list[_Open] = []

    def use(prefix: _Open, end: int) -> None:
        if found[prefix.place] is None and prefix.free < end:
            found[prefix.place] = min(prefix.free + 1, end - 1)

    for place, route in enumerate(routes):
        while opened and opened[-1].end <= route.address:
            use(opened[-1], opened[-1].end)
            opened.pop()
        end = route.address + (1 << (BITS[route.version] - route.length))
        if opened:
            use(opened[-1], route.address)
            opened[-1].free = max(opened[-1].free, end)
        opened.append(_Open(place, route.address, end))
    for prefix in opened:
        use(prefix, prefix.end)
    return found


def destinations(table: RoutingTable, version: int, port: int) -> tuple[str, ...]:
    """Return an address for each prefix that leads to this port and stays, in random order.

    Neighbours in the table would share cache lines, which frames of many sources do not.
    """
    return tuple(address for address, _ in _by_port(table, version)[port])


def destination_prefixes(table: RoutingTable, version: int, port: int) -> tuple[str, ...]:
    """Return the prefix of each of the destinations, in their order."""
    return tuple(prefix for _, prefix in _by_port(table, version)[port])


@lru_cache(maxsize=1)
def _by_port(table: RoutingTable, version: int) -> Mapping[int, tuple[tuple[str, str], ...]]:
    """Return the destinations of all ports at once, because a full table takes seconds to make."""
    kind = IPv4Address if version == 4 else IPv6Address
    chosen: dict[int, list[tuple[str, str]]] = {port: [] for port in table.ports}
    routes = table.generated(version)
    changing = {each.prefix for group in table.churned for each in group}
    for route, address in zip(routes, own_addresses(routes), strict=True):
        if address is not None and (prefix := prefix_text(route)) not in changing:
            chosen[table.hops[route.hop].port].append((str(kind(address)), prefix))
    for port, addresses in chosen.items():
        random.Random(f"{table.routing.seed}/{port}").shuffle(addresses)  # noqa: S311 not cryptography
    return {port: tuple(addresses) for port, addresses in chosen.items()}
