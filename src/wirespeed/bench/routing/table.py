# SPDX-License-Identifier: Apache-2.0
"""Assign generated prefixes to the next hops of a router. Pure.

The table depends on the study alone, so that every type of router gets the same one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_interface
from typing import NamedTuple

from wirespeed.bench.topology.wiring import PORTS, Wiring
from wirespeed.model.study.routing import Routing
from wirespeed.published.prefixes import prefix_lengths, published_table
from wirespeed.routing.formats import prefix_text
from wirespeed.routing.generate import Route, Shape, generate

# The router's own address at each port; next hops count up behind it. The networks are reserved for
# documentation (RFC 5737, RFC 3849), so no generated prefix and no flow is inside.
_OWN = {
    4: ("192.0.2.1/24", "198.51.100.1/24"),
    6: ("2001:db8:0:1::1/64", "2001:db8:0:2::1/64"),
}
# The same for the network of the backups (RFC 5737, RFC 3849).
_OWN_TO_BACKUPS = {
    4: ("203.0.113.1/25", "203.0.113.129/25"),
    6: ("2001:db8:0:3::1/64", "2001:db8:0:4::1/64"),
}
# At most one prefix in four changes, each every 4 s or more seldom: it is withdrawn and announced
# once a round of as many prefixes as change in 2 s. Changes come in groups, 20 a second.
_CHURNED_PART, _CHURN_ROUND_S, _CHURN_STEP_S = 4, 2, 0.05
# Octet that the MAC address of a backup has where those of other next hops have 0.
_BACKUP_OCTET = "0b"
# Number of the flows' next hop in that network; those of generated prefixes are 2 to 65.
_FLOW_HOP = 254


class Hop(NamedTuple):
    """A next hop: number of the port (0 east, 1 west), and its number there."""

    port: int
    number: int
    backup: bool = False
    """It is in another network than the others there."""


class Changing(NamedTuple):
    """A route that is withdrawn and announced again."""

    version: int
    prefix: str
    hop: Hop


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """Generated routes of one router."""

    routing: Routing
    ports: tuple[int, ...]
    """Numbers of the ports by which frames leave, ascending."""

    @property
    def hops(self) -> tuple[Hop, ...]:
        """Return all next hops, by port."""
        return tuple(Hop(p, n) for p in self.ports for n in range(self.routing.next_hops))

    def members(self, first: Hop) -> tuple[Hop, ...]:
        """Return the next hops of the prefixes that begin with this one."""
        port, number, _ = first
        count = self.routing.next_hops
        return tuple(Hop(port, (number + i) % count) for i in range(self.routing.ecmp))

    def backup(self, hop: Hop) -> Hop:
        """Return the backup of a next hop: one for all at its port."""
        return Hop(hop.port, 0, backup=True)

    @property
    def all_hops(self) -> tuple[Hop, ...]:
        """Return all next hops, with the backups."""
        backups = (Hop(port, 0, backup=True) for port in self.ports)
        return (*self.hops, *backups) if self.routing.backup else self.hops

    def routes(self, version: int) -> Iterator[tuple[str, Hop]]:
        """Yield each prefix with the first of its next hops, in ascending order."""
        hops = self.hops
        for route in self.generated(version):
            yield prefix_text(route), hops[route.hop]

    def generated(self, version: int) -> list[Route]:
        """Return the routes as numbers, in ascending order; `hop` is the place in `hops`."""
        wanted = self.routing
        return generated(version, wanted.prefixes(version), len(self.hops), wanted.seed)

    @property
    def churned(self) -> tuple[tuple[Changing, ...], ...]:
        """Return the routes that change during trials, in groups that change at once."""
        return _churned(self)


@lru_cache(maxsize=2)
def _churned(table: RoutingTable) -> tuple[tuple[Changing, ...], ...]:
    per_s = table.routing.churn_per_s
    if not per_s:
        return ()
    hops, found = table.hops, list[Changing]()
    for version in table.routing.versions:
        routes = table.generated(version)
        rng = random.Random(f"{table.routing.seed}/churn/{version}")  # noqa: S311 not cryptography
        for place in rng.sample(range(len(routes)), len(routes) // _CHURNED_PART):
            found.append(Changing(version, prefix_text(routes[place]), hops[routes[place].hop]))
    random.Random(f"{table.routing.seed}/churn").shuffle(found)  # noqa: S311 likewise
    found = found[: _CHURN_ROUND_S * per_s]
    size = max(1, min(round(_CHURN_STEP_S * per_s), len(found)))
    return tuple(tuple(found[i : i + size]) for i in range(0, len(found) - size + 1, size))


def table_of(routing: Routing, wiring: Wiring) -> RoutingTable:
    """Return the table of a router whose ports are those of the generator."""
    leaving = {PORTS.index(stream.to_port) for stream in wiring.streams}
    return RoutingTable(routing, tuple(sorted(leaving)))


def generated(version: int, prefixes: int, hops: int, seed: int) -> list[Route]:
    """Return a table with the published lengths; prefixes do not depend on the number of hops."""
    shape = Shape(version, prefix_lengths(version), published_table(version).more_specific)
    return generate(shape, prefixes, hops, seed)


def own_address(version: int, port: int) -> str:
    """Return the router's address at a port, with the length of its network."""
    return _OWN[version][port]


def backup_mac(mac: str) -> str:
    """Return the MAC address of the backup at a port whose other next hops have this one."""
    return f"{mac[:-2]}{_BACKUP_OCTET}"


def own_addresses(version: int, port: int, routing: Routing) -> tuple[str, ...]:
    """Return the router's address in each network of next hops at a port."""
    own = own_address(version, port)
    return (own, _OWN_TO_BACKUPS[version][port]) if routing.backup else (own,)


def flow_hop_address(version: int, port: int) -> str:
    """Return the address of the next hop of the flows at a port; no generated prefix has it."""
    return str(ip_interface(_OWN[version][port]).ip + _FLOW_HOP - 1)


def hop_address(version: int, hop: Hop) -> str:
    """Return the address of a next hop."""
    own = _OWN_TO_BACKUPS if hop.backup else _OWN
    return str(ip_interface(own[version][hop.port]).ip + 1 + hop.number)
