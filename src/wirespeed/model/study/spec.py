# SPDX-License-Identifier: Apache-2.0
"""Define one point of a study: its workload and its SUT.

`study/` reads and validates the TOML; this module knows nothing of files. Kinds are names that
bench/ registers (model/kinds.py). The defaults here are the product's only defaults, and the bounds
in the types are the only bounds. The sentence below each field is its documentation
(docs/reference/study-file.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Self

from annotated_types import Ge, Gt, Le, Lt

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.frame import Encapsulation, FlowField, FrameSizes, VlanId
from wirespeed.model.input.text import Device, FilePath, HostName, Word
from wirespeed.model.study.gateway import Bng, GatewayDirection
from wirespeed.model.study.injected import InjectedFault
from wirespeed.model.study.ovs import Ovs
from wirespeed.model.study.sessions import Sessions
from wirespeed.model.study.tcp import Tcp
from wirespeed.model.units import line_rate_fps

Cpu = Annotated[int, Ge(0)]
# Per ring.
MAX_DESCRIPTORS = 4096


@dataclass(frozen=True, slots=True)
class Topology:
    """Path of the frames between the generator's ports."""

    kind: Word = "p2p"
    """Hops on the path."""
    vnfs: Annotated[int, Ge(1), Le(8)] = 1
    """Number of VNFs of a chain, parallel or sriov topology."""
    bidirectional: bool = False
    """Traffic in both directions; loads and rates are then sums of both."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Frames to offer."""

    frame: FrameSizes = field(default_factory=lambda: FrameSizes.parse("64"))
    """Frame size in octets including the FCS (64..9216), or an IMIX genome (RFC 6985) as
    "imix:aaaaadddg"."""
    ip_version: Annotated[int, Ge(4), Le(6)] = 4
    """IP version, 4 or 6; the payload is UDP."""
    encapsulation: Encapsulation = Encapsulation.NONE
    """VLAN tags in front of the IP header."""
    vlan_id: VlanId = 100
    """VLAN tag, or outer tag of a QinQ frame."""
    inner_vlan_id: VlanId = 200
    """Inner tag of a QinQ frame."""
    flows: Annotated[int, Ge(1), Le(1_000_000)] = 64
    """Number of flows. Each frame belongs to the next flow."""
    flow_field: FlowField = FlowField.SRC_PORT
    """Header field that differs between flows."""
    burst: Annotated[int, Ge(1), Le(64)] = 32
    """Largest number of frames passed to the port at once."""
    link_bps: Annotated[float, Gt(0)] = 10e9
    """Link speed for "% of line rate". It is nominal for virtual ports, which have no speed."""
    link_bound: bool = False
    """Offer virtual ports at most the rate of a link of link_bps, as a NIC would. Default: as much
    as the generator can. Ports of the external topology are always bound."""
    pcap: FilePath | None = None
    """Capture file to replay instead of generated frames."""


OwnKey = tuple[str, bool | int | float | str]
# Metadata of a field that is no key of a study file.
NOT_WRITTEN: Final = {"written": False}


class KernelDriver(StrEnum):
    """Socket type that wsdp uses on a kernel interface."""

    AF_PACKET = "af-packet"
    AF_XDP = "af-xdp"


@dataclass(frozen=True, slots=True)
class Vswitch:
    """The virtual switch. The plan decides omitted values without a default."""

    pmd_cpus: tuple[Cpu, ...] | None = None
    """CPUs that forward: those of the PMD threads, or of the kernel's softirqs."""
    socket_memory_mib: Annotated[int, Ge(64)] | None = None
    """Huge page memory of the vSwitch."""
    rx_queues: Annotated[int, Ge(1), Le(16)] = 1
    """Receive queues of each port."""
    descriptors: Annotated[int, Ge(64), Le(MAX_DESCRIPTORS)] = 1024
    """Descriptors of each receive and transmit ring; a power of two."""
    mtu: Annotated[int, Ge(68), Le(9198)] | None = None
    """MTU of the ports in octets of the IP packet. Default: the size that the largest frame
    needs."""
    kind: Word = "ovs-dpdk"
    """Type of the switch."""
    driver: KernelDriver = KernelDriver.AF_PACKET
    """DPDK driver that generator and functions use on kernel interfaces. It applies to linux-bridge
    and linux-router, and to ovs-dpdk if sut.vswitch.ovs.ports selects kernel interfaces."""
    ovs: Ovs = field(default_factory=Ovs)
    own: tuple[OwnKey, ...] = field(default=(), metadata=NOT_WRITTEN)
    """Keys of the table sut.vswitch.NAME that a type of switch from elsewhere has, by name, with
    the defaults of omitted keys. A study writes that table."""


class VnfMode(StrEnum):
    IO = "io"
    MAC = "mac"
    MACSWAP = "macswap"


class VnfPages(StrEnum):
    """Page size of the memory of a function's own process."""

    HUGE = "huge"
    SMALL = "4K"


class VnfThreads(StrEnum):
    """CPUs over which the scheduler may move the threads of a function's own process."""

    ANYWHERE = "anywhere"
    NODE = "node"
    PINNED = "pinned"


@dataclass(frozen=True, slots=True)
class Vnf:
    """The network function, or the forwarder of the host topology."""

    kind: Word = "wsdp"
    """Type of the network function."""
    mode: VnfMode = VnfMode.MAC
    """Change to a frame: none, rewrite the destination MAC, or swap both MACs. bng has no such
    choice."""
    workers: Annotated[int, Ge(1), Le(16)] = 1
    """bng only: number of workers that share the subscribers. 1: both directions are two tasks of
    one lcore. More: the layout of Intel 2015 (S1), with load balancers in front of the workers and
    aggregation behind them. In the host topology each of these gets a CPU if there are enough
    cores, two workers per core. Otherwise all tasks take turns on one lcore."""
    routes: Annotated[int, Ge(0), Le(1_000_000)] = 0
    """l3fwd and router only: generated prefixes next to the flows' own. No frame goes to them."""
    routes_seed: Annotated[int, Ge(0), Le(2_147_483_647)] = 1
    """Seed of the generated prefixes."""
    placement: Word | None = None
    """VNF placement. Default: process if the machine has the cores, else shared."""
    pages: VnfPages = VnfPages.HUGE
    """Pages of the memory of its own process. huge: 2 MiB; 4K: 4 KiB."""
    threads: VnfThreads = VnfThreads.PINNED
    """CPUs of the threads of its own process. anywhere: the scheduler uses all CPUs; node: the CPUs
    of the memory's NUMA node; pinned: each thread has a CPU."""

    @property
    def untuned(self) -> tuple[tuple[str, str], ...]:
        """Settings that only an own process has and that differ from the default."""
        usual = Vnf()
        return tuple(
            (f"sut.vnf.{key}", str(value))
            for key in ("pages", "threads")
            if (value := getattr(self, key)) is not getattr(usual, key)
        )


class GuestPages(StrEnum):
    """Backing of a guest's memory."""

    HUGE = "huge"
    MEMFD = "memfd"


class EmulatorThreads(StrEnum):
    """CPUs of QEMU's own threads, which are not virtual CPUs."""

    APART = "apart"
    ON_VCPUS = "on-vcpus"


@dataclass(frozen=True, slots=True)
class Guest:
    """Virtual machine of a VNF, or of a host of a TCP test.

    A VNF runs in one with sut.vnf.placement = "guest".
    """

    vcpus: Annotated[int, Ge(1), Le(8)] | None = None
    """Virtual CPUs. The first runs the guest's kernel and control; a VNF's data plane has the
    others. With one vCPU they take turns. Default: two, or one for each queue of its ports."""
    memory_mib: Annotated[int, Ge(256), Le(65_536)] | None = None
    """Memory in MiB. Default: the need of the packets, or of TCP's buffers, and of the guest's
    system."""
    pages: GuestPages = GuestPages.HUGE
    """Backing of that memory. huge: 2 MiB huge pages of the host; memfd: shared memory in pages of
    4 KiB."""
    emulator: EmulatorThreads = EmulatorThreads.APART
    """CPUs of QEMU's own threads. apart: a CPU without a data plane vCPU; on-vcpus: the CPUs of the
    vCPUs, whose time they then take."""


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


class SearchKind(StrEnum):
    RFC2544 = "rfc2544"
    TST009 = "tst009"
    MLR = "mlr"
    QUICK = "quick"
    MRR = "mrr"
    FIXED = "fixed"
    SOAK = "soak"
    B2B = "b2b"


@dataclass(frozen=True, slots=True)
class Search:
    """Choice of the loads. A value without a default is that of the search kind."""

    kind: SearchKind = SearchKind.QUICK
    """rfc2544: binary search with 60 s trials; tst009: ETSI NFV-TST 009 with repeats; mlr:
    MLRsearch, NDR and PDR in one search; quick: mlr with 0.3 s trials, not RFC 2544 conformant;
    mrr: the rate received when 1.5 times as much is offered; fixed: one load; soak: one load for
    `total_s`; b2b: the longest burst without loss (RFC 9004)."""
    min_load_fps: Annotated[float, Gt(0)] = 10_000.0
    """Lowest load to try."""
    max_load_fps: Annotated[float, Gt(0)] | None = None
    """Highest load to try. Default: the most that the generator can offer."""
    trial_s: Annotated[float, Gt(0), Le(86_400)] | None = None
    """Length of the final trials in seconds."""
    width: Annotated[float, Gt(0), Lt(1)] | None = None
    """Stop when upper and lower bound are this close, relative to the upper."""
    extension: Annotated[float, Ge(1), Le(100)] | None = None
    """Largest factor by which a trial may be extended until it has enough clean time to judge the
    load."""
    time_limit_s: Annotated[float, Gt(0)] | None = None
    """Time limit for MRR and search together, in seconds. The point then has the bounds known by
    that time. Default: no limit."""
    pdr_loss: Annotated[float, Gt(0), Lt(1)] = 0.005
    """Loss ratio that the partial drop rate tolerates."""
    load_fps: Annotated[float, Gt(0)] | None = None
    """fixed and soak only: the load."""
    total_s: Annotated[float, Gt(0)] | None = None
    """soak only: seconds of traffic in all, offered in trials of trial_s."""
    step_fps: Annotated[float, Gt(0)] | None = None
    """tst009 only: distance of the loads in the search array."""
    max_r: Annotated[int, Ge(0)] | None = None
    """tst009 only: number of repeats of a trial with loss."""
    max_z: Annotated[int, Ge(0)] | None = None
    """tst009 only: a trial that lost more frames than this is not repeated."""
    placement: PlacementKind | None = None
    """Placement of the polling CPUs for the main rates: "one cache", "across caches" or "one core".
    Default: the nearest placement with grade C or better."""
    wait_for_placement: Annotated[float, Gt(0), Le(86_400)] | None = None
    """Time in seconds that a point waits for search.placement; it counts towards time_limit_s.
    After that the point is measured in the current placement, and the result says so. Default: no
    wait."""
    latency: bool = True
    """Measure latency at 10, 50 and 90% of the PDR after the search."""
    latency_trial_s: Annotated[float, Gt(0), Le(86_400)] | None = None
    """Length of a latency trial in seconds."""


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


# All that one point of a study depends on. Its id is the hash of the canonical form.
Workload = Frames | TcpStreams | TcpSessions

# Workloads other than frames, by the table of a study file, and field of a record, that has them.
BY_TABLE: Mapping[str, type[TcpStreams] | type[TcpSessions]] = {
    "sessions": TcpSessions,
    "tcp": TcpStreams,
}
