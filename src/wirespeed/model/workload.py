# SPDX-License-Identifier: Apache-2.0
"""What does the engineer want to run, and under which rules may hosts be cut up for it?

These are plain facts after validation (`plan/workload_file` reads the TOML and checks it); the
bounds in the types are the only bounds. None means: let the planner decide, and say why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Gt, Le

Count = Annotated[int, Ge(1)]
Natural = Annotated[int, Ge(0)]
# Far above any server, so that a slip of the finger is an error and not an endless plan.
Guests = Annotated[int, Ge(1), Le(100_000)]
Vcpus = Annotated[int, Ge(1), Le(4096)]
MemoryMib = Annotated[int, Ge(1), Le(64 << 20)]
VlanId = Annotated[int, Ge(1), Le(4094)]
# An IPv4 MTU is at least 68; 9702 is the most that the NICs Open vSwitch drives accept.
Mtu = Annotated[int, Ge(68), Le(9702)]
FrameBytes = Annotated[int, Ge(64), Le(9728)]
Share = Annotated[float, Gt(0), Le(1)]
Positive = Annotated[float, Gt(0)]
Rate = Annotated[float, Ge(0)]


class CpuPolicy(StrEnum):
    """Nova's hw:cpu_policy. mixed: `dedicated_cpus` are pinned, the other vCPUs float."""

    SHARED = "shared"
    DEDICATED = "dedicated"
    MIXED = "mixed"


class ThreadPolicy(StrEnum):
    """Nova's hw:cpu_thread_policy, and the two of the Kilo papers that Nova never shipped (S1)."""

    PREFER = "prefer"
    REQUIRE = "require"
    ISOLATE = "isolate"
    SEPARATE = "separate"
    AVOID = "avoid"


class EmulatorPolicy(StrEnum):
    SHARE = "share"
    ISOLATE = "isolate"


class PciNumaPolicy(StrEnum):
    """Nova's hw:pci_numa_affinity_policy; legacy: local, or a device whose node is unknown."""

    LEGACY = "legacy"
    PREFERRED = "preferred"
    REQUIRED = "required"
    SOCKET = "socket"


class InterfaceKind(StrEnum):
    """How a port reaches the guest. AUTO asks the planner to choose (S2)."""

    AUTO = "auto"
    VHOST = "vhost"
    SRIOV = "sriov"
    MACVTAP = "macvtap"
    VIRTIO = "virtio"

    @property
    def takes_vf(self) -> bool:
        return self in (InterfaceKind.SRIOV, InterfaceKind.MACVTAP)


class Pattern(StrEnum):
    """S2 section 2.1: in and out of the server, or from guest to guest inside it."""

    NORTH_SOUTH = "north-south"
    EAST_WEST = "east-west"


class DataPlane(StrEnum):
    """What the guest's application drives its ports with: DPDK, or the kernel's network stack."""

    DPDK = "dpdk"
    KERNEL = "kernel"


class NicUse(StrEnum):
    DPDK = "dpdk"
    SRIOV = "sriov"


class NetworkType(StrEnum):
    VLAN = "vlan"
    FLAT = "flat"


class HousekeepingPolicy(StrEnum):
    """Which physical cores the host keeps: the lowest of every node (S3), or of node 0 (S0)."""

    PER_NODE = "per-node"
    FIRST_NODE = "first-node"


class PmdSiblingPolicy(StrEnum):
    """What becomes of the SMT siblings of a PMD thread's CPU.

    idle: one thread per physical core, siblings stay unused (S0: best). pair: both threads are
    PMDs (Red Hat, S3). guest: one thread per core, siblings go to guests (audit rule 10 objects).
    """

    IDLE = "idle"
    PAIR = "pair"
    GUEST = "guest"


class MemoryModel(StrEnum):
    """How much huge page memory DPDK gets; plan/memory.py names the source of each."""

    S3_PER_PORT = "s3-per-port"
    S3_FIGURE_7 = "s3-figure-7"
    S3_AUTOMATED = "s3-automated"
    TRIPLEO = "tripleo"
    JETPACK = "jetpack"
    OVS_SHARED = "ovs-shared"
    OVS_PER_PORT = "ovs-per-port"


class HugePagePolicy(StrEnum):
    """demand: what the placed guests and DPDK need. maximum: all but the host's reserve."""

    DEMAND = "demand"
    MAXIMUM = "maximum"
    TRIPLEO = "tripleo"
    JETPACK = "jetpack"


class Objective(StrEnum):
    """pack: fill hosts one after another. spread: even load, as Nova's default weighers do."""

    PACK = "pack"
    SPREAD = "spread"


class GroupPolicy(StrEnum):
    AFFINITY = "affinity"
    ANTI_AFFINITY = "anti-affinity"


@dataclass(frozen=True, slots=True)
class Network:
    """A provider network. segment: VLAN id. transparent_vlan: tagged frames reach the guest."""

    name: str
    physical_network: str
    type: NetworkType = NetworkType.FLAT
    segment: VlanId | None = None
    mtu: Mtu = 1500
    transparent_vlan: bool = False
    cidr: str | None = None


@dataclass(frozen=True, slots=True)
class Nic:
    """Which PCI addresses or interface names of which hosts (shell patterns) carry a network."""

    network: str
    use: NicUse
    ports: tuple[str, ...]
    hosts: tuple[str, ...] = ("*",)
    bond: str | None = None
    vfs: Natural | None = None


@dataclass(frozen=True, slots=True)
class PciAlias:
    """Nova's [pci]alias: a name for vendor and product. type: type-PCI, type-PF or type-VF."""

    name: str
    vendor: str
    product: str
    type: str = "type-PCI"


@dataclass(frozen=True, slots=True)
class Device:
    """`count` passed-through devices of one alias."""

    alias: str
    count: Count = 1


@dataclass(frozen=True, slots=True)
class Port:
    """One virtual NIC. rate_fps and frame_bytes are the demand offered *to* the guest.

    frame_bytes includes the FCS. chain names the [[chain]] an east-west port belongs to.
    """

    name: str
    network: str
    kind: InterfaceKind = InterfaceKind.AUTO
    rate_fps: Rate = 0.0
    frame_bytes: FrameBytes = 64
    pattern: Pattern = Pattern.NORTH_SOUTH
    chain: str | None = None
    port_security: bool = True
    queues: Count | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The order in which east-west traffic visits VNFs."""

    name: str
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    policy: GroupPolicy
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A host aggregate: which hosts (shell patterns) and the metadata that flavors match."""

    name: str
    hosts: tuple[str, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Vnf:
    """`count` equal guests. What image_properties say is already merged into the fields.

    page_size: KiB as text, or "small", "large", "any"; None: no demand. numa_cpus and
    numa_memory_mib have one entry per guest NUMA node. dedicated_cpus only with cpu_policy mixed.
    """

    name: str
    vcpus: Vcpus
    memory_mib: MemoryMib
    count: Guests = 1
    disk_gib: Natural = 20
    image: str = "guest"
    page_size: str | None = None
    cpu_policy: CpuPolicy | None = None
    thread_policy: ThreadPolicy | None = None
    dedicated_cpus: tuple[Natural, ...] = ()
    emulator_policy: EmulatorPolicy | None = None
    numa_nodes: Count | None = None
    numa_cpus: tuple[tuple[Natural, ...], ...] = ()
    numa_memory_mib: tuple[Count, ...] = ()
    pci_numa_policy: PciNumaPolicy | None = None
    cpu_features: tuple[str, ...] = ()
    multiqueue: bool | None = None
    data_plane: DataPlane = DataPlane.DPDK
    aggregate: str | None = None
    image_properties: Mapping[str, str] = field(default_factory=dict)
    devices: tuple[Device, ...] = ()
    ports: tuple[Port, ...] = ()


@dataclass(frozen=True, slots=True)
class CoreRules:
    """Who gets which CPUs. pmd_cores: physical cores per NUMA node; pmd_core_order: prefer these.

    vswitchd_own_core: ovs-vswitchd gets a core (S0) instead of the housekeeping CPUs (S3).
    shared_cores: cores per node for floating vCPUs, beside housekeeping. idle_cpus: nobody's.
    """

    housekeeping: HousekeepingPolicy = HousekeepingPolicy.PER_NODE
    housekeeping_cores: Count = 1
    vswitchd_own_core: bool = False
    pmd_siblings: PmdSiblingPolicy = PmdSiblingPolicy.PAIR
    pmd_cores: Mapping[Natural, Natural] | None = None
    pmd_core_order: tuple[Natural, ...] = ()
    pmd_on_nodes_without_nics: Natural = 1
    shared_cores: Natural = 0
    idle_cpus: tuple[Natural, ...] = ()


@dataclass(frozen=True, slots=True)
class VswitchRules:
    """Open vSwitch's DPDK memory and queues. pmd_load: the share of a PMD that may be planned."""

    memory_model: MemoryModel = MemoryModel.TRIPLEO
    socket_memory_mib: tuple[Natural, ...] | None = None
    rx_queues: Count | None = None
    descriptors: Annotated[int, Ge(64), Le(4096)] | None = None
    pmd_load: Share = 0.8
    pmd_hz: Positive | None = None


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """page_size_kib: the host's default huge page. host_reserve_mib: kept per host, all nodes."""

    page_size_kib: Count = 1048576
    huge_pages: HugePagePolicy = HugePagePolicy.DEMAND
    count: Natural | None = None
    percent: Annotated[int, Ge(1), Le(100)] = 50
    host_reserve_mib: Natural = 4096


@dataclass(frozen=True, slots=True)
class KernelRules:
    """extra: further words for the kernel command line, after the derived ones."""

    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacementRules:
    """cpu_ratio and ram_ratio are Nova's allocation ratios for guests that are not pinned.

    keep_running: plan around the guests that run on the hosts, or as if they were gone.
    """

    objective: Objective = Objective.PACK
    cpu_ratio: Positive = 4.0
    ram_ratio: Positive = 1.0
    keep_running: bool = True


@dataclass(frozen=True, slots=True)
class Workload:
    """Everything asked for. warnings: wishes that were read but must be carried out differently."""

    name: str
    vnfs: tuple[Vnf, ...]
    description: str = ""
    networks: tuple[Network, ...] = ()
    nics: tuple[Nic, ...] = ()
    aliases: tuple[PciAlias, ...] = ()
    chains: tuple[Chain, ...] = ()
    groups: tuple[Group, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    cores: CoreRules = field(default_factory=CoreRules)
    vswitch: VswitchRules = field(default_factory=VswitchRules)
    memory: MemoryRules = field(default_factory=MemoryRules)
    kernel: KernelRules = field(default_factory=KernelRules)
    placement: PlacementRules = field(default_factory=PlacementRules)
    warnings: tuple[str, ...] = ()

    def network(self, name: str) -> Network:
        return next(n for n in self.networks if n.name == name)

    def alias(self, name: str) -> PciAlias:
        return next(a for a in self.aliases if a.name == name)
