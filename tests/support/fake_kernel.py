# SPDX-License-Identifier: Apache-2.0
"""Simulate the files of /sys and /proc of a server, and the kernel's reaction to writes.

It has these behaviours: fewer huge pages than asked; sriov_numvfs that changes only through 0; VFs
probed on creation unless autoprobe is off; driver_override; vfio-pci that needs an IOMMU;
interrupts that cannot be moved; and a boot that forgets everything but the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.hosts.server import GIB_IN_KIB, Nic, Server, runner
from wirespeed.model.cpuset import format_list, format_mask, parse_list, parse_mask

PCI = "/sys/bus/pci/devices"
NODE = "/sys/devices/system/node"
CPU = "/sys/devices/system/cpu"
PAGE_KIB = {"1G": GIB_IN_KIB, "2M": 2048}
VF_OFFSET, VF_STRIDE = 128, 2
_POOL = rf"{NODE}/node(\d+)/hugepages/hugepages-(\d+)kB/nr_hugepages"
NO_MAC = "00:00:00:00:00:00"

LAB = Server(
    name="lab1",
    cpu_model="Intel(R) Xeon(R) Platinum 8358",
    flags="pdpe1gb aes avx2",
    cores_per_socket=4,
    numbering="block",
    memory_kib=(16 * GIB_IN_KIB, 16 * GIB_IN_KIB),
    free_kib=(12 * GIB_IN_KIB, 12 * GIB_IN_KIB),
    release="6.12.43+deb13-amd64",
    cmdline="",
    governor="schedutil",
    nics=(
        Nic("0000:01:00.0", 0, "1af4", "1041", "virtio-pci", "eno1"),
        Nic("0000:03:00.0", 0, "8086", "1583", "i40e", "ens3", sriov_total=0),
        Nic("0000:21:00.0", 1, "8086", "10c9", "igb", "ens33", sriov_total=7, vf_device="10ca"),
    ),
    default_route="eno1",
)


_BOOTS: dict[str, dict[str, str]] = {}


def _of_the_boot(server: Server) -> dict[str, str]:
    """Return the files that do not change before the next boot."""
    key = repr(server)
    if key not in _BOOTS:
        bare = replace(server, nics=(), governor=None, uio_drivers=())
        _BOOTS[key] = {path: str(text) for path, text in runner(bare).files.items()}
    return _BOOTS[key]


@dataclass
class Function:
    """A PCI function."""

    address: str
    kernel: str
    """Driver that takes the function by itself."""
    driver: str
    override: str = ""
    pf: str = ""
    interface: str = ""


@dataclass
class FakeKernel:
    """One boot of the server."""

    server: Server
    cmdline: str
    found_now: int = 2
    """Pages that a node can still reserve while it runs."""
    trust: bool = True
    functions: dict[str, Function] = field(default_factory=dict)
    pages: dict[tuple[int, int], int] = field(default_factory=dict)
    pages_in_use: dict[tuple[int, int], int] = field(default_factory=dict)
    """Pages that the kernel keeps, by node and KiB."""
    governors: dict[int, str] = field(default_factory=dict)
    irqs: dict[int, list[Any]] = field(default_factory=dict)
    autoprobe: dict[str, str] = field(default_factory=dict)
    vfs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    up: dict[str, bool] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    board: str = "4c4c4544-0039-5610-8052-b4c04f4e3333"
    hidden: frozenset[str] = frozenset()
    """Names of files of PCI functions that this kernel lacks."""
    _files: dict[str, str] | None = None
    _paths: dict[int, set[str]] | None = None

    def __post_init__(self) -> None:
        words = dict(word.partition("=")[::2] for word in self.cmdline.split())
        self.isolated = words.get("isolcpus", "")
        self.nohz_full = words.get("nohz_full", "")
        self.iommu = words.get("intel_iommu") == "on"
        self.default_irq = format_list(set(self.server.cpus) - set(parse_list(self.isolated)))
        self._reserve_pages()
        for number, nic in enumerate(self.server.nics):
            self.functions[nic.address] = Function(
                nic.address, nic.driver, nic.driver, interface=nic.interface or ""
            )
            self.up[nic.address] = nic.interface == self.server.default_route
            self.irqs[40 + number] = [f"{nic.interface}-TxRx-0", self.default_irq, True]
            if nic.sriov_total:
                self.autoprobe[nic.address], self.vfs[nic.address] = "1", []
        everywhere = format_list(self.server.cpus)
        self.irqs[9] = ["acpi", everywhere, False]
        self.irqs[25] = ["nvme0q6", "5", False]
        if self.server.governor:
            self.governors = dict.fromkeys(self.server.cpus, self.server.governor)

    def _reserve_pages(self) -> None:
        size = 2048
        for node in range(self.server.sockets):
            self.pages |= {(node, 2048): 0, (node, GIB_IN_KIB): 0}
        for word in self.cmdline.split():
            key, _, value = word.partition("=")
            if key == "hugepagesz":
                size = PAGE_KIB[value]
            elif key == "hugepages" and ":" in value:
                for pair in value.split(","):
                    node, count = map(int, pair.split(":"))
                    self.pages[node, size] = count
            elif key == "hugepages":
                each, rest = divmod(int(value), self.server.sockets)
                for node in range(self.server.sockets):
                    self.pages[node, size] = each + (node < rest)

    # --- reading

    @property
    def files(self) -> dict[str, str]:
        if self._files is None:
            self._files = self._made()
        return self._files

    def changed(self) -> None:
        self._files = self._paths = None

    @property
    def nodes(self) -> dict[int, tuple[int, ...]]:
        """CPUs by NUMA node."""
        return {node: parse_list(self.files[f"{NODE}/node{node}/cpulist"].strip())
                for node in range(self.server.sockets)}  # fmt: skip

    @property
    def paths(self) -> dict[int, set[str]]:
        """Every file and folder, by depth."""
        if self._paths is None:
            self._paths = {}
            for path in _with_parents(self.files):
                self._paths.setdefault(path.count("/"), set()).add(path)
        return self._paths

    def driver_link(self, path: str) -> str | None:
        found = re.fullmatch(rf"{PCI}/([^/]+)/driver", path)
        if not found or found[1] not in self.functions:
            return None
        driver = self.functions[found[1]].driver
        return f"/sys/bus/pci/drivers/{driver}" if driver else None

    def _made(self) -> dict[str, str]:
        server = replace(
            self.server,
            cmdline=self.cmdline,
            isolated=self.isolated,
            nohz_full=self.nohz_full,
            iommu=("dmar0",) if self.iommu else (),
        )
        files = dict(_of_the_boot(server))
        for module in self.modules:
            files[f"/sys/bus/pci/drivers/{module}/uevent"] = ""
        for (node, size), count in self.pages.items():
            pool = f"{NODE}/node{node}/hugepages/hugepages-{size}kB"
            files |= {f"{pool}/{name}": f"{count}\n"
                      for name in ("nr_hugepages", "free_hugepages")}  # fmt: skip
        for cpu, governor in self.governors.items():
            files[f"{CPU}/cpu{cpu}/cpufreq/scaling_governor"] = f"{governor}\n"
        mask = format_mask(parse_list(self.default_irq)).removeprefix("0x")
        files["/proc/irq/default_smp_affinity"] = f"{mask}\n"
        for number, (actions, cpus, _) in self.irqs.items():
            files[f"/sys/kernel/irq/{number}/actions"] = f"{actions}\n"
            files[f"/proc/irq/{number}/smp_affinity_list"] = f"{cpus}\n"
            files[f"/proc/irq/{number}/effective_affinity_list"] = f"{parse_list(cpus)[0]}\n"
        for number, function in enumerate(self.functions.values()):
            files |= self._function(number, function)
        files["/sys/class/dmi/id/product_uuid"] = f"{self.board}\n"
        return {path: text for path, text in files.items()
                if path.rpartition("/")[2] not in self.hidden}  # fmt: skip

    def _nic(self, address: str) -> Nic:
        return next(nic for nic in self.server.nics if nic.address == address)

    def _function(self, number: int, function: Function) -> dict[str, str]:
        base, nic = f"{PCI}/{function.address}", self._nic(function.pf or function.address)
        driver = f"DRIVER={function.driver}\n" if function.driver else ""
        files = {
            f"{base}/class": "0x020000\n",
            f"{base}/vendor": f"0x{nic.vendor}\n",
            f"{base}/device": f"0x{nic.vf_device if function.pf else nic.device}\n",
            f"{base}/numa_node": f"{nic.node}\n",
            f"{base}/uevent": f"{driver}PCI_SLOT_NAME={function.address}\n",
            f"{base}/driver_override": f"{function.override or '(null)'}\n",
        }
        if self.iommu:
            files[f"/sys/kernel/iommu_groups/{number}/devices/{function.address}"] = ""
        if function.driver:
            files[f"{base}/driver/unbind"] = ""
        if function.pf:
            files[f"{base}/physfn/uevent"] = f"PCI_SLOT_NAME={function.pf}\n"
        if function.address in self.vfs and function.driver == function.kernel:
            files |= {
                f"{base}/sriov_totalvfs": f"{nic.sriov_total}\n",
                f"{base}/sriov_numvfs": f"{len(self.vfs[function.address])}\n",
                f"{base}/sriov_drivers_autoprobe": f"{self.autoprobe[function.address]}\n",
                f"{base}/sriov_offset": f"{VF_OFFSET}\n",
                f"{base}/sriov_stride": f"{VF_STRIDE}\n",
            }
        if function.interface and function.driver == function.kernel:
            net = f"/sys/class/net/{function.interface}"
            state = "up" if self.up.get(function.address) else "down"
            files |= {
                f"{base}/net/{function.interface}/mtu": "1500\n",
                f"{net}/mtu": "1500\n",
                f"{net}/operstate": f"{state}\n",
            }
        return files

    # --- writing

    def write(self, path: str, text: str) -> None:
        """Write a file. Raises OSError as the kernel does."""
        text = text.rstrip("\n")
        if found := re.fullmatch(
            rf"{NODE}/node(\d+)/hugepages/hugepages-(\d+)kB/nr_hugepages", path
        ):
            key = int(found[1]), int(found[2])
            wanted = min(int(text), max(self.pages[key], self.found_now))
            self.pages[key] = max(wanted, self.pages_in_use.get(key, 0))
        elif found := re.fullmatch(rf"{CPU}/cpu(\d+)/cpufreq/scaling_governor", path):
            self.governors[int(found[1])] = text
        elif path == "/proc/irq/default_smp_affinity":
            self.default_irq = format_list(parse_mask(text))
        elif found := re.fullmatch(r"/proc/irq/(\d+)/smp_affinity_list", path):
            irq = self.irqs[int(found[1])]
            if not irq[2]:
                raise OSError(5, "Input/output error", path)
            irq[1] = text
        elif found := re.fullmatch(rf"{PCI}/([^/]+)/(\w+)", path):
            self._write_function(found[1], found[2], text, path)
        elif found := re.fullmatch(rf"{PCI}/([^/]+)/driver/unbind", path):
            if path not in self.files:
                raise FileNotFoundError(2, "No such file or directory", path)
            self.functions[text].driver = ""
            self._forget_vfs(text)
        elif path == "/sys/bus/pci/drivers_probe":
            self.probe(self.functions[text])
        else:
            raise PermissionError(13, "Permission denied", path)
        self.changed()

    def _write_function(self, address: str, name: str, text: str, path: str) -> None:
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", path)
        if name == "driver_override":
            self.functions[address].override = text
        elif name == "sriov_drivers_autoprobe":
            self.autoprobe[address] = text
        elif name == "sriov_numvfs":
            self._number_of_vfs(address, int(text), path)
        else:
            raise PermissionError(13, "Permission denied", path)

    def _number_of_vfs(self, pf: str, count: int, path: str) -> None:
        if count and self.vfs[pf]:
            raise OSError(16, "Device or resource busy", path)
        if count > self._nic(pf).sriov_total:
            raise OSError(34, "Numerical result out of range", path)
        self._forget_vfs(pf)
        for number in range(count):
            self.vfs[pf].append({"mac": NO_MAC, "vlan": 0, "spoofchk": "on", "trust": "off"})
            vf = Function(self.vf_address(pf, number), "igbvf", "", pf=pf)
            self.functions[vf.address] = vf
            if self.autoprobe[pf] == "1":
                self.probe(vf)

    def _forget_vfs(self, pf: str) -> None:
        for number in range(len(self.vfs.get(pf, []))):
            del self.functions[self.vf_address(pf, number)]
        if pf in self.vfs:
            self.vfs[pf] = []

    def probe(self, function: Function) -> None:
        blocked = function.pf and self.autoprobe[function.pf] == "0" and not function.override
        if function.driver or blocked:
            return
        wanted = function.override or function.kernel
        if wanted == "vfio-pci" and not (self.iommu and "vfio-pci" in self.modules):
            return
        function.driver = wanted

    def vf_address(self, pf: str, number: int) -> str:
        bus = int(pf.split(":")[1], 16)
        routing = (bus << 8) + VF_OFFSET + VF_STRIDE * number
        return f"0000:{routing >> 8:02x}:{routing >> 3 & 31:02x}.{routing & 7}"

    def set_vf(self, interface: str, number: int, key: str, text: str) -> bool:
        """Act like `ip link set dev INTERFACE vf NUMBER KEY TEXT`; return whether it succeeds."""
        pf = self.by_interface(interface)
        if pf is None or number >= len(self.vfs.get(pf, [])) or (key == "trust" and not self.trust):
            return False
        self.vfs[pf][number][key] = int(text) if key == "vlan" else text
        return True

    def by_interface(self, interface: str) -> str | None:
        return next((f.address for f in self.functions.values() if f.interface == interface), None)


def _with_parents(files: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in files:
        path = name
        while path and path not in found:
            found.add(path)
            path = path.rpartition("/")[0]
    return found
