# SPDX-License-Identifier: Apache-2.0
"""Define one point of a study: its workload and its SUT.

`study/` reads and validates the TOML; this module knows nothing of files. Kinds are names that
bench/ registers (model/kinds.py). The defaults here are the product's only defaults, and the bounds
in the types are the only bounds. The sentence below each field is its documentation
(docs/reference/study-file.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.frame import Encapsulation, FlowField, FrameSizes, VlanId
from wirespeed.model.input.text import Device, FilePath, HostName, Word
from wirespeed.model.study.gateway import Bng, GatewayDirection
from wirespeed.model.study.injected import InjectedFault
from wirespeed.model.study.ovs import Ovs
from wirespeed.model.study.tcp import Tcp
from wirespeed.model.units import line_rate_fps

Cpu = Annotated[int, Ge(0)]
# Per ring.
MAX_DESCRIPTORS = 4096


@dataclass(frozen=True, slots=True)
class Topology:
    """What the frames pass between the generator's ports."""

    kind: Word = "p2p"
    """Which hops the frames pass."""
    vnfs: Annotated[int, Ge(1), Le(8)] = 1
    """How many VNFs a chain, parallel or sriov topology has."""
    bidirectional: bool = False
    """Traffic in both directions; loads and rates are then sums over both."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """The offered frames."""

    frame: FrameSizes = field(default_factory=lambda: FrameSizes.parse("64"))
    """Octets of the frame with FCS (64..9216), or an IMIX genome (RFC 6985) as "imix:aaaaadddg"."""
    ip_version: Annotated[int, Ge(4), Le(6)] = 4
    """4 or 6; the payload is UDP."""
    encapsulation: Encapsulation = Encapsulation.NONE
    """VLAN tags in front of the IP header."""
    vlan_id: VlanId = 100
    """The VLAN tag, or the outer one of a QinQ frame."""
    inner_vlan_id: VlanId = 200
    """The inner tag of a QinQ frame."""
    flows: Annotated[int, Ge(1), Le(1_000_000)] = 64
    """How many flows the generator steps through, frame by frame."""
    flow_field: FlowField = FlowField.SRC_PORT
    """The header field that differs from flow to flow."""
    burst: Annotated[int, Ge(1), Le(64)] = 32
    """The most frames handed to the port at once."""
    link_bps: Annotated[float, Gt(0)] = 10e9
    """The link speed that "% of line rate" refers to. Virtual ports have no speed of their own:
    for them it is nominal."""
    link_bound: bool = False
    """Offer virtual ports no more than a link of link_bps carries, as a NIC would. Left out, they
    get as much as the generator can. Ports of the external topology are bound in any case."""
    pcap: FilePath | None = None
    """A capture file to replay instead of generated frames."""


class KernelDriver(StrEnum):
    """Socket type that wsdp uses on a kernel interface."""

    AF_PACKET = "af-packet"
    AF_XDP = "af-xdp"


@dataclass(frozen=True, slots=True)
class Vswitch:
    """The virtual switch. A value left out is decided by the plan."""

    pmd_cpus: tuple[Cpu, ...] | None = None
    """The CPUs that forward: those of poll-mode threads, or of the kernel's softirqs."""
    socket_memory_mib: Annotated[int, Ge(64)] | None = None
    """Huge-page memory of the vSwitch."""
    rx_queues: Annotated[int, Ge(1), Le(16)] = 1
    """Receive queues of each port."""
    descriptors: Annotated[int, Ge(64), Le(MAX_DESCRIPTORS)] = 1024
    """Descriptors of each receive and transmit ring; a power of two."""
    mtu: Annotated[int, Ge(68), Le(9198)] | None = None
    """The ports' MTU in octets of the IP packet. Left out: what the largest frame needs."""
    kind: Word = "ovs-dpdk"
    """Which switch."""
    driver: KernelDriver = KernelDriver.AF_PACKET
    """By which driver of DPDK generator and functions use the other ends of ports that are
    interfaces of the kernel: those of linux-bridge and linux-router, and of ovs-dpdk where
    sut.vswitch.ovs.ports says so."""
    ovs: Ovs = field(default_factory=Ovs)


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
    """Which network function."""
    mode: VnfMode = VnfMode.MAC
    """What it does to a frame: nothing, rewrite the destination MAC, or swap both MACs. bng has no
    such choice."""
    workers: Annotated[int, Ge(1), Le(16)] = 1
    """bng only: how many workers share the subscribers. 1: both directions are two tasks of one
    lcore; more: S1's layout, with load balancers in front and aggregation behind. host gives load
    balancers, aggregation and each worker a CPU where there are enough cores, two workers to a
    core; otherwise all tasks take turns on one lcore."""
    placement: Word | None = None
    """Where it runs. Left out: process where the machine has the cores, else shared."""
    pages: VnfPages = VnfPages.HUGE
    """What the memory of its own process is made of: huge: pages of 2 MiB; 4K: of 4 KiB."""
    threads: VnfThreads = VnfThreads.PINNED
    """Where the threads of its own process run: anywhere: the scheduler moves them over all CPUs;
    node: over those of the NUMA node of their memory; pinned: each has a CPU."""

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
    """The virtual machine of each VNF, with sut.vnf.placement = "guest", or of each host of a TCP
    test that is one."""

    vcpus: Annotated[int, Ge(1), Le(8)] | None = None
    """Virtual CPUs. A VNF's data plane has all but the first, which is for the guest's kernel and
    its control; with one alone, they take turns. Left out: two, or as many as ports have queues."""
    memory_mib: Annotated[int, Ge(256), Le(65_536)] | None = None
    """Memory in MiB. Left out: what packets, or TCP's buffers, and the guest's system take."""
    pages: GuestPages = GuestPages.HUGE
    """What that memory is made of: huge: the host's huge pages of 2 MiB; memfd: shared memory in
    pages of 4 KiB."""
    emulator: EmulatorThreads = EmulatorThreads.APART
    """Where QEMU's own threads run. apart: on a CPU that no virtual CPU of the data plane has;
    on-vcpus: on the CPUs of the virtual CPUs, whose time they take."""


@dataclass(frozen=True, slots=True)
class Impair:
    """The reference SUT of the wire topology. 0 switches a property off."""

    rate_fps: Annotated[float, Ge(0)] = 0.0
    """Forward at most this many frames/s."""
    delay_ns: Annotated[int, Ge(0)] = 0
    """Hold each frame for this long."""
    loss_every: Annotated[int, Ge(0)] = 0
    """Drop every Nth frame."""
    queue_frames: Annotated[int, Ge(1), Le(1 << 20)] = 1024
    """How many frames wait for the rate limiter before further ones are dropped."""
    stall_every_ns: Annotated[int, Ge(0)] = 0
    """Serve nothing for `stall_ns` every so often, as a SUT does that is held up by itself."""
    stall_ns: Annotated[int, Ge(0)] = 0
    """How long each of these stalls is; less than stall_every_ns."""


@dataclass(frozen=True, slots=True)
class Sut:
    """The system under test."""

    vswitch: Vswitch = field(default_factory=Vswitch)
    vnf: Vnf = field(default_factory=Vnf)
    impair: Impair = field(default_factory=Impair)
    ports: tuple[Device, ...] = ()
    """external: the generator's two ports, as PCI addresses or DPDK device strings. sriov: the one
    or two physical functions whose virtual functions are used, as PCI addresses; not with [hosts],
    where the lab file names them. [tcp] with path = "sriov": the one physical function."""


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
    """How loads are chosen. A value left out is the preset's own."""

    kind: SearchKind = SearchKind.QUICK
    """rfc2544: binary search with 60 s trials; tst009: ETSI NFV-TST 009 with repeats; mlr:
    MLRsearch, NDR and PDR in one search; quick: mlr with trials of 0.3 s, not RFC 2544
    conformant; mrr: the rate received when half as much again is offered; fixed: one load;
    soak: one load for `total_s`; b2b: the longest burst without loss (RFC 9004)."""
    min_load_fps: Annotated[float, Gt(0)] = 10_000.0
    """Below this load nothing is tried."""
    max_load_fps: Annotated[float, Gt(0)] | None = None
    """Above this load nothing is tried. Left out: what the generator can offer."""
    trial_s: Annotated[float, Gt(0), Le(86_400)] | None = None
    """Length of the final trials in seconds."""
    width: Annotated[float, Gt(0), Lt(1)] | None = None
    """Stop when upper and lower bound are this close, relative to the upper."""
    extension: Annotated[float, Ge(1), Le(100)] | None = None
    """A trial may take so many times its length, until enough of its time was undisturbed to judge
    the load."""
    time_limit_s: Annotated[float, Gt(0)] | None = None
    """How long MRR and search may take in all, in seconds; the point then has the bounds
    that are known by then, however far apart. Left out: as long as it takes."""
    pdr_loss: Annotated[float, Gt(0), Lt(1)] = 0.005
    """The loss ratio that the partial drop rate tolerates."""
    load_fps: Annotated[float, Gt(0)] | None = None
    """fixed and soak only: the load."""
    total_s: Annotated[float, Gt(0)] | None = None
    """soak only: seconds of traffic in all, offered in trials of trial_s."""
    step_fps: Annotated[float, Gt(0)] | None = None
    """tst009 only: distance of the loads in the search array."""
    max_r: Annotated[int, Ge(0)] | None = None
    """tst009 only: how often a trial with loss is repeated."""
    max_z: Annotated[int, Ge(0)] | None = None
    """tst009 only: a trial that lost more frames than this is not repeated."""
    placement: PlacementKind | None = None
    """Where the polling CPUs must be to one another for the figures that come first: "one cache",
    "across caches" or "one core". Left out: the nearest placement with grade C or better."""
    wait_for_placement: Annotated[float, Gt(0), Le(86_400)] | None = None
    """How long, in seconds, a point waits for search.placement where the CPUs are elsewhere; this
    counts towards time_limit_s. Then it measures where they are, and says so. Left out: it does
    not wait."""
    latency: bool = True
    """Measure latency at 10, 50 and 90% of the PDR after the search."""
    latency_trial_s: Annotated[float, Gt(0), Le(86_400)] | None = None
    """Length of a latency trial in seconds."""


@dataclass(frozen=True, slots=True)
class Sriov:
    """How the NIC's driver is told to set the virtual functions of the sriov topology, and of [tcp]
    with path = "sriov". What the NIC does not carry out is reported as such, never as done."""

    first_vlan: VlanId = 101
    """The VLAN of the first link; each further link has the next number, so that the NIC passes
    frames from hop to hop on no other way. With [tcp]: the VLAN of all hosts."""
    qos: Annotated[int, Ge(0), Le(7)] = 0
    """The priority (PCP) in the tag that the NIC puts on the frames of a virtual function."""
    spoofchk: bool = True
    """The NIC drops what a virtual function sends from an address that is not its own."""
    trust: bool = False
    """A virtual function may become promiscuous and change its own address."""
    max_tx_rate_mbps: Annotated[int, Ge(0), Le(1_000_000)] = 0
    """The most that each virtual function may send; 0: as much as the link takes."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Which hosts of the lab file (wirespeed run --lab FILE) do what. Left out: this host."""

    generator: HostName | None = None
    """The host that offers and receives the frames."""
    sut: HostName | None = None
    """The host of the switch and the network functions."""


@dataclass(frozen=True, slots=True)
class Frames:
    """A workload of frames that our generator offers at loads chosen by a search."""

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
class TcpStreams:
    """A workload of TCP between hosts."""

    tcp: Tcp
    vswitch: Vswitch = field(default_factory=Vswitch)
    """Switch of the path, if the path has one."""
    guest: Guest | None = None
    """Guests of the path, if the path has them."""
    ports: tuple[Device, ...] = ()
    """Physical function whose virtual functions are the hosts' ports."""
    sriov: Sriov | None = None
    """Settings of these virtual functions."""


# All that one point of a study depends on. Its id is the hash of the canonical form.
Workload = Frames | TcpStreams
