# SPDX-License-Identifier: Apache-2.0
"""Define the routing table of a point, and the program that gives it to the router."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le


class RoutingDaemon(StrEnum):
    """Program that gives routes to a router."""

    STATIC = "static"
    FRR = "frr"
    BIRD = "bird"


class Destinations(StrEnum):
    """Addresses that frames are sent to."""

    FLOWS = "flows"
    PREFIXES = "prefixes"


@dataclass(frozen=True, slots=True)
class Routing:
    """Generated routes of the SUT's router, next to those of the flows.

    The same values give the same table to any router.
    """

    daemon: RoutingDaemon = RoutingDaemon.STATIC
    """Source of the routes. static: written by the bench, for l3fwd into a file, for the
    other routers into the kernel by ip(8); frr, bird: this daemon of the router learns them from a
    BGP peer and gives them to the kernel. l3fwd has static alone."""
    ipv4: Annotated[int, Ge(0), Le(1_000_000)] = 0
    """Number of IPv4 prefixes."""
    ipv6: Annotated[int, Ge(0), Le(200_000)] = 0
    """Number of IPv6 prefixes."""
    next_hops: Annotated[int, Ge(1), Le(64)] = 1
    """Number of next hops at each port that frames leave by."""
    ecmp: Annotated[int, Ge(1), Le(16)] = 1
    """Next hops of each prefix, all at one port; at most next_hops. l3fwd has one."""
    seed: Annotated[int, Ge(0), Le(2_147_483_647)] = 1
    """Seed of prefixes and next hops."""
    destinations: Destinations = Destinations.FLOWS
    """Destinations of the frames. flows: those of the flows (traffic.flows), outside of the
    generated prefixes; prefixes: one address in each generated prefix of traffic.ip_version that
    leads the frame's way, in random order, each a flow."""
    destination_prefixes: Annotated[int, Ge(0), Le(1_000_000)] = 0
    """prefixes only: number of prefixes that frames go to; 0: all."""
    backup: bool = False
    """A second BGP peer announces each prefix as a backup: by a longer path, with a next hop in
    another network at the same port. Needs frr or bird, and routing.ecmp = 1."""
    churn_per_s: Annotated[int, Ge(0), Le(100_000)] = 0
    """Changes of generated routes a second while frames are offered, withdrawals and announcements
    together; 0: none. They concern the same prefixes with the same seed, to which no frame goes.
    l3fwd has none."""
    bfd: bool = False
    """BFD between the router's daemon and its BGP peer: lost after 3 intervals of 50 ms. Needs frr
    or bird."""

    def prefixes(self, version: int) -> int:
        """Return the number of prefixes of IP version 4 or 6."""
        return self.ipv4 if version == 4 else self.ipv6

    @property
    def versions(self) -> tuple[int, ...]:
        """IP versions with prefixes."""
        return tuple(version for version in (4, 6) if self.prefixes(version))
