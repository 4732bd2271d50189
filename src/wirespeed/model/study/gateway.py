# SPDX-License-Identifier: Apache-2.0
"""Define subscribers, routes and traffic of a Broadband Network Gateway test."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address
from typing import Annotated

from annotated_types import Ge, Le

from wirespeed.model.study.bng import TableSpec

# Octets around the inner packet, including the FCS. Subscriber side: two tags, PPPoE if used.
# Network side: tunnel, label if used (docs/reference/bng.md).
_SUBSCRIBER_BYTES, _PPPOE_BYTES, _NETWORK_BYTES, _LABEL_BYTES = 26, 8, 46, 4
_SHORTEST_PACKET_BYTES = 28
# All subscribers may share one address, because the GRE key distinguishes them.
_HOST = IPv4Address("10.0.0.7")


class GatewayDirection(StrEnum):
    UP = "up"
    DOWN = "down"
    BOTH = "both"


class SubscriberOrder(StrEnum):
    RANDOM = "random"
    FILE = "file"


class Access(StrEnum):
    IPOE = "ipoe"
    PPPOE = "pppoe"


@dataclass(frozen=True, slots=True)
class Bng:
    """Traffic of a Broadband Network Gateway.

    Subscribers with two VLAN tags are in the east; MPLS and GRE are in the west. sut.vnf.kind =
    "bng" is such a gateway. mode = "io" of another kind carries the same frames unchanged, for
    comparison. traffic.frame is the size on the subscribers' side. In the network the same packet
    has 24 octets more (20 without MPLS, 8 less with PPPoE). A frame of 64 octets becomes one of 78.
    """

    direction: GatewayDirection = GatewayDirection.BOTH
    """up: from subscribers to the network; down: from the network to subscribers; both: loads and
    rates are sums of the two."""
    access: Access = Access.IPOE
    """Header after a subscriber's tags: IPv4, or a PPPoE session."""
    users: Annotated[int, Ge(1), Le(1_000_000)] = 32_768
    """Number of subscribers; each is a flow."""
    routes: Annotated[int, Ge(1), Le(65_536)] = 8192
    """Number of routes, all /24. Frames go to each of them."""
    hops: Annotated[int, Ge(1), Le(510)] = 64
    """Number of next hops; each has a tunnel."""
    mpls: bool = True
    """Every next hop has a label."""
    sparse: bool = False
    """Random tags and GRE keys, which the gateway has to hash; off: consecutive ones."""
    order: SubscriberOrder = SubscriberOrder.RANDOM
    """Order of the subscribers; file: by tags and key."""
    arp_share: Annotated[float, Ge(0), Le(0.5)] = 0.002
    """Share of upstream frames that are ARP announcements. The gateway consumes them: they are
    neither lost nor forwarded. With PPPoE there is no ARP."""

    @property
    def tables(self) -> TableSpec:
        return TableSpec(
            self.users, self.routes, self.hops, mpls=self.mpls, sparse=self.sparse, host=_HOST,
            pppoe=self.access is Access.PPPOE,
        )  # fmt: skip

    @property
    def arp_every(self) -> int:
        """Interval of ARP announcements in frames; 0: no announcements."""
        announces = self.arp_share > 0 and self.access is Access.IPOE
        return round(1 / self.arp_share) if announces else 0

    def network_bytes(self, frame_bytes: int) -> int:
        """Return the size of a subscriber's frame in the network, in octets.

        frame_bytes: size on the subscriber's side. Both sizes include the FCS.
        """
        # A frame of minimum size carries the shortest possible packet, padded.
        around = _SUBSCRIBER_BYTES + (_PPPOE_BYTES if self.access is Access.PPPOE else 0)
        packet = _SHORTEST_PACKET_BYTES if frame_bytes <= 64 else frame_bytes - around
        return packet + _NETWORK_BYTES + (_LABEL_BYTES if self.mpls else 0)
