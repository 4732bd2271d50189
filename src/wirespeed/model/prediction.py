# SPDX-License-Identifier: Apache-2.0
"""What rate is expected of a deployment that nobody has measured, and what keeps it there?

Plain facts: predict/ makes them; plan, report and explain are handed them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Attachment(StrEnum):
    """What a network function's port is."""

    VHOST = "vhost"
    SRIOV = "sriov"
    PORT = "port"
    """The physical port itself: no switch in between."""
    NONE = "none"
    """There is no function: the switch joins its outer ports."""


class Arrangement(StrEnum):
    """S2 section 2.1: which functions does a frame visit?"""

    PARALLEL = "north-south"
    """One of them, then it leaves again."""
    CHAIN = "east-west"
    """All, one after the other."""


class Edge(StrEnum):
    """What the outer ends are."""

    NIC = "nic"
    VIRTUAL = "virtual"
    """vhost-user ports of the generator, as on a bench without a NIC."""


class Counted(StrEnum):
    """Which frames make the rate."""

    DELIVERED = "delivered"
    """Those that leave the last hop, over all directions."""
    TRANSMITTED = "transmitted"
    """Those that all functions send, summed, as S2 counts."""


class RateKind(StrEnum):
    """How a measured rate was found; rates of different kinds are not fitted together."""

    MRR = "mrr"
    NDR = "ndr"
    PDR = "pdr"


@dataclass(frozen=True, slots=True)
class Case:
    """One deployment and its traffic.

    frame_bytes: FCS included. link_bps: of each outer port; not used with virtual ones. ports: NIC
    ports that share the traffic. pmds: cores that share all work of the switch; None: one for each
    vhost port and one for the NIC ports, as in S2. function_cores: of each function, each with a
    queue of its own. idle_ports: polled ports of the switch that bring no frames. shared_core: all
    functions and the generator take turns on one CPU. pcie_lanes, pcie_gts: of each NIC. nics: how
    many share the traffic (ports is over all of them). ring_frames: what the rings of a hop hold.
    offered_fps: the most that is offered, where a study holds virtual ports to the speed of links.
    """

    attachment: Attachment
    arrangement: Arrangement = Arrangement.PARALLEL
    functions: int = 1
    frame_bytes: float = 64.0
    edge: Edge = Edge.NIC
    link_bps: float = 40e9
    ports: int = 1
    nics: int = 1
    pmds: int | None = None
    function_cores: int = 1
    idle_ports: int = 0
    shared_core: bool = False
    counted: Counted = Counted.DELIVERED
    pcie_lanes: int = 8
    pcie_gts: float = 8.0
    ring_frames: int = 1024
    offered_fps: float | None = None


class Resource(StrEnum):
    """What a frame needs, and what can run out."""

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
    """What one counted frame costs a resource in ns, and how busy the resource is, 0..1."""

    resource: Resource
    demand_ns: float
    utilisation: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """The rate at full load in frames/s with a 90% interval, and every resource, busiest first.

    next_gain: by what share the rate would grow if the busiest resource cost nothing, None where no
    other one is known. ndr_share:
    the lossless rate over this one. latency_us: the median at half of this rate. source: of the
    parameters. docs/explanation/prediction.md tells how far each of them is valid.
    """

    rate_fps: float
    low_fps: float
    high_fps: float
    loads: tuple[Load, ...]
    next_gain: float | None
    ndr_share: float
    latency_us: float
    source: str

    @property
    def limit(self) -> Load:
        return self.loads[0]
