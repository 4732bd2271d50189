# SPDX-License-Identifier: Apache-2.0
"""Define the counters of a path's hops in a trial.

Hops count drops with their cause, frames of ports, queues and workers, and events other than
frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Hop of the frames that the SUT's first ring refused.
INGRESS = "sut-ingress"
# Hop of a SUT without counters: the cause of all its loss is unknown.
EXTERNAL = "external"


class DropCause(StrEnum):
    """Reason why a hop dropped a frame."""

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
    UNKNOWN_VLAN = "unknown_vlan"
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
    """Frames lost at one place for one cause."""

    hop: str
    cause: DropCause
    frames: int
    """Negative, of unknown cause: frames too many."""
    direction: str = ""
    """Direction that does not close there, of unknown cause in two-way traffic; "" if unknown."""


@dataclass(frozen=True, slots=True)
class PortCount:
    """Frames that entered and left a hop through one port."""

    port: str
    """Port as in SutDescription.paths, e.g. "switch:vnf0a"."""
    entered: int
    left: int


@dataclass(frozen=True, slots=True)
class QueueShare:
    """Frames offered to one of several queues of a port."""

    port: str
    queue: int
    frames: int


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """Frames taken by one of several workers of a network function, in both directions."""

    hop: str
    number: int
    frames: int


class Counted(StrEnum):
    """Events that a hop counts in addition to frames."""

    UPCALLS = "upcalls"
    """Frames of flows unknown to the datapath, which were passed to the slow path."""
    FLOWS_DELETED = "flows_deleted"
    """Flows deleted from the datapath."""
    NO_BUFFERS = "no_buffers"
    """Times that a port found no free receive buffer."""
    RESTARTS = "restarts"
    """Times that the program ended and was started again."""


@dataclass(frozen=True, slots=True)
class HopEvents:
    """Number of events of one type at a hop during a trial."""

    hop: str
    what: Counted
    count: int
