# SPDX-License-Identifier: Apache-2.0
"""Define the predicted rate of an unmeasured deployment and the resource that limits it.

predict/ makes these types; plan, report and explain receive them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Attachment(StrEnum):
    """Port type of a network function."""

    VHOST = "vhost"
    SRIOV = "sriov"
    PORT = "port"
    """The physical port itself, without a switch."""
    NONE = "none"
    """No function: the switch joins its outer ports."""


class Arrangement(StrEnum):
    """Functions that a frame visits (S2 section 2.1)."""

    PARALLEL = "north-south"
    """One function, then it leaves again."""
    CHAIN = "east-west"
    """All functions, one after the other."""


class Edge(StrEnum):
    """Outer endpoints of the path."""

    NIC = "nic"
    VIRTUAL = "virtual"
    """The generator's vhost-user ports, as on a bench without a NIC."""


class Counted(StrEnum):
    """Frames that count for the rate."""

    DELIVERED = "delivered"
    """Frames that leave the last hop, summed over all directions."""
    TRANSMITTED = "transmitted"
    """Frames that all functions send, summed, as S2 counts."""


class RateKind(StrEnum):
    """Method that gave a measured rate. Rates of different kinds are not fitted together."""

    MRR = "mrr"
    NDR = "ndr"
    PDR = "pdr"


@dataclass(frozen=True, slots=True)
class Case:
    """One deployment and its traffic."""

    attachment: Attachment
    arrangement: Arrangement = Arrangement.PARALLEL
    functions: int = 1
    frame_bytes: float = 64.0
    """Frame size in octets, including the FCS."""
    edge: Edge = Edge.NIC
    link_bps: float = 40e9
    """Speed of each outer port in bit/s; unused with virtual ports."""
    ports: int = 1
    """NIC ports that share the traffic, over all NICs."""
    nics: int = 1
    """NICs that share the traffic."""
    pmds: int | None = None
    """Cores that share all work of the switch. None: one per vhost port and one for the NIC ports,
    as in S2."""
    function_cores: int = 1
    """Cores of each function, each with its own queue."""
    idle_ports: int = 0
    """Polled ports of the switch that receive no frames."""
    shared_core: bool = False
    """All functions and the generator take turns on one CPU."""
    counted: Counted = Counted.DELIVERED
    pcie_lanes: int = 8
    """PCIe lanes of each NIC."""
    pcie_gts: float = 8.0
    """PCIe speed of each NIC in GT/s per lane."""
    ring_frames: int = 1024
    """Frames that the rings of a hop hold."""
    offered_fps: float | None = None
    """Largest offered load in frames/s, if a study limits virtual ports to a link's speed."""


class Resource(StrEnum):
    """Resources that a frame needs and that can be exhausted."""

    NIC_PMD = "PMD core of the physical port"
    VHOST_PMD = "PMD core of a vhost port"
    PMDS = "PMD cores"
    FUNCTION = "function core"
    SHARED_CORE = "core of generator and functions"
    QUEUE = "receive and transmit queue of a function"
    ENGINE = "NIC packet engine"
    SWITCH = "NIC internal switch"
    TRANSMIT = "link as the vSwitch fills it"
    LINK = "link"
    OFFERED = "link that the study gives virtual ports"
    PCIE_IN = "PCIe towards memory"
    PCIE_OUT = "PCIe towards the NIC"


@dataclass(frozen=True, slots=True)
class Load:
    """Use of one resource."""

    resource: Resource
    demand_ns: float
    """Cost of one counted frame, in ns."""
    utilisation: float
    """Busy share of the resource, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Rate at full load with its 90% interval.

    docs/explanation/prediction.md gives the range in which each value is valid.
    """

    rate_fps: float
    low_fps: float
    high_fps: float
    loads: tuple[Load, ...]
    """Every resource, the busiest first."""
    next_gain: float | None
    """Relative growth of the rate if the busiest resource cost nothing; None if no other resource
    is known."""
    ndr_share: float
    """Ratio of the rate without loss to rate_fps."""
    latency_us: float
    """Median latency at half of the rate, in µs."""
    source: str
    """Source of the parameters."""

    @property
    def limit(self) -> Load:
        return self.loads[0]
