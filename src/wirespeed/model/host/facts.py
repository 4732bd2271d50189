# SPDX-License-Identifier: Apache-2.0
"""Define the facts of one host: CPUs, memory, PCI devices, kernel, vSwitch and guests.

Facts record what was read; a Finding judges it. None means unknown or absent. `HostFacts.missing`
lists the facts that could not be read, wholly or partly, with the reason. CPU sets are ascending
tuples of the kernel's CPU numbers. Sizes are in KiB unless the name has another unit.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.host.guest_facts import Flavor, Guest, NovaFacts
from wirespeed.model.host.neighbours import Neighbours
from wirespeed.model.host.operating_system import OperatingSystem
from wirespeed.model.host.ovs_facts import OvsFacts
from wirespeed.model.host.platform import (
    BootEnvironment,
    Service,
    SmiCount,
    Tuned,
    Uncore,
    Vulnerability,
)
from wirespeed.model.host.switch_facts import SwitchFacts
from wirespeed.model.input.text import HexId, HostName, InterfaceName, Line, PciAddress, Word


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact that could not be read: its name in HostFacts, and the reason, e.g. "needs root"."""

    fact: Line
    reason: Line


@dataclass(frozen=True, slots=True)
class IdleState:
    """A cpuidle state (C-state) of one CPU; `disabled` is set by the administrator."""

    name: Line
    exit_latency_us: int
    disabled: bool


@dataclass(frozen=True, slots=True)
class Cpu:
    """One logical CPU (lcore).

    `siblings` are the SMT threads of its core, including the CPU itself. `allowed` is true if the
    reading process may run there (cpuset, affinity). An offline CPU has no topology: `node`,
    `package` and `core` are None, and it is its only sibling.
    """

    id: int
    node: int | None = 0
    package: int | None = 0
    core: int | None = 0
    siblings: tuple[int, ...] = ()
    online: bool = True
    allowed: bool = True
    governor: Word | None = None
    idle_states: tuple[IdleState, ...] = ()


@dataclass(frozen=True, slots=True)
class Cache:
    """One cache and the CPUs that share it; kind is Data, Instruction or Unified."""

    level: int
    kind: Word
    size_kib: int
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HugePagePool:
    """Huge pages of one size on one NUMA node; `total` and `free` count pages."""

    size_kib: int
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class NumaNode:
    """A NUMA node.

    `distances` has one entry per node, in node order (10 = local). `memory_kib` is the memory that
    the kernel uses (MemTotal). `installed_kib` is the size of all memory blocks. `online_kib` is
    the size of the online blocks, including memory that the kernel keeps for itself. Both are None
    if the kernel has no memory blocks or they were not read.
    """

    id: int
    cpus: tuple[int, ...]
    memory_kib: int
    free_kib: int
    distances: tuple[int, ...] = (10,)
    huge_pages: tuple[HugePagePool, ...] = ()
    installed_kib: int | None = None
    online_kib: int | None = None

    @property
    def offline_kib(self) -> int:
        """Memory that is installed but not online, in KiB; 0 if unknown."""
        return (self.installed_kib or 0) - (self.online_kib or 0)

    def pool(self, size_kib: int) -> HugePagePool | None:
        return next((p for p in self.huge_pages if p.size_kib == size_kib), None)


@dataclass(frozen=True, slots=True)
class PciDevice:
    """A network device, crypto unit or accelerator on PCI.

    `class_code` 0x020000 is Ethernet. `node` is None if the firmware reports -1. Link widths are in
    lanes, link speeds in GT/s; both are None on devices without a PCIe link. Only a VF has a
    `physical_function`.
    """

    address: PciAddress
    vendor: HexId
    device: HexId
    class_code: int = 0x020000
    node: int | None = 0
    driver: Word | None = None
    interfaces: tuple[InterfaceName, ...] = ()
    link_width: int | None = None
    max_link_width: int | None = None
    link_gts: float | None = None
    max_link_gts: float | None = None
    sriov_total: int = 0
    sriov_num: int = 0
    physical_function: PciAddress | None = None
    iommu_group: int | None = None

    @property
    def is_nic(self) -> bool:
        return self.class_code >> 16 == 0x02


@dataclass(frozen=True, slots=True)
class Interface:
    """A kernel network interface; `master` is its bond, team or bridge."""

    name: InterfaceName
    mtu: int
    up: bool
    speed_mbps: int | None = None
    pci: PciAddress | None = None
    master: InterfaceName | None = None
    master_is_bond: bool = False
    rx_queues: int = 0
    tx_queues: int = 0


@dataclass(frozen=True, slots=True)
class Irq:
    """An interrupt with its allowed CPUs, its effective CPUs, and its handlers (`actions`)."""

    number: int
    cpus: tuple[int, ...]
    effective: tuple[int, ...] = ()
    actions: Line = ""


@dataclass(frozen=True, slots=True)
class Kernel:
    """Release and parameters of the running kernel.

    `isolated` and `nohz_full` are the values in effect; None if the kernel does not report them.
    """

    release: Word
    cmdline: Line
    isolated: tuple[int, ...] = ()
    nohz_full: tuple[int, ...] | None = ()
    rcu_nocbs: tuple[int, ...] = ()

    def parameter(self, name: str) -> str | None:
        """Return the last value of `name=value` on the command line.

        Returns "" for a bare word, None if the word is missing.
        """
        found = None
        for word in self.cmdline.split():
            key, equals, value = word.partition("=")
            if key == name:
                found = value if equals else ""
        return found


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """Settings by which the kernel itself takes time from CPUs; None: it has no such setting."""

    nmi_watchdog: bool | None = None
    transparent_huge_pages: Word | None = None
    """always, madvise or never."""
    ksm: bool | None = None
    """Kernel samepage merging runs."""
    stat_interval_s: int | None = None
    rt_runtime_us: int | None = None
    """Time that real-time threads get of each period; -1: no limit."""
    rt_period_us: int | None = None
    workqueue_cpus: tuple[int, ...] | None = None
    """CPUs of unbound workqueues."""
    aspm_policy: Word | None = None
    """Power management of PCIe links: default, performance, powersave or powersupersave."""


@dataclass(frozen=True, slots=True)
class Dimm:
    """A memory slot, by the board's name.

    `speed_mts` is the configured speed in MT/s; None for an empty slot, or if the firmware does not
    report it. `size_mib` is 0 for an empty slot.
    """

    slot: Line
    size_mib: int
    speed_mts: int | None = None


@dataclass(frozen=True, slots=True)
class Firmware:
    """Board and firmware settings; `turbo` is None if no driver reports it."""

    vendor: Line = ""
    product: Line = ""
    bios_version: Line = ""
    bios_date: Line = ""
    microcode: Line = ""
    turbo: bool | None = None


@dataclass(frozen=True, slots=True)
class HostFacts:
    """All facts of one host.

    `memory_channels` counts the populated channels of all nodes. `dimms` lists all slots; empty if
    the firmware's table could not be read. `uio_drivers` lists the registered ones of vfio-pci,
    igb_uio and uio_pci_generic. `left_by_killed_runs` describes each change to the host that a
    killed run of this machine's wirespeed left; None for a recorded host. `neighbours` is the load
    of other programs during a run on this host; None if no run was given. `housekeeping` is None if
    the kernel has no such setting, or in a file of an older version.
    """

    host: HostName
    kernel: Kernel
    cpus: tuple[Cpu, ...]
    nodes: tuple[NumaNode, ...]
    cpu_model: Line = ""
    cpu_flags: tuple[Word, ...] = ()
    caches: tuple[Cache, ...] = ()
    memory_channels: int | None = None
    pci: tuple[PciDevice, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    default_route_interface: InterfaceName | None = None
    irqs: tuple[Irq, ...] | None = None
    iommu_units: tuple[Word, ...] = ()
    uio_drivers: tuple[Word, ...] = ()
    ovs: OvsFacts | None = None
    guests: tuple[Guest, ...] | None = None
    nova: NovaFacts | None = None
    flavors: tuple[Flavor, ...] | None = None
    firmware: Firmware | None = None
    dimms: tuple[Dimm, ...] = ()
    left_by_killed_runs: tuple[Line, ...] | None = None
    neighbours: Neighbours | None = None
    housekeeping: Housekeeping | None = None
    uncore: tuple[Uncore, ...] | None = None
    ddio_ways: int | None = None
    """Fewest ways of a package's last-level cache that devices may write to (Intel DDIO)."""
    vulnerabilities: tuple[Vulnerability, ...] | None = None
    services: tuple[Service, ...] | None = None
    tuned: Tuned | None = None
    boot_environment: BootEnvironment | None = None
    smis: SmiCount | None = None
    """Of a qualification of this host; None if none was given."""
    operating_system: OperatingSystem | None = None
    switches: tuple[SwitchFacts, ...] = ()
    """Deployed vSwitches other than Open vSwitch."""
    missing: tuple[Missing, ...] = ()

    @property
    def online_cpus(self) -> tuple[int, ...]:
        return tuple(c.id for c in self.cpus if c.online)

    @property
    def nics(self) -> tuple[PciDevice, ...]:
        """Network devices, including VFs."""
        return tuple(d for d in self.pci if d.is_nic)

    @property
    def smt(self) -> bool:
        """A core runs more than one thread."""
        return any(len(c.siblings) > 1 for c in self.cpus)

    def switch(self, kind: str) -> SwitchFacts | None:
        """Return the deployed vSwitch of that type; None where the host runs none."""
        return next((one for one in self.switches if one.kind == kind), None)

    def cpu(self, cpu_id: int) -> Cpu | None:
        return next((c for c in self.cpus if c.id == cpu_id), None)

    def node_of(self, cpu_id: int) -> int | None:
        found = self.cpu(cpu_id)
        return found.node if found else None

    def siblings(self, cpu_id: int) -> tuple[int, ...]:
        """Return the SMT threads of the CPU's core, including the CPU itself."""
        found = self.cpu(cpu_id)
        return found.siblings if found and found.siblings else (cpu_id,)

    def why_missing(self, fact: str) -> str | None:
        """Return why the fact could not be read; None if it was read or is absent."""
        return next((m.reason for m in self.missing if m.fact == fact), None)
