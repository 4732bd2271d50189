# SPDX-License-Identifier: Apache-2.0
"""Define a workload: the guests to run, and the rules that partition hosts for them.

`plan/workload_file` reads and validates the TOML; the bounds in the types are the only bounds. None
means that the planner decides and gives the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Le

from wirespeed.model.frame import VlanId
from wirespeed.model.input.text import (
    AliasType,
    Cidr,
    Glob,
    HexId,
    ImageName,
    Label,
    Line,
    Name,
    Prose,
    Word,
)
from wirespeed.model.plan.host_rules import (
    CoreRules,
    Count,
    KernelRules,
    MemoryRules,
    Natural,
    PlacementRules,
    VswitchRules,
)
from wirespeed.model.plan.kubelet import CpuOption, TopologyPolicy, TopologyScope
from wirespeed.model.plan.policy import (
    CpuPolicy,
    DataPlane,
    EmulatorPolicy,
    GroupPolicy,
    InterfaceKind,
    NetworkType,
    NicUse,
    Pattern,
    PciNumaPolicy,
    ThreadPolicy,
    VnfKind,
)

# Far above any server: a typing error becomes an error, not an endless plan.
Guests = Annotated[int, Ge(1), Le(100_000)]
Vcpus = Annotated[int, Ge(1), Le(4096)]
MemoryMib = Annotated[int, Ge(1), Le(64 << 20)]
# An IPv4 MTU is at least 68. NICs that Open vSwitch supports accept at most 9702.
Mtu = Annotated[int, Ge(68), Le(9702)]
FrameBytes = Annotated[int, Ge(64), Le(9728)]
Rate = Annotated[float, Ge(0)]


@dataclass(frozen=True, slots=True)
class ProviderNetwork:
    """A provider network.

    `segment` is the VLAN id. `transparent_vlan` is true if tagged frames reach the guest. `cidr` is
    the subnet to create with the network; None if the network exists.
    """

    name: Name
    physical_network: Name
    type: NetworkType = NetworkType.FLAT
    segment: VlanId | None = None
    mtu: Mtu = 1500
    transparent_vlan: bool = False
    cidr: Cidr | None = None


@dataclass(frozen=True, slots=True)
class Nic:
    """Host ports that carry a network."""

    network: Name
    use: NicUse
    ports: tuple[Glob, ...]
    """PCI addresses or interface names, as shell patterns."""
    hosts: tuple[Glob, ...] = ("*",)
    """Host names, as shell patterns."""
    bond: Name | None = None
    vfs: Natural | None = None


@dataclass(frozen=True, slots=True)
class PciAlias:
    """Nova's [pci]alias: a name for vendor and product; `type` is type-PCI, type-PF or type-VF."""

    name: Name
    vendor: HexId
    product: HexId
    type: AliasType = "type-PCI"


@dataclass(frozen=True, slots=True)
class Device:
    """`count` passed-through devices of one alias."""

    alias: Name
    count: Count = 1


@dataclass(frozen=True, slots=True)
class VnfPort:
    """One virtual NIC, with the load that is offered to the guest."""

    name: Name
    network: Name
    kind: InterfaceKind = InterfaceKind.AUTO
    rate_fps: Rate = 0.0
    """Offered load in frames/s."""
    frame_bytes: FrameBytes = 64
    """Frame size in octets, including the FCS."""
    pattern: Pattern = Pattern.NORTH_SOUTH
    chain: Label | None = None
    """Name of the [[chain]] of an east-west port."""
    port_security: bool = True
    queues: Count | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """Order in which east-west traffic visits VNFs."""

    name: Label
    order: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Group:
    name: Label
    policy: GroupPolicy
    members: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A host aggregate: hosts as shell patterns, and the metadata that flavors match."""

    name: Label
    hosts: tuple[Glob, ...]
    metadata: Mapping[Label, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PodContainer:
    """One container of a pod; requests and limits are equal unless a limit is given."""

    name: Name
    cpus: Annotated[float, Ge(0.001), Le(4096)]
    """CPUs; a whole number makes them exclusive."""
    memory_mib: MemoryMib
    """Ordinary memory, in addition to huge pages."""
    huge_pages_mib: Natural = 0
    page_size: Word | None = None
    """KiB as text; None: [memory] page_size."""
    image: ImageName = "registry.example/vnf:1"
    cpus_limit: Annotated[float, Ge(0.001), Le(4096)] | None = None
    memory_limit_mib: MemoryMib | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """Kubernetes nodes that have one kubelet configuration; they must be equal.

    None means that the planner decides and gives the reason.
    """

    name: Name
    hosts: tuple[Glob, ...] = ("*",)
    """Host names, as shell patterns."""
    kubernetes: Word = "1.34"
    """Release of the kubelet."""
    topology_policy: TopologyPolicy | None = None
    topology_scope: TopologyScope | None = None
    cpu_options: tuple[CpuOption, ...] | None = None
    """Options of the static CPU Manager policy."""
    prefer_closest: bool = False
    """Topology Manager option prefer-closest-numa-nodes."""


@dataclass(frozen=True, slots=True)
class Vnf:
    """`count` equal guests. The image properties are already merged into the fields.

    Of a pod, `count` is the number of replicas; `vcpus` and `memory_mib` are the sums over its
    containers.
    """

    name: Name
    vcpus: Vcpus
    memory_mib: MemoryMib
    count: Guests = 1
    disk_gib: Natural = 20
    image: Label = "guest"
    page_size: Word | None = None
    """KiB as text, or "small", "large", "any"; None: no requirement."""
    cpu_policy: CpuPolicy | None = None
    thread_policy: ThreadPolicy | None = None
    dedicated_cpus: tuple[Natural, ...] = ()
    """Only with cpu_policy mixed."""
    emulator_policy: EmulatorPolicy | None = None
    numa_nodes: Count | None = None
    numa_cpus: tuple[tuple[Natural, ...], ...] = ()
    """vCPUs of each guest NUMA node."""
    numa_memory_mib: tuple[Count, ...] = ()
    """Memory of each guest NUMA node, in MiB."""
    pci_numa_policy: PciNumaPolicy | None = None
    cpu_features: tuple[Word, ...] = ()
    multiqueue: bool | None = None
    data_plane: DataPlane = DataPlane.DPDK
    aggregate: Label | None = None
    image_properties: Mapping[Label, Line] = field(default_factory=dict)
    devices: tuple[Device, ...] = ()
    ports: tuple[VnfPort, ...] = ()
    kind: VnfKind = VnfKind.VM
    pool: Name | None = None
    """Name of the [[pool]] of a pod; None: the only one."""
    containers: tuple[PodContainer, ...] = ()
    """Containers of a pod; the first gets the VFs of all ports."""

    @property
    def instances(self) -> tuple[str, ...]:
        """Names of its guests or replicas; a Deployment appends text of its own to a replica's."""
        if self.count == 1:
            return (self.name,)
        return tuple(f"{self.name}-{number}" for number in range(1, self.count + 1))


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload file after validation."""

    name: Label
    vnfs: tuple[Vnf, ...]
    description: Prose = ""
    networks: tuple[ProviderNetwork, ...] = ()
    nics: tuple[Nic, ...] = ()
    aliases: tuple[PciAlias, ...] = ()
    chains: tuple[Chain, ...] = ()
    groups: tuple[Group, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    pools: tuple[Pool, ...] = ()
    cores: CoreRules = field(default_factory=CoreRules)
    vswitch: VswitchRules = field(default_factory=VswitchRules)
    memory: MemoryRules = field(default_factory=MemoryRules)
    kernel: KernelRules = field(default_factory=KernelRules)
    placement: PlacementRules = field(default_factory=PlacementRules)
    warnings: tuple[Line, ...] = ()
    """Settings that the planner treats differently."""

    def network(self, name: str) -> ProviderNetwork:
        return next(n for n in self.networks if n.name == name)

    def alias(self, name: str) -> PciAlias:
        return next(a for a in self.aliases if a.name == name)
