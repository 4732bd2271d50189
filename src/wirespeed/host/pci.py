# SPDX-License-Identifier: Apache-2.0
"""Which network devices, crypto units and accelerators are on PCI, and which interfaces are theirs?

Everything comes from files and file names; no link is followed, so that a recording of the same
reads answers alike. Source: ABI/testing/sysfs-bus-pci, sysfs-class-net.
"""

from __future__ import annotations

import re
from collections import defaultdict

from wirespeed.host.reader import Reader
from wirespeed.model.facts import Interface, PciDevice

SYS_PCI = "/sys/bus/pci/devices"
SYS_NET = "/sys/class/net"

# PCI base classes: network, processor (QuickAssist is a co-processor), encryption, accelerator.
KEPT_CLASSES = (0x02, 0x0B, 0x10, 0x12)
PLAIN_FILES = (
    "class",
    "vendor",
    "device",
    "numa_node",
    "current_link_width",
    "max_link_width",
    "current_link_speed",
    "max_link_speed",
    "sriov_totalvfs",
    "sriov_numvfs",
    "uevent",
    "physfn/uevent",
)


def read_pci(reader: Reader) -> tuple[PciDevice, ...]:
    """The devices of KEPT_CLASSES in address order, VFs included."""
    classes = reader.many([f"{SYS_PCI}/*/class"], "pci")
    kept = [p.split("/")[-2] for p, text in classes.items() if int(text, 16) >> 16 in KEPT_CLASSES]
    if not kept:
        return ()
    patterns = [f"{SYS_PCI}/{address}/{name}" for address in kept for name in PLAIN_FILES]
    files: dict[str, dict[str, str]] = defaultdict(dict)
    for path, text in reader.many(patterns, "pci").items():
        address, _, name = path.removeprefix(f"{SYS_PCI}/").partition("/")
        files[address][name] = text
    groups = _groups(reader)
    interfaces = _interfaces_by_address(reader)
    return tuple(
        _device(address, files[address], interfaces.get(address, ()), groups.get(address))
        for address in sorted(kept)
    )


def _device(
    address: str, files: dict[str, str], interfaces: tuple[str, ...], group: int | None
) -> PciDevice:
    node = int(files.get("numa_node", "-1"))
    return PciDevice(
        address=address,
        vendor=files.get("vendor", "").removeprefix("0x"),
        device=files.get("device", "").removeprefix("0x"),
        class_code=int(files.get("class", "0"), 16),
        node=node if node >= 0 else None,
        driver=_uevent(files.get("uevent", ""), "DRIVER"),
        interfaces=interfaces,
        link_width=_width(files.get("current_link_width", "")),
        max_link_width=_width(files.get("max_link_width", "")),
        link_gts=_gts(files.get("current_link_speed", "")),
        max_link_gts=_gts(files.get("max_link_speed", "")),
        sriov_total=int(files.get("sriov_totalvfs", "0")),
        sriov_num=int(files.get("sriov_numvfs", "0")),
        physical_function=_uevent(files.get("physfn/uevent", ""), "PCI_SLOT_NAME"),
        iommu_group=group,
    )


def _uevent(text: str, key: str) -> str | None:
    found = re.search(rf"^{key}=(.+)$", text, re.MULTILINE)
    return found[1] if found else None


def _width(text: str) -> int | None:
    """Lanes; the kernel says 0 or 255 where there is no PCIe link."""
    return int(text) if text.isdecimal() and 0 < int(text) < 255 else None


def _gts(text: str) -> float | None:
    found = re.match(r"([\d.]+) GT/s", text)
    return float(found[1]) if found else None


def _groups(reader: Reader) -> dict[str, int]:
    paths = reader.names("/sys/kernel/iommu_groups/*/devices/*")
    return {path.rsplit("/", 1)[1]: int(path.split("/")[4]) for path in paths}


def _interfaces_by_address(reader: Reader) -> dict[str, tuple[str, ...]]:
    """Interface names below a device; virtio puts one more folder in between."""
    found: dict[str, list[str]] = defaultdict(list)
    for pattern in (f"{SYS_PCI}/*/net/*", f"{SYS_PCI}/*/virtio*/net/*"):
        for path in reader.names(pattern):
            found[path.removeprefix(f"{SYS_PCI}/").split("/")[0]].append(path.rsplit("/", 1)[1])
    return {address: tuple(sorted(names)) for address, names in found.items()}


def read_interfaces(reader: Reader, devices: tuple[PciDevice, ...]) -> tuple[Interface, ...]:
    """Every kernel network interface except loopback."""
    names = ("mtu", "operstate", "speed", "master/uevent")
    files: dict[str, dict[str, str]] = defaultdict(dict)
    for path, text in reader.many([f"{SYS_NET}/*/{n}" for n in names], "interfaces").items():
        name, _, attribute = path.removeprefix(f"{SYS_NET}/").partition("/")
        files[name][attribute] = text
    queues: dict[str, list[str]] = defaultdict(list)
    for path in reader.names(f"{SYS_NET}/*/queues/*"):
        queues[path.split("/")[4]].append(path.rsplit("/", 1)[1])
    pci = {name: device.address for device in devices for name in device.interfaces}
    return tuple(
        _interface(name, files[name], queues[name], pci.get(name))
        for name in sorted(files)
        if name != "lo"
    )


def _interface(name: str, files: dict[str, str], queues: list[str], pci: str | None) -> Interface:
    speed = files.get("speed", "")
    master = files.get("master/uevent", "")
    return Interface(
        name=name,
        mtu=int(files.get("mtu", "0")),
        up=files.get("operstate") == "up",
        # -1 means that the driver does not know.
        speed_mbps=int(speed) if speed.isdecimal() else None,
        pci=pci,
        master=_uevent(master, "INTERFACE"),
        master_is_bond=_uevent(master, "DEVTYPE") == "bond",
        rx_queues=sum(q.startswith("rx-") for q in queues),
        tx_queues=sum(q.startswith("tx-") for q in queues),
    )


def read_default_route_interface(reader: Reader) -> str | None:
    """The interface of the IPv4 default route with the lowest metric, else of the IPv6 one."""
    best: tuple[int, str] | None = None
    for line in (reader.text("/proc/net/route", "default_route_interface") or "").split("\n")[1:]:
        fields = line.split()
        if len(fields) > 7 and fields[1] == fields[7] == "00000000":
            best = min(filter(None, (best, (int(fields[6]), fields[0]))))
    if best:
        return best[1]
    for line in (reader.text("/proc/net/ipv6_route", "default_route_interface") or "").split("\n"):
        fields = line.split()
        if len(fields) == 10 and fields[1] == "00" and fields[9] != "lo":
            metric = int(fields[5], 16)
            best = min(filter(None, (best, (metric, fields[9]))))
    return best[1] if best else None
