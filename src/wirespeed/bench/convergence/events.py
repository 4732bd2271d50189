# SPDX-License-Identifier: Apache-2.0
"""Define the events after which a router converges, one class each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from wirespeed.bench.routing.kernel import neighbours
from wirespeed.bench.routing.learned import PEER, LearnedRoutes
from wirespeed.bench.routing.table import backup_mac, own_address
from wirespeed.bench.topology.wiring import PORTS
from wirespeed.bench.traffic.frames.prefixes import BACKUP, PRIMARY
from wirespeed.model.study.convergence import EventKind
from wirespeed.model.study.routing import Routing, RoutingDaemon


class Event:
    """An event; before it all routes lead to their first next hops, and again after `undo`."""

    kind: EventKind
    kills_hop = False
    """The former next hop is dead from then on: frames to it count as lost."""
    new_path: int | None = BACKUP
    """Path after the event; None where it is the same again."""

    def refused(self, routing: Routing) -> str | None:  # noqa: ARG002
        """Return what the routing table must have for it; None if it has that."""
        return None

    def prepare(self, routes: LearnedRoutes) -> None:
        """Prepare before the traffic."""

    def ready(self, routes: LearnedRoutes) -> bool:  # noqa: ARG002
        """Return whether `prepare` has taken effect."""
        return True

    def act(self, routes: LearnedRoutes) -> None:
        raise NotImplementedError

    def undo(self, routes: LearnedRoutes) -> None:
        """Undo it after the traffic."""


class Withdrawal(Event):
    kind = EventKind.WITHDRAWAL

    def act(self, routes: LearnedRoutes) -> None:
        routes.announce_all(PEER, announces=False)

    def undo(self, routes: LearnedRoutes) -> None:
        routes.announce_all(PEER, announces=True)


class BetterPath(Event):
    kind = EventKind.BETTER_PATH
    new_path = PRIMARY

    def prepare(self, routes: LearnedRoutes) -> None:
        routes.announce_all(PEER, announces=False)

    def ready(self, routes: LearnedRoutes) -> bool:
        return routes.leads_to(backup=True)

    def act(self, routes: LearnedRoutes) -> None:
        routes.announce_all(PEER, announces=True)


class NeighbourMoves(Event):
    """The next hops have another MAC address."""

    kind = EventKind.NEIGHBOUR
    kills_hop = True

    def act(self, routes: LearnedRoutes) -> None:
        moved = {port: backup_mac(mac) for port, mac in routes.targets.items()}
        routes.router.batch(neighbours(routes.table, routes.table.hops, moved))

    def undo(self, routes: LearnedRoutes) -> None:
        routes.router.batch(neighbours(routes.table, routes.table.hops, routes.targets))


class NextHopGone(Event):
    """The router loses its address in the network of the next hops, which become unreachable."""

    kind = EventKind.NEXT_HOP
    kills_hop = True

    def refused(self, routing: Routing) -> str | None:
        # BIRD keeps a route whose next hop was reachable when it came.
        return None if routing.daemon is RoutingDaemon.FRR else 'routing.daemon = "frr"'

    def act(self, routes: LearnedRoutes) -> None:
        routes.router.batch(_addresses(routes, "del"))

    def undo(self, routes: LearnedRoutes) -> None:
        routes.router.batch(_addresses(routes, "add"))


class LinkDown(Event):
    """The cable to the peer loses its carrier."""

    kind = EventKind.LINK_DOWN
    kills_hop = True

    def act(self, routes: LearnedRoutes) -> None:
        routes.link(PEER, up=False)

    def undo(self, routes: LearnedRoutes) -> None:
        routes.link(PEER, up=True)


class BfdTimeout(Event):
    """The peer stops without a word."""

    kind = EventKind.BFD_TIMEOUT
    kills_hop = True

    def refused(self, routing: Routing) -> str | None:
        return None if routing.bfd else "routing.bfd = true"

    def act(self, routes: LearnedRoutes) -> None:
        routes.freeze(PEER, frozen=True)

    def undo(self, routes: LearnedRoutes) -> None:
        routes.freeze(PEER, frozen=False)


class PeerKilled(Event):
    kind = EventKind.PEER_KILLED
    kills_hop = True

    def act(self, routes: LearnedRoutes) -> None:
        routes.kill(PEER)

    def undo(self, routes: LearnedRoutes) -> None:
        routes.start_again(PEER)


class DaemonRestart(Event):
    """The router's own BGP program is killed and started again."""

    kind = EventKind.DAEMON_RESTART
    new_path = None

    def act(self, routes: LearnedRoutes) -> None:
        routes.kill(routes.bgp_daemon)
        routes.start_again(routes.bgp_daemon)


class _Makes(Protocol):
    kind: EventKind

    def __call__(self) -> Event: ...


_KINDS: tuple[_Makes, ...] = (
    Withdrawal, BetterPath, NeighbourMoves, NextHopGone, LinkDown, BfdTimeout, PeerKilled,
    DaemonRestart,
)  # fmt: skip
EVENTS: Mapping[EventKind, _Makes] = {kind.kind: kind for kind in _KINDS}


def _addresses(routes: LearnedRoutes, word: str) -> Iterator[str]:
    """Yield the commands that add or delete the router's addresses at its ports."""
    table = routes.table
    for version in table.routing.versions:
        nodad = " nodad" if version == 6 and word == "add" else ""
        for port in table.ports:
            yield f"address {word} {own_address(version, port)} dev {PORTS[port]}{nodad}"
