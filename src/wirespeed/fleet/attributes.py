# SPDX-License-Identifier: Apache-2.0
"""List the attributes of a host that are compared with others of its hardware, as text.

Excluded are attributes that differ on healthy hosts: names, free memory, link state, guests, and
words of the kernel command line that name a disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts, PciDevice

# Words of the kernel command line that name this host's disk or image.
_OWN_WORDS = ("BOOT_IMAGE", "root", "resume", "initrd", "rd.luks.uuid", "rd.lvm.lv", "ip")

Attributes = Mapping[str, str]


def attributes(facts: HostFacts) -> Attributes:
    """Return attributes by name, in the order of a search: hardware, firmware, software."""
    found: dict[str, str] = {}
    for name, value in (
        *_memory(facts), *_devices(facts), *_firmware(facts), *_kernel(facts), *_switch(facts),
    ):  # fmt: skip
        found[name] = value
    return found


def _memory(facts: HostFacts) -> Iterator[tuple[str, str]]:
    for node in facts.nodes:
        yield f"memory of node {node.id}", f"{node.memory_kib / 1024 / 1024:.0f} GiB"
    if facts.memory_channels is not None:
        yield "memory channels with a DIMM", str(facts.memory_channels)
    for dimm in facts.dimms:
        size = f"{dimm.size_mib // 1024} GiB" if dimm.size_mib else "empty"
        speed = f" at {dimm.speed_mts} MT/s" if dimm.speed_mts else ""
        yield f"DIMM {dimm.slot}", f"{size}{speed}"


def _devices(facts: HostFacts) -> Iterator[tuple[str, str]]:
    for device in facts.pci:
        if device.physical_function is None:
            what = f"PCI {device.address}"
            yield what, f"{device.vendor}:{device.device}"
            yield f"{what} node", str(device.node)
            yield f"{what} link", _link(device)
            yield f"{what} VFs offered", str(device.sriov_total)
            yield f"{what} VFs", str(device.sriov_num)


def _link(device: PciDevice) -> str:
    if device.link_width is None:
        return "none"
    return f"x{device.link_width} at {device.link_gts or 0:g} GT/s"


def _firmware(facts: HostFacts) -> Iterator[tuple[str, str]]:
    firmware = facts.firmware
    if firmware is not None:
        yield "product", f"{firmware.vendor} {firmware.product}".strip()
        yield "BIOS", f"{firmware.bios_version} of {firmware.bios_date}"
        yield "microcode", firmware.microcode or "unknown"
        if firmware.turbo is not None:
            yield "turbo", "on" if firmware.turbo else "off"
    yield "SMT", "on" if facts.smt else "off"
    yield "CPUs online", f"{len(facts.online_cpus)} of {len(facts.cpus)}"
    yield "NUMA nodes", str(len(facts.nodes))
    yield "IOMMU", "on" if facts.iommu_units else "off"
    yield (
        "idle states",
        _most(
            " ".join(state.name for state in cpu.idle_states if not state.disabled) or "none"
            for cpu in facts.cpus
            if cpu.online
        ),
    )
    yield "CPU flags", " ".join(sorted(facts.cpu_flags))
    yield "caches", _caches(facts)


def _caches(facts: HostFacts) -> str:
    sizes = Counter((c.level, c.kind, c.size_kib) for c in facts.caches)
    return ", ".join(
        f"{count} x L{level} {kind} {size} KiB"
        for (level, kind, size), count in sorted(sizes.items())
    )


def _kernel(facts: HostFacts) -> Iterator[tuple[str, str]]:
    if facts.operating_system is not None:
        yield "distribution", str(facts.operating_system)
    yield "kernel", facts.kernel.release
    words = facts.kernel.cmdline.split()
    yield "kernel command line", " ".join(w for w in words if w.split("=")[0] not in _OWN_WORDS)
    yield "isolated CPUs", format_list(facts.kernel.isolated) or "none"
    yield "governor", _most(cpu.governor or "none" for cpu in facts.cpus if cpu.online)
    for node in facts.nodes:
        for pool in node.huge_pages:
            size = f"{pool.size_kib // 1024} MiB" if pool.size_kib < 1 << 20 else "1 GiB"
            yield f"pages of {size} on node {node.id}", str(pool.total)


def _switch(facts: HostFacts) -> Iterator[tuple[str, str]]:
    yield "Open vSwitch", "none" if facts.ovs is None else facts.ovs.version
    if facts.ovs is not None:
        yield "DPDK of Open vSwitch", facts.ovs.dpdk_version or "none"
        for name, value in sorted(facts.ovs.other_config.items()):
            yield f"Open vSwitch {name}", value
    for switch in facts.switches:
        yield switch.kind, switch.version or "unknown version"
        for name, value in sorted(switch.settings.items()):
            yield f"{switch.kind} {name}", value
    if facts.nova is not None and facts.nova.guest_cpus is not None:
        yield "Nova's CPUs for guests", format_list(facts.nova.guest_cpus)


def _most(values: Iterable[str]) -> str:
    """Return the one value, or each value with its number of CPUs."""
    found = Counter(values).most_common()
    if len(found) == 1:
        return found[0][0]
    return ", ".join(f"{value} on {count} CPUs" for value, count in found)
