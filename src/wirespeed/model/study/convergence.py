# SPDX-License-Identifier: Apache-2.0
"""Describe the events after which a router converges: one table of a study, [convergence]."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Gt, Le


class EventKind(StrEnum):
    """Event after which the router has to send frames by another path."""

    WITHDRAWAL = "withdrawal"
    BETTER_PATH = "better-path"
    NEIGHBOUR = "neighbour"
    NEXT_HOP = "next-hop"
    LINK_DOWN = "link-down"
    BFD_TIMEOUT = "bfd-timeout"
    PEER_KILLED = "peer-killed"
    DAEMON_RESTART = "daemon-restart"


@dataclass(frozen=True, slots=True)
class Convergence:
    """Events during frames at a constant rate; the result is how long each prefix was unreachable.

    [routing] must have backup = true, destinations = "prefixes" and daemon = "frr" or "bird", and
    churn_per_s = 0; topology.bidirectional does not apply.
    """

    events: tuple[EventKind, ...] = (
        EventKind.WITHDRAWAL,
        EventKind.BETTER_PATH,
        EventKind.LINK_DOWN,
        EventKind.PEER_KILLED,
    )
    """withdrawal: the peer withdraws all prefixes; better-path: it announces them again;
    neighbour: the next hop has another MAC address, which the bench gives to the kernel; next-hop:
    the router loses its address in the network of the next hops (frr alone); link-down: the cable
    to the peer loses its carrier; bfd-timeout: the peer stops without its end (needs routing.bfd);
    peer-killed: its program is killed; daemon-restart: the router's own BGP program is killed and
    started again. After neighbour, next-hop, link-down, bfd-timeout and peer-killed the former
    next hop is dead: frames to it count as lost."""
    rate_fps: Annotated[float, Gt(0)] = 200_000.0
    """Offered load. Each prefix gets a frame every (number of prefixes / rate_fps) seconds, which
    is the resolution of its time, and must be at most before_s. To see a hole of 20 ms, each prefix
    needs a frame every few ms: limit them by routing.destination_prefixes."""
    repeats: Annotated[int, Ge(1), Le(100)] = 3
    """Number of times that each event happens."""
    before_s: Annotated[float, Ge(0.1), Le(60)] = 0.5
    """Time of traffic before an event, in s."""
    watch_s: Annotated[float, Ge(0.1), Le(600)] = 5.0
    """Time of traffic after an event, in s."""
