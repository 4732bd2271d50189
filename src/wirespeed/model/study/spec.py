# SPDX-License-Identifier: Apache-2.0
"""Define one point of a study: its workload and its SUT.

The tables of a study file are defined next to this module, and are names of it, too: `traffic.py`,
`vswitch.py`, `vnf.py`, `search.py`.

`study/` reads and validates the TOML; this module knows nothing of files. Kinds are names that
bench/ registers (model/kinds.py). The defaults here are the product's only defaults, and the bounds
in the types are the only bounds. The sentence below each field is its documentation
(docs/reference/study-file.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Self

from annotated_types import Ge, Le

from wirespeed.model.frame import VlanId
from wirespeed.model.input.text import Device, HostName
from wirespeed.model.study.convergence import Convergence
from wirespeed.model.study.gateway import Bng, GatewayDirection
from wirespeed.model.study.injected import InjectedFault
from wirespeed.model.study.routing import Destinations, Routing, RoutingDaemon
from wirespeed.model.study.search import Search, SearchKind
from wirespeed.model.study.sessions import Sessions
from wirespeed.model.study.tcp import Tcp
from wirespeed.model.study.traffic import Topology, Traffic
from wirespeed.model.study.vnf import (
    EmulatorThreads,
    Guest,
    GuestPages,
    Vnf,
    VnfMode,
    VnfPages,
    VnfThreads,
)
from wirespeed.model.study.vswitch import (
    MAX_DESCRIPTORS,
    NOT_WRITTEN,
    Cpu,
    KernelDriver,
    Vswitch,
)
from wirespeed.model.units import line_rate_fps

__all__ = [
    "BY_TABLE",
    "MAX_DESCRIPTORS",
    "NOT_WRITTEN",
    "AnyWorkload",
    "Convergence",
    "Cpu",
    "Destinations",
    "EmulatorThreads",
    "Frames",
    "Guest",
    "GuestPages",
    "Impair",
    "KernelDriver",
    "Roles",
    "RouterConvergence",
    "Routing",
    "RoutingDaemon",
    "Search",
    "SearchKind",
    "Sriov",
    "Sut",
    "TcpSessions",
    "TcpStreams",
    "Topology",
    "Traffic",
    "Vnf",
    "VnfMode",
    "VnfPages",
    "VnfThreads",
    "Vswitch",
    "Workload",
]


@dataclass(frozen=True, slots=True)
class Impair:
    """The reference SUT of the wire topology. 0 disables a property."""

    rate_fps: Annotated[float, Ge(0)] = 0.0
    """Forward at most this many frames/s."""
    delay_ns: Annotated[int, Ge(0)] = 0
    """Hold each frame for this long."""
    loss_every: Annotated[int, Ge(0)] = 0
    """Drop every Nth frame."""
    queue_frames: Annotated[int, Ge(1), Le(1 << 20)] = 1024
    """Length of the rate limiter's queue; it drops further frames."""
    stall_every_ns: Annotated[int, Ge(0)] = 0
    """Interval between stalls, in which the SUT serves no frames, like a SUT that pauses by
    itself."""
    stall_ns: Annotated[int, Ge(0)] = 0
    """Length of each stall; less than stall_every_ns."""


@dataclass(frozen=True, slots=True)
class Sut:
    """The system under test."""

    vswitch: Vswitch = field(default_factory=Vswitch)
    vnf: Vnf = field(default_factory=Vnf)
    impair: Impair = field(default_factory=Impair)
    ports: tuple[Device, ...] = ()
    """external: the generator's two ports, as PCI addresses or DPDK device strings. sriov: PCI
    addresses of the one or two physical functions that provide the virtual functions. With [hosts]
    the testbed file names them instead. [tcp] with path = "sriov": the one physical function."""


@dataclass(frozen=True, slots=True)
class Sriov:
    """Settings of the virtual functions of the sriov topology, and of [tcp] with path "sriov".

    The report lists settings that the NIC did not carry out.
    """

    first_vlan: VlanId = 101
    """VLAN of the first link. Each further link has the next number, so that the NIC passes frames
    only from hop to hop. With [tcp]: VLAN of all hosts."""
    qos: Annotated[int, Ge(0), Le(7)] = 0
    """Priority (PCP) in the tag that the NIC adds to frames of a virtual function."""
    spoofchk: bool = True
    """The NIC drops frames that a virtual function sends from an address other than its own."""
    trust: bool = False
    """A virtual function may become promiscuous and change its own address."""
    max_tx_rate_mbps: Annotated[int, Ge(0), Le(1_000_000)] = 0
    """Transmit limit of each virtual function; 0: no limit."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of the hosts in the testbed file (wirespeed run --lab FILE). Default: this host."""

    generator: HostName | None = None
    """Host that offers and receives the frames."""
    sut: HostName | None = None
    """Host of the switch and the network functions."""


class AnyWorkload:
    """Base of every workload. Its answers are those of a workload without frames."""

    __slots__ = ()
    subject: ClassVar[str]
    """Name of the measured quantity, for people."""

    @property
    def frames(self) -> Frames | None:
        """The workload itself if it offers frames, else None."""
        return None

    @property
    def roles(self) -> Roles:
        """Hosts of the testbed file that it names."""
        return Roles()

    def with_roles(self, roles: Roles) -> Self:  # noqa: ARG002
        """Return the workload on these hosts."""
        return self


@dataclass(frozen=True, slots=True)
class Frames(AnyWorkload):
    """Workload of frames that wirespeed's generator offers at loads that a search chooses."""

    subject: ClassVar[str] = "frames"

    topology: Topology = field(default_factory=Topology)
    traffic: Traffic = field(default_factory=Traffic)
    sut: Sut = field(default_factory=Sut)
    search: Search = field(default_factory=Search)
    bng: Bng | None = None
    hosts: Roles = field(default_factory=Roles)
    guest: Guest | None = None
    sriov: Sriov | None = None
    fault: InjectedFault | None = None
    routing: Routing | None = None

    @property
    def frames(self) -> Frames:
        return self

    @property
    def roles(self) -> Roles:
        return self.hosts

    def with_roles(self, roles: Roles) -> Self:
        return replace(self, hosts=roles)

    @property
    def directions(self) -> tuple[int, ...]:
        """Directions of the frames: 0 is east to west, 1 is west to east.

        A gateway's subscribers are east.
        """
        if self.bng is None:
            return (0, 1) if self.topology.bidirectional else (0,)
        directions = {GatewayDirection.UP: (0,), GatewayDirection.DOWN: (1,)}
        return directions.get(self.bng.direction, (0, 1))

    @property
    def wire_bytes(self) -> tuple[int, ...]:
        """Frame sizes on the busier link, in octets including the FCS.

        The line rate is computed from them. The network side limits both directions of a gateway,
        because its frames are longer.
        """
        if self.bng is None:
            return self.traffic.frame.sizes
        return tuple(self.bng.network_bytes(size) for size in self.traffic.frame.sizes)

    @property
    def mean_wire_bytes(self) -> float:
        return sum(self.wire_bytes) / len(self.wire_bytes)

    @property
    def line_rate_fps(self) -> float:
        """Line rate of links of traffic.link_bps, in frames/s, summed over the directions."""
        each = line_rate_fps(self.traffic.link_bps, self.mean_wire_bytes)
        return len(self.directions) * each

    @property
    def nominal_link(self) -> bool:
        """The generator's ports are virtual, so traffic.link_bps is not the speed of a NIC."""
        return not self.sut.ports and self.hosts == Roles()


@dataclass(frozen=True, slots=True)
class TcpStreams(AnyWorkload):
    """A workload of TCP between hosts."""

    subject: ClassVar[str] = "TCP"

    tcp: Tcp
    vswitch: Vswitch = field(default_factory=Vswitch)
    """Switch of the path, if the path has one."""
    guest: Guest | None = None
    """Guests of the path, if the path has them."""
    ports: tuple[Device, ...] = ()
    """Physical function whose virtual functions are the hosts' ports."""
    sriov: Sriov | None = None
    """Settings of these virtual functions."""


@dataclass(frozen=True, slots=True)
class TcpSessions(AnyWorkload):
    """A workload of TCP connections between hosts that are counted."""

    subject: ClassVar[str] = "TCP sessions"

    sessions: Sessions
    network: TcpStreams
    """Hosts and what joins them. Its settings of streams are defaults without effect."""


@dataclass(frozen=True, slots=True)
class RouterConvergence(AnyWorkload):
    """A workload of events after which a router converges."""

    subject: ClassVar[str] = "convergence"

    convergence: Convergence
    path: Frames
    """The router, its routes and the frames. Its search is a default without effect."""


# All that one point of a study depends on. Its id is the hash of the canonical form.
Workload = Frames | TcpStreams | TcpSessions | RouterConvergence

# Workloads other than frames, by the table of a study file, and field of a record, that has them.
BY_TABLE: Mapping[str, type[TcpStreams] | type[TcpSessions] | type[RouterConvergence]] = {
    "convergence": RouterConvergence,
    "sessions": TcpSessions,
    "tcp": TcpStreams,
}
