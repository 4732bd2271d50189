# SPDX-License-Identifier: Apache-2.0
"""What is true of one host: its CPUs, memory, PCI devices, kernel, vSwitch and guests?

Facts say what was read, not whether it is good (that is a Finding). None means unknown or absent;
which of the two, `HostFacts.missing` tells: a fact listed there could not be read, or only in part,
and why. CPU sets are ascending tuples of the kernel's CPU numbers. Sizes are KiB unless the name
says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact that could not be read: its name (as in HostFacts) and why, e.g. "needs root"."""

    fact: str
    reason: str


@dataclass(frozen=True, slots=True)
class IdleState:
    """A cpuidle state (C-state) of one CPU; `disabled` is the administrator's switch."""

    name: str
    exit_latency_us: int
    disabled: bool


@dataclass(frozen=True, slots=True)
class Cpu:
    """One logical CPU (lcore). `siblings` are its SMT threads, itself included.

    allowed: whether the process that looked may run there (cpuset, affinity). An offline CPU has
    no topology: node, package and core are None and siblings is itself alone.
    """

    id: int
    node: int | None = 0
    package: int | None = 0
    core: int | None = 0
    siblings: tuple[int, ...] = ()
    online: bool = True
    allowed: bool = True
    governor: str | None = None
    idle_states: tuple[IdleState, ...] = ()


@dataclass(frozen=True, slots=True)
class Cache:
    """One cache and the CPUs that share it; kind is Data, Instruction or Unified."""

    level: int
    kind: str
    size_kib: int
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HugePagePool:
    """The huge pages of one size on one NUMA node, in pages."""

    size_kib: int
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class NumaNode:
    """`distances` has one entry per node, in node order (10 = local)."""

    id: int
    cpus: tuple[int, ...]
    memory_kib: int
    free_kib: int
    distances: tuple[int, ...] = (10,)
    huge_pages: tuple[HugePagePool, ...] = ()

    def pool(self, size_kib: int) -> HugePagePool | None:
        return next((p for p in self.huge_pages if p.size_kib == size_kib), None)


@dataclass(frozen=True, slots=True)
class PciDevice:
    """A network device, crypto unit or accelerator on PCI.

    class_code: 0x020000 is Ethernet. node is None where the firmware says -1. Link widths in lanes,
    speeds in GT/s; None on devices without a PCIe link. `physical_function` is set on a VF.
    """

    address: str
    vendor: str
    device: str
    class_code: int = 0x020000
    node: int | None = 0
    driver: str | None = None
    interfaces: tuple[str, ...] = ()
    link_width: int | None = None
    max_link_width: int | None = None
    link_gts: float | None = None
    max_link_gts: float | None = None
    sriov_total: int = 0
    sriov_num: int = 0
    physical_function: str | None = None
    iommu_group: int | None = None

    @property
    def is_nic(self) -> bool:
        return self.class_code >> 16 == 0x02


@dataclass(frozen=True, slots=True)
class Interface:
    """A kernel network interface. `master` is the bond, team or bridge it belongs to."""

    name: str
    mtu: int
    up: bool
    speed_mbps: int | None = None
    pci: str | None = None
    master: str | None = None
    master_is_bond: bool = False
    rx_queues: int = 0
    tx_queues: int = 0


@dataclass(frozen=True, slots=True)
class Irq:
    """An interrupt: where it may run (`cpus`), where it does (`effective`) and for whom."""

    number: int
    cpus: tuple[int, ...]
    effective: tuple[int, ...] = ()
    actions: str = ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """`isolated` and `nohz_full` are what the kernel runs with; None where it cannot say."""

    release: str
    cmdline: str
    isolated: tuple[int, ...] = ()
    nohz_full: tuple[int, ...] | None = ()
    rcu_nocbs: tuple[int, ...] = ()

    def parameter(self, name: str) -> str | None:
        """The last value of `name=value` on the command line, "" for a bare word, or None."""
        found = None
        for word in self.cmdline.split():
            key, equals, value = word.partition("=")
            if key == name:
                found = value if equals else ""
        return found


@dataclass(frozen=True, slots=True)
class Rxq:
    """A receive queue a PMD thread polls; usage_percent is None while OVS has no figure yet."""

    port: str
    queue: int
    enabled: bool = True
    usage_percent: int | None = None


@dataclass(frozen=True, slots=True)
class PmdThread:
    core: int
    node: int
    isolated: bool = False
    rxqs: tuple[Rxq, ...] = ()


@dataclass(frozen=True, slots=True)
class OvsInterface:
    """One interface of a bridge. Queue and descriptor counts are None where OVS does not say.

    `bond` names the OVS bond it belongs to. pci is the address in options:dpdk-devargs.
    """

    name: str
    bridge: str
    type: str = "system"
    options: Mapping[str, str] = field(default_factory=dict)
    mtu: int | None = None
    mtu_request: int | None = None
    bond: str | None = None
    pci: str | None = None
    node: int | None = None
    error: str | None = None
    requested_rx_queues: int | None = None
    configured_rx_queues: int | None = None
    requested_tx_queues: int | None = None
    configured_tx_queues: int | None = None
    rx_descriptors: int | None = None
    tx_descriptors: int | None = None

    @property
    def is_dpdk_port(self) -> bool:
        """Whether a physical (DPDK ethdev) port; vhost-user and dpdkr ports are not."""
        return self.type == "dpdk"

    @property
    def is_vhost(self) -> bool:
        return self.type in ("dpdkvhostuser", "dpdkvhostuserclient")


@dataclass(frozen=True, slots=True)
class Bridge:
    name: str
    datapath_type: str
    ports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OvsFacts:
    """A running Open vSwitch. `pmds` is None where the daemon did not answer."""

    version: str
    dpdk_initialized: bool
    other_config: Mapping[str, str] = field(default_factory=dict)
    dpdk_version: str | None = None
    bridges: tuple[Bridge, ...] = ()
    interfaces: tuple[OvsInterface, ...] = ()
    pmds: tuple[PmdThread, ...] | None = ()


@dataclass(frozen=True, slots=True)
class VcpuPin:
    vcpu: int
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GuestPort:
    """A guest's network interface: libvirt's type (vhostuser, bridge, hostdev...) and queues."""

    kind: str
    queues: int = 1
    path: str | None = None
    pci: str | None = None


@dataclass(frozen=True, slots=True)
class Guest:
    """A running libvirt domain, or a server that holds its place on the host though it is off.

    huge_page_kib: None without huge pages, 0 for any size. node_memory_kib has one entry for each
    of memory_nodes; empty: equal parts.
    """

    name: str
    vcpus: int
    memory_kib: int
    pins: tuple[VcpuPin, ...] = ()
    emulator_cpus: tuple[int, ...] | None = None
    memory_nodes: tuple[int, ...] = ()
    huge_page_kib: int | None = None
    ports: tuple[GuestPort, ...] = ()
    host_devices: tuple[str, ...] = ()
    cpu_mode: str | None = None
    cpu_model: str | None = None
    node_memory_kib: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NovaFacts:
    """What nova.conf says; None where it is silent (Nova's own default applies)."""

    path: str
    dedicated_cpus: tuple[int, ...] | None = None
    shared_cpus: tuple[int, ...] | None = None
    vcpu_pin_set: tuple[int, ...] | None = None
    enabled_filters: tuple[str, ...] | None = None
    device_specs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    cpu_mode: str | None = None
    cpu_models: tuple[str, ...] = ()
    cpu_extra_flags: tuple[str, ...] = ()
    reserved_memory_mib: int | None = None

    @property
    def guest_cpus(self) -> tuple[int, ...] | None:
        """The CPUs for pinned guests: cpu_dedicated_set, or the older vcpu_pin_set."""
        return self.dedicated_cpus if self.dedicated_cpus is not None else self.vcpu_pin_set


@dataclass(frozen=True, slots=True)
class Flavor:
    """A Nova flavor as `openstack flavor list --long` shows it."""

    name: str
    vcpus: int
    memory_mib: int
    extra_specs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dimm:
    """A memory slot by the board's name for it. speed_mts: the configured speed in MT/s, of an
    empty slot and where the firmware does not say None; size_mib is 0 for an empty slot."""

    slot: str
    size_mib: int
    speed_mts: int | None = None


@dataclass(frozen=True, slots=True)
class Firmware:
    """What the board is and how its firmware has set it up. turbo: None where no driver says."""

    vendor: str = ""
    product: str = ""
    bios_version: str = ""
    bios_date: str = ""
    microcode: str = ""
    turbo: bool | None = None


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Everything known of one host. memory_channels: populated ones, over all nodes.
    dimms: of every slot; empty where the firmware's table could not be read.

    uio_drivers: which of vfio-pci, igb_uio and uio_pci_generic the kernel has registered.
    """

    host: str
    kernel: Kernel
    cpus: tuple[Cpu, ...]
    nodes: tuple[NumaNode, ...]
    cpu_model: str = ""
    cpu_flags: tuple[str, ...] = ()
    caches: tuple[Cache, ...] = ()
    memory_channels: int | None = None
    pci: tuple[PciDevice, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    default_route_interface: str | None = None
    irqs: tuple[Irq, ...] | None = None
    iommu_units: tuple[str, ...] = ()
    uio_drivers: tuple[str, ...] = ()
    ovs: OvsFacts | None = None
    guests: tuple[Guest, ...] | None = None
    nova: NovaFacts | None = None
    flavors: tuple[Flavor, ...] | None = None
    firmware: Firmware | None = None
    dimms: tuple[Dimm, ...] = ()
    missing: tuple[Missing, ...] = ()

    @property
    def online_cpus(self) -> tuple[int, ...]:
        return tuple(c.id for c in self.cpus if c.online)

    @property
    def nics(self) -> tuple[PciDevice, ...]:
        """The network devices, VFs included."""
        return tuple(d for d in self.pci if d.is_nic)

    @property
    def smt(self) -> bool:
        """Whether any core runs more than one thread."""
        return any(len(c.siblings) > 1 for c in self.cpus)

    def cpu(self, cpu_id: int) -> Cpu | None:
        return next((c for c in self.cpus if c.id == cpu_id), None)

    def node_of(self, cpu_id: int) -> int | None:
        found = self.cpu(cpu_id)
        return found.node if found else None

    def siblings(self, cpu_id: int) -> tuple[int, ...]:
        """The SMT threads of the CPU's core, itself included."""
        found = self.cpu(cpu_id)
        return found.siblings if found and found.siblings else (cpu_id,)

    def why_missing(self, fact: str) -> str | None:
        """Why the fact could not be read, or None when it was read or the host has none."""
        return next((m.reason for m in self.missing if m.fact == fact), None)
