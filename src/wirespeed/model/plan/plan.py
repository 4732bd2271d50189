# SPDX-License-Identifier: Apache-2.0
"""Define a plan: cores, memory and queues of each host, each value with its reason.

One Plan type serves deployments (`wirespeed plan`) and benches (`wirespeed run`). A bench takes its
cores, memory and queues from its plan alone. Every decided value is a `Decision` with a reason. CPU
sets are ascending tuples. Fields that a bench does not need have a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Generic, TypeVar

from annotated_types import Ge, Le

from wirespeed.model.distribution import Family
from wirespeed.model.input.own_key import OwnValue
from wirespeed.model.input.text import (
    GuestName,
    HexId,
    HostName,
    ImageName,
    InterfaceName,
    KernelWord,
    Label,
    Line,
    Mac,
    Name,
    OptionalLabel,
    OptionalName,
    PciAddress,
    VfAddress,
    Word,
)
from wirespeed.model.plan.host_rules import MemoryModel
from wirespeed.model.plan.kubelet import CpuOption, NodeMemory, TopologyPolicy, TopologyScope
from wirespeed.model.plan.policy import InterfaceKind, NicUse
from wirespeed.model.plan.workload import Aggregate, Group, PciAlias, ProviderNetwork

T = TypeVar("T")
# Number of a logical CPU. Linux supports at most 8192 CPUs.
Cpu = Annotated[int, Ge(0), Le(8191)]
Cpus = tuple[Cpu, ...]


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """A value and its reason: one sentence with the source."""

    value: T
    because: Line


@dataclass(frozen=True, slots=True)
class HugePages:
    """`count` pages of `size_kib` on one NUMA node."""

    node: int
    size_kib: int
    count: int


@dataclass(frozen=True, slots=True)
class NodeCores:
    """Physical cores of one NUMA node, each with its SMT threads."""

    node: int
    cores: tuple[Cpus, ...]


@dataclass(frozen=True, slots=True)
class CorePlan:
    """CPUs of the host, of pinned guests and of floating guests; PMD threads are in VswitchPlan.

    The kernel's scheduler does not use `isolated` CPUs. `idle` CPUs are isolated and unused.
    """

    housekeeping: Decision[Cpus]
    isolated: Decision[Cpus]
    dedicated: Decision[Cpus]
    shared: Decision[Cpus]
    idle: Decision[Cpus]
    nodes: tuple[NodeCores, ...] = ()


@dataclass(frozen=True, slots=True)
class NicPlan:
    """One physical port and its use.

    `vfs` is the number of VFs to create; 0 for a DPDK port.
    """

    address: PciAddress
    node: int | None
    network: Name
    use: NicUse
    driver: Decision[Word]
    vfs: Decision[int]
    interface: InterfaceName | None = None
    bond: Name | None = None
    vendor: HexId = ""
    product: HexId = ""


@dataclass(frozen=True, slots=True)
class VswitchPlan:
    """The vSwitch of one host; `socket_memory_mib` has one entry per NUMA node."""

    main_cpus: Decision[Cpus]
    pmd_cpus: Decision[Cpus]
    socket_memory_mib: Decision[tuple[int, ...]]
    rx_queues: Decision[int]
    descriptors: Decision[int]
    mtu: Decision[int]
    memory_channels: Decision[int] | None = None
    memory_model: MemoryModel | None = None
    kind: OptionalName = ""
    """Type of the vSwitch of a deployment; empty on a bench, whose point names it."""
    own: Mapping[Name, Decision[OwnValue]] = field(default_factory=dict)
    """Keys that this type of vSwitch alone has."""
    process: Decision[ProcessMemory] | None = None
    """Memory of a switch that is a process of this project; None for others."""

    @property
    def deployed_kind(self) -> str:
        """Type of the vSwitch of a deployment. Plans before version 1.4 had one type."""
        return self.kind or "ovs-dpdk"


@dataclass(frozen=True, slots=True)
class PortPlan:
    """One virtual NIC; `device` is its VF, or None for a port of the vSwitch."""

    name: Name
    network: Name
    kind: Decision[InterfaceKind]
    queues: Decision[int]
    mac: Mac
    port_security: bool = True
    device: Decision[VfAddress] | None = None


@dataclass(frozen=True, slots=True)
class GuestDevice:
    """A passed-through device: its alias, and the PCI address of the PF or device."""

    alias: Name
    address: PciAddress


@dataclass(frozen=True, slots=True)
class GuestNode:
    """One guest NUMA node.

    `pins` lists pairs of vCPU and host CPU. Floating vCPUs use the host's shared CPUs. `page_kib`
    is 0 if the memory is not in reserved pages.
    """

    node: int
    pins: tuple[tuple[int, int], ...]
    floating: tuple[int, ...]
    memory_mib: int
    page_kib: int


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """Packet memory of one DPDK process, on each NUMA node where it polls.

    `mbufs` is the number of buffers, each with `data_bytes` of room, headroom included.
    `memory_mib` includes them and all other allocations of the process. `huge_pages` is false if
    ordinary memory is enough.
    """

    mbufs: int
    data_bytes: int
    memory_mib: int
    nodes: tuple[int, ...] = (0,)
    huge_pages: bool = True


@dataclass(frozen=True, slots=True)
class GuestPlan:
    """One network function and the CPUs on which its data plane polls.

    The following fields apply to a bench. `placement` is the value of sut.vnf.placement. `process`
    is the memory of the function's own process, for a VM within the VM's memory; None if the
    function runs in the generator's process. `floats_over` lists the CPUs among which the scheduler
    may move its thread; None if each of `cpus` has a thread of its own. `sizes` gives the reasons
    for a VM's vCPUs, memory and pages.
    """

    name: GuestName
    cpus: Decision[Cpus]
    flavor: OptionalName = ""
    vcpus: int = 0
    memory_mib: int = 0
    nodes: tuple[GuestNode, ...] = ()
    emulator_cpus: Decision[Cpus] | None = None
    ports: tuple[PortPlan, ...] = ()
    devices: tuple[GuestDevice, ...] = ()
    process: Decision[ProcessMemory] | None = None
    floats_over: Decision[Cpus] | None = None
    placement: OptionalName = ""
    sizes: tuple[Decision[Line], ...] = ()


@dataclass(frozen=True, slots=True)
class GeneratorPlan:
    """CPUs and memory of the traffic generator.

    `cpus` is in the order of its roles: sender and receiver of the first direction, then those of
    the second. With fewer CPUs than roles, adjacent roles share a CPU. `control_cpu` runs the
    threads that only answer requests. `shared` lists the functions that run in its process and poll
    on the same CPUs.
    """

    cpus: Decision[Cpus]
    control_cpu: Decision[Cpu]
    process: Decision[ProcessMemory]
    shared: tuple[GuestName, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacedContainer:
    """Resources that the kubelet gives a container; `cpus` is empty in the shared pool."""

    name: Name
    cpus: Cpus
    nodes: tuple[int, ...]
    """NUMA nodes of its CPUs, memory and VFs."""
    memory: tuple[NodeMemory, ...] = ()
    devices: tuple[VfAddress, ...] = ()
    """VFs near its CPUs; the kubelet takes any of the same NUMA node."""


@dataclass(frozen=True, slots=True)
class PlacedPod:
    """One replica on this host, in the order of admission."""

    name: GuestName
    containers: tuple[PlacedContainer, ...]


@dataclass(frozen=True, slots=True)
class ContainerPlan:
    """Resources of one container of a pod; requests equal limits."""

    name: Name
    image: ImageName
    cpu_m: Decision[int]
    """CPUs in 1/1000."""
    memory_mib: int
    huge_pages_mib: int = 0
    page_kib: int = 0


@dataclass(frozen=True, slots=True)
class PodPort:
    """One interface of a pod: the network, and the resource that its VF is taken from."""

    name: Name
    network: Name
    resource: Word
    port_security: bool = True


@dataclass(frozen=True, slots=True)
class PodPlan:
    """`replicas` equal pods; the first container gets the VFs of all ports."""

    name: Name
    pool: Name
    replicas: int
    polls: bool
    """Its data plane polls (DPDK)."""
    containers: tuple[ContainerPlan, ...]
    ports: tuple[PodPort, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """Configuration of all nodes of a pool."""

    name: Name
    hosts: tuple[HostName, ...]
    kubernetes: Word
    reserved_cpus: Decision[Cpus]
    isolated_cpus: Decision[Cpus]
    cpu_options: Decision[tuple[CpuOption, ...]]
    reserved_memory: Decision[tuple[NodeMemory, ...]]
    topology_policy: Decision[TopologyPolicy]
    topology_scope: Decision[TopologyScope]
    prefer_closest: bool
    huge_pages: Decision[tuple[HugePages, ...]]
    default_page_kib: int
    kernel: tuple[Decision[KernelWord], ...]
    ovs_cpus: Decision[Cpus] | None = None
    """CPUs among `reserved_cpus` for the PMD threads of the nodes' Open vSwitch."""


@dataclass(frozen=True, slots=True)
class HostPlan:
    """All decisions for one host; None or empty for a component that the host does not run.

    `kernel` lists the words of the kernel command line. `reserved_memory_mib` is kept from guests.
    On a bench without a generator on this host, `control_cpu` runs the threads that only answer
    requests. On a bench with bonded ports, `partner` is the switch at the other ends of the links.
    """

    host: HostName
    huge_pages: Decision[tuple[HugePages, ...]]
    vswitch: VswitchPlan | None = None
    guests: tuple[GuestPlan, ...] = ()
    generator: GeneratorPlan | None = None
    cores: CorePlan | None = None
    nics: tuple[NicPlan, ...] = ()
    kernel: tuple[Decision[KernelWord], ...] = ()
    reserved_memory_mib: Decision[int] | None = None
    control_cpu: Decision[Cpu] | None = None
    partner: VswitchPlan | None = None
    pods: tuple[PlacedPod, ...] = ()
    family: Family = Family.UNKNOWN
    """Distribution's family, which decides how the kernel command line is set."""


@dataclass(frozen=True, slots=True)
class FlavorPlan:
    """A Nova flavor and the properties of its image; `specs` are the extra specs."""

    name: Name
    vcpus: int
    memory_mib: int
    disk_gib: int
    specs: Mapping[Label, Decision[Line]]
    image: Label
    image_properties: Mapping[Label, Line] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shortage:
    """A resource that a NUMA node has too little of for a guest.

    `node` is None for the whole host. Equal hosts are listed together.
    """

    hosts: tuple[HostName, ...]
    node: int | None
    resource: Line
    needed: Line
    available: Line


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A guest that fits on no host; `change` is the smallest change found that makes it fit."""

    guest: GuestName
    shortages: tuple[Shortage, ...]
    change: Line | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan for all hosts.

    Create guests in the order of `order`, so that Nova places them as planned.
    """

    hosts: tuple[HostPlan, ...]
    workload: OptionalLabel = ""
    networks: tuple[ProviderNetwork, ...] = ()
    aliases: tuple[PciAlias, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    groups: tuple[Group, ...] = ()
    flavors: tuple[FlavorPlan, ...] = ()
    order: tuple[GuestName, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    pools: tuple[PoolPlan, ...] = ()
    pods: tuple[PodPlan, ...] = ()
    warnings: tuple[Line, ...] = ()

    @property
    def generator_host(self) -> HostPlan:
        """Host of the generator, on a bench."""
        return self.hosts[0]

    @property
    def sut_host(self) -> HostPlan:
        """Host of the switch and network functions, on a bench; may be the generator's host."""
        return self.hosts[-1]

    def network(self, name: str) -> ProviderNetwork:
        return next(n for n in self.networks if n.name == name)
