# SPDX-License-Identifier: Apache-2.0
"""Generate the /sys and /proc files and the command outputs of a described server.

A `Server` has the facts of a paper or data sheet; `runner` turns it into a FakeRunner. This module
does not depend on how wirespeed reads a host: the files have the kernel's layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.hosts.fake_runner import FakeRunner
from tests.hosts.vswitch import Vswitch, answer_ovs
from wirespeed.model.cpuset import format_list, format_mask, parse_list

CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"
PCI = "/sys/bus/pci/devices"
GIB_IN_KIB = 1024 * 1024


@dataclass(frozen=True)
class Nic:
    """A PCI function."""

    address: str
    node: int
    vendor: str
    device: str
    driver: str
    interface: str | None = None
    """None: bound to a user-space driver."""
    mbps: int = 10000
    mtu: int = 1500
    lanes: int = 8
    gts: str = "8.0"
    sriov_total: int = 0
    vfs: tuple[str, ...] = ()
    """Addresses of the existing VFs."""
    vf_device: str = ""
    vf_driver: str = "vfio-pci"
    class_code: int = 0x020000
    bond: str | None = None


@dataclass(frozen=True)
class Server:
    """A server."""

    name: str
    cpu_model: str
    flags: str
    cores_per_socket: int
    numbering: str
    """Numbering of the CPUs, "block" or "interleaved".

    "block": node 0 has the first CPUs, siblings follow all cores (S0). "interleaved": even CPUs are
    on node 0, odd ones on node 1 (S3).
    """
    memory_kib: tuple[int, ...]
    """In KiB per node."""
    free_kib: tuple[int, ...]
    release: str
    cmdline: str
    sockets: int = 2
    smt: bool = True
    isolated: str = ""
    nohz_full: str = ""
    pages_1g: tuple[int, ...] = (0, 0)
    pages_1g_free: tuple[int, ...] = (0, 0)
    cache_kib: tuple[int, int, int] = (32, 256, 25600)
    governor: str | None = "performance"
    idle_states: tuple[tuple[str, int], ...] = ()
    channels_per_socket: int = 4
    nics: tuple[Nic, ...] = ()
    default_route: str | None = None
    irq_cpus: str = "0"
    iommu: tuple[str, ...] = ()
    uio_drivers: tuple[str, ...] = ("vfio-pci",)
    nova_conf: str | None = None
    domains: dict[str, str] = field(default_factory=dict)
    ovs: Vswitch | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    """Further files by path, e.g. of its distribution."""

    @property
    def cores(self) -> int:
        return self.sockets * self.cores_per_socket

    @property
    def cpus(self) -> range:
        return range(self.cores * (2 if self.smt else 1))

    def node_of(self, cpu: int) -> int:
        core = cpu % self.cores
        return (
            core % self.sockets
            if self.numbering == "interleaved"
            else core // self.cores_per_socket
        )

    def siblings(self, cpu: int) -> tuple[int, ...]:
        core = cpu % self.cores
        return (core, core + self.cores) if self.smt else (core,)


def runner(server: Server) -> FakeRunner:
    """Return the server as a Runner with the answers of its kernel and programs."""
    fake = FakeRunner(name=server.name)
    lines: dict[str, str] = {
        "/proc/sys/kernel/hostname": server.name,
        "/proc/sys/kernel/osrelease": server.release,
        "/proc/cmdline": server.cmdline,
        f"{CPU}/present": f"0-{len(server.cpus) - 1}",
        f"{CPU}/possible": f"0-{len(server.cpus) - 1}",
        f"{CPU}/online": f"0-{len(server.cpus) - 1}",
        f"{CPU}/isolated": server.isolated,
        f"{CPU}/nohz_full": server.nohz_full,
        "/proc/self/status": f"Name:\tcat\nCpus_allowed_list:\t0-{len(server.cpus) - 1}",
        "/proc/cpuinfo": _cpuinfo(server),
        "/proc/net/route": _routes(server),
        "/proc/net/ipv6_route": "",
    }
    for cpu in server.cpus:
        lines |= _cpu(server, cpu)
    for node in range(server.sockets):
        lines |= _node(server, node)
    for number, nic in enumerate(server.nics):
        lines |= _nic(nic, group=20 + number)
    for group, nic in enumerate(server.nics):
        lines |= _vfs(nic, group=100 + 10 * group)
    lines |= _interrupts(server) | {f"/sys/class/iommu/{name}/uevent": "" for name in server.iommu}
    lines |= {f"/sys/bus/pci/drivers/{name}/uevent": "" for name in server.uio_drivers}
    if server.nova_conf is not None:
        lines["/etc/nova/nova.conf"] = server.nova_conf
    fake.files.update({path: f"{text}\n" for path, text in lines.items()})
    fake.files.update(server.files)
    _answer_virsh(fake, server)
    if server.ovs:
        answer_ovs(fake, server.ovs)
    return fake


def _cpu(server: Server, cpu: int) -> dict[str, str]:
    base, node, core = f"{CPU}/cpu{cpu}", server.node_of(cpu), cpu % server.cores
    number = core // server.sockets if server.numbering == "interleaved" else core
    siblings = format_list(server.siblings(cpu))
    lines = {
        f"{base}/topology/core_id": str(number % server.cores_per_socket),
        f"{base}/topology/physical_package_id": str(node),
        f"{base}/topology/thread_siblings_list": siblings,
    }
    if server.governor:
        lines[f"{base}/cpufreq/scaling_governor"] = server.governor
    for n, (name, latency_us) in enumerate(server.idle_states):
        state = f"{base}/cpuidle/state{n}"
        lines |= {
            f"{state}/name": name,
            f"{state}/latency": str(latency_us),
            f"{state}/disable": "0",
        }
    l1, l2, l3 = server.cache_kib
    socket = format_list(c for c in server.cpus if server.node_of(c) == node)
    caches = [(1, "Data", l1, siblings), (1, "Instruction", l1, siblings)]
    caches += [(2, "Unified", l2, siblings), (3, "Unified", l3, socket)]
    for n, (level, kind, size, shared) in enumerate(caches):
        index = f"{base}/cache/index{n}"
        lines |= {
            f"{index}/level": str(level),
            f"{index}/type": kind,
            f"{index}/size": f"{size}K",
            f"{index}/shared_cpu_list": shared,
        }
    return lines


def _node(server: Server, node: int) -> dict[str, str]:
    base = f"{NODE}/node{node}"
    pages = f"{base}/hugepages/hugepages-1048576kB"
    small = f"{base}/hugepages/hugepages-2048kB"
    lines = {
        f"{base}/cpulist": format_list(c for c in server.cpus if server.node_of(c) == node),
        f"{base}/distance": " ".join("10" if n == node else "21" for n in range(server.sockets)),
        f"{base}/meminfo": f"Node {node} MemTotal:       {server.memory_kib[node]} kB\n"
        f"Node {node} MemFree:        {server.free_kib[node]} kB",
        f"{pages}/nr_hugepages": str(server.pages_1g[node]),
        f"{pages}/free_hugepages": str(server.pages_1g_free[node]),
        f"{small}/nr_hugepages": "0",
        f"{small}/free_hugepages": "0",
    }
    for channel in range(server.channels_per_socket):
        dimm = f"/sys/devices/system/edac/mc/mc{node}/dimm{channel}"
        lines |= {f"{dimm}/dimm_location": f"channel {channel} slot 0 ", f"{dimm}/size": "16384"}
    return lines


def _nic(nic: Nic, group: int) -> dict[str, str]:
    base = f"{PCI}/{nic.address}"
    lines = {
        f"{base}/class": f"{nic.class_code:#08x}",
        f"{base}/vendor": f"0x{nic.vendor}",
        f"{base}/device": f"0x{nic.device}",
        f"{base}/numa_node": str(nic.node),
        f"{base}/current_link_width": str(nic.lanes),
        f"{base}/max_link_width": str(nic.lanes),
        f"{base}/current_link_speed": f"{nic.gts} GT/s PCIe",
        f"{base}/max_link_speed": f"{nic.gts} GT/s PCIe",
        f"{base}/uevent": f"DRIVER={nic.driver}\nPCI_SLOT_NAME={nic.address}",
        f"/sys/kernel/iommu_groups/{group}/devices/{nic.address}": "",
    }
    if nic.sriov_total:
        lines[f"{base}/sriov_totalvfs"] = str(nic.sriov_total)
        lines[f"{base}/sriov_numvfs"] = str(len(nic.vfs))
    if nic.interface:
        net = f"/sys/class/net/{nic.interface}"
        lines |= {
            f"{base}/net/{nic.interface}/mtu": str(nic.mtu),
            f"{net}/mtu": str(nic.mtu),
            f"{net}/operstate": "up",
            f"{net}/speed": str(nic.mbps),
        }
        if nic.bond:
            lines[f"{net}/master/uevent"] = f"DEVTYPE=bond\nINTERFACE={nic.bond}"
        lines |= {f"{net}/queues/{d}-{n}/uevent": "" for d in ("rx", "tx") for n in range(8)}
    return lines


def _vfs(nic: Nic, group: int) -> dict[str, str]:
    lines = {}
    for number, address in enumerate(nic.vfs):
        base = f"{PCI}/{address}"
        lines |= {
            f"{base}/class": "0x020000",
            f"{base}/vendor": f"0x{nic.vendor}",
            f"{base}/device": f"0x{nic.vf_device}",
            f"{base}/numa_node": str(nic.node),
            f"{base}/uevent": f"DRIVER={nic.vf_driver}\nPCI_SLOT_NAME={address}",
            f"{base}/physfn/uevent": f"DRIVER={nic.driver}\nPCI_SLOT_NAME={nic.address}",
            f"/sys/kernel/iommu_groups/{group + number}/devices/{address}": "",
        }
    return lines


def _interrupts(server: Server) -> dict[str, str]:
    lines = {}
    cpus = parse_list(server.irq_cpus)
    for number, nic in enumerate(n for n in server.nics if n.interface):
        irq = 60 + number
        lines |= {
            f"/sys/kernel/irq/{irq}/actions": f"{nic.driver}-{nic.interface}-TxRx-0",
            f"/proc/irq/{irq}/smp_affinity_list": format_list(cpus),
            f"/proc/irq/{irq}/effective_affinity_list": str(cpus[number % len(cpus)]),
        }
    return lines


def _cpuinfo(server: Server) -> str:
    return f"processor\t: 0\nmodel name\t: {server.cpu_model}\nflags\t\t: {server.flags}\n"


def _routes(server: Server) -> str:
    head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT"
    if not server.default_route:
        return head
    return f"{head}\n{server.default_route}\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0"


def _answer_virsh(fake: FakeRunner, server: Server) -> None:
    virsh = ["virsh", "-r", "-c", "qemu:///system"]
    fake.answer([*virsh, "list", "--name"], "\n".join([*server.domains, "", ""]))
    for name, xml in server.domains.items():
        fake.answer([*virsh, "dumpxml", "--domain", name], xml)


def mask(cpus: str) -> str:
    """Return the mask of a CPU list in the papers' notation, without 0x."""
    return format_mask(parse_list(cpus)).removeprefix("0x")
