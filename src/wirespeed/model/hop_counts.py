# SPDX-License-Identifier: Apache-2.0
"""What did the hops of a path count in a trial?

Frames that one did not pass on and why, frames of its ports, queues and workers, and what is no
frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# The hop of frames that the SUT's first ring refused.
INGRESS = "sut-ingress"
# The hop that is a SUT without counters: all that it loses has an unknown cause.
EXTERNAL = "external"


class DropCause(StrEnum):
    """Why a hop did not pass a frame on."""

    RX_RING_FULL = "rx_ring_full"
    VHOST_TX_RING_FULL = "vhost_tx_ring_full"
    NO_FLOW = "no_flow"
    UPCALL = "upcall"
    MTU = "mtu"
    POLICER = "policer"
    EGRESS_POLICER = "egress_policer"
    WRONG_VLAN = "wrong_vlan"
    NOT_CONNECTED = "not_connected"
    VNF_ENDED = "vnf_ended"
    BACKLOG_FULL = "backlog_full"
    TAP_RING_FULL = "tap_ring_full"
    SOCKET_FULL = "socket_full"
    VNF_DISCARD = "vnf_discard"
    NO_ROUTE = "no_route"
    TTL_EXPIRED = "ttl_expired"
    BAD_HEADER = "bad_header"
    VNF_TX_RING_FULL = "vnf_tx_ring_full"
    VNF_RING_FULL = "vnf_ring_full"
    VNF_RX_RING_FULL = "vnf_rx_ring_full"
    VNF_HANDLED = "vnf_handled"
    NIC_DISCARD = "nic_discard"
    LINK_DOWN = "link_down"
    PORT_DOWN = "port_down"
    METER = "meter"
    FOREIGN_RULE = "foreign_rule"
    DATAPATH = "datapath"
    PARTNER_RING_FULL = "partner_ring_full"
    IMPAIRED = "impaired"
    TG_RX_RING_FULL = "tg_rx_ring_full"
    MISDIRECTED = "misdirected"
    CORRUPTED = "corrupted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Drop:
    hop: str
    cause: DropCause
    frames: int


@dataclass(frozen=True, slots=True)
class PortCount:
    """Frames that entered a hop through one port, and that left it there.

    port: as paths name it (SutDescription), e.g. "switch:vnf0a".
    """

    port: str
    entered: int
    left: int


@dataclass(frozen=True, slots=True)
class QueueShare:
    """How many frames were offered to one of several queues of a port."""

    port: str
    queue: int
    frames: int


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """How many frames one of several workers of a network function took, both directions."""

    hop: str
    number: int
    frames: int


class Counted(StrEnum):
    """What a hop counts besides frames."""

    UPCALLS = "upcalls"
    """Frames of flows that the datapath did not know: the slow path was asked."""
    FLOWS_DELETED = "flows_deleted"
    """Flows that the datapath was told to forget."""
    NO_BUFFERS = "no_buffers"
    """How often a port found no free buffer to receive into."""
    RESTARTS = "restarts"
    """How often the program has ended and was started again."""


@dataclass(frozen=True, slots=True)
class HopEvents:
    """How often something that is no frame happened at a hop during the trial."""

    hop: str
    what: Counted
    count: int
