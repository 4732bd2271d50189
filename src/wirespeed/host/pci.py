# SPDX-License-Identifier: Apache-2.0
"""Read the network devices, crypto units and accelerators on PCI, and their interfaces.

All facts come from files and file names. No link is followed, so that a recording of the reads
gives the same facts. Source: ABI/testing/sysfs-bus-pci, sysfs-class-net.
"""

from __future__ import annotations

import re
from collections import defaultdict

from wirespeed.host.reader import Files, Reader, whole
from wirespeed.model.facts import Interface, PciDevice
from wirespeed.remote.pci import SYS_PCI

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
    """Return the devices of KEPT_CLASSES in address order, VFs included."""
    classes = reader.many([f"{SYS_PCI}/*/class"], "pci")
    kept = sorted(
        path.split("/")[-2]
        for path in classes
        if reader.number(classes, path, 0, base=16) >> 16 in KEPT_CLASSES
    )
    files = reader.files([f"{SYS_PCI}/{a}/{name}" for a in kept for name in PLAIN_FILES], "pci")
    groups = _groups(reader)
    interfaces = _interfaces_by_address(reader)
    return tuple(
        _device(reader, files, address, interfaces.get(address, ()), groups.get(address))
        for address in kept
    )


def _device(
    reader: Reader, files: Files, address: str, interfaces: tuple[str, ...], group: int | None
) -> PciDevice:
    base = f"{SYS_PCI}/{address}"
    node = reader.number(files, f"{base}/numa_node", -1)
    return PciDevice(
        address=address,
        vendor=files.get(f"{base}/vendor", "").removeprefix("0x"),
        device=files.get(f"{base}/device", "").removeprefix("0x"),
        class_code=reader.number(files, f"{base}/class", 0, base=16),
        node=node if node >= 0 else None,
        driver=_uevent(files.get(f"{base}/uevent", ""), "DRIVER"),
        interfaces=interfaces,
        link_width=_width(reader, files, f"{base}/current_link_width"),
        max_link_width=_width(reader, files, f"{base}/max_link_width"),
        link_gts=_gts(reader, files, f"{base}/current_link_speed"),
        max_link_gts=_gts(reader, files, f"{base}/max_link_speed"),
        sriov_total=reader.number(files, f"{base}/sriov_totalvfs", 0),
        sriov_num=reader.number(files, f"{base}/sriov_numvfs", 0),
        physical_function=_uevent(files.get(f"{base}/physfn/uevent", ""), "PCI_SLOT_NAME"),
        iommu_group=group,
    )


def _uevent(text: str, key: str) -> str | None:
    found = re.search(rf"^{key}=(.+)$", text, re.MULTILINE)
    return found[1] if found else None


def _width(reader: Reader, files: Files, path: str) -> int | None:
    """Return the number of lanes; None where there is no PCIe link (the kernel writes 0 or 255)."""
    lanes = whole(files.get(path, "0"))
    if lanes is None:
        reader.lacks("pci", f"{path}: {files[path]!r} is no number of lanes")
    return lanes if lanes and lanes < 255 else None


def _gts(reader: Reader, files: Files, path: str) -> float | None:
    text = files.get(path, "Unknown")
    found = re.match(r"([0-9]{1,4}(?:\.[0-9]{1,4})?) GT/s", text)
    if not found and not text.startswith("Unknown"):
        reader.lacks("pci", f"{path}: {text!r} is no speed in GT/s")
    return float(found[1]) if found else None


def _groups(reader: Reader) -> dict[str, int]:
    paths = reader.names("/sys/kernel/iommu_groups/*/devices/*", fact="pci")
    return {
        path.rsplit("/", 1)[1]: int(group)
        for path in paths
        if (group := path.split("/")[4]).isdecimal()
    }


def _interfaces_by_address(reader: Reader) -> dict[str, tuple[str, ...]]:
    """Map each device to its interfaces; virtio devices have one more folder in between."""
    found: dict[str, list[str]] = defaultdict(list)
    patterns = (f"{SYS_PCI}/*/net/*", f"{SYS_PCI}/*/virtio*/net/*")
    for path in reader.names(*patterns, fact="pci"):
        found[path.removeprefix(f"{SYS_PCI}/").split("/")[0]].append(path.rsplit("/", 1)[1])
    return {address: tuple(sorted(names)) for address, names in found.items()}


def read_interfaces(reader: Reader, devices: tuple[PciDevice, ...]) -> tuple[Interface, ...]:
    """Return every kernel network interface except loopback."""
    attributes = ("mtu", "operstate", "speed", "master/uevent")
    files = reader.many([f"{SYS_NET}/*/{name}" for name in attributes], "interfaces")
    queues: dict[str, list[str]] = defaultdict(list)
    for path in reader.names(f"{SYS_NET}/*/queues/*", fact="interfaces"):
        queues[path.split("/")[4]].append(path.rsplit("/", 1)[1])
    pci = {name: device.address for device in devices for name in device.interfaces}
    names = sorted({path.split("/")[4] for path in files} - {"lo"})
    return tuple(_interface(reader, files, name, queues[name], pci.get(name)) for name in names)


def _interface(
    reader: Reader, files: Files, name: str, queues: list[str], pci: str | None
) -> Interface:
    base = f"{SYS_NET}/{name}"
    # The driver writes -1 when it does not know the speed.
    speed = reader.number(files, f"{base}/speed", -1)
    master = files.get(f"{base}/master/uevent", "")
    return Interface(
        name=name,
        mtu=reader.number(files, f"{base}/mtu", 0),
        up=files.get(f"{base}/operstate") == "up",
        speed_mbps=speed if speed > 0 else None,
        pci=pci,
        master=_uevent(master, "INTERFACE"),
        master_is_bond=_uevent(master, "DEVTYPE") == "bond",
        rx_queues=sum(q.startswith("rx-") for q in queues),
        tx_queues=sum(q.startswith("tx-") for q in queues),
    )


def read_default_route_interface(reader: Reader) -> str | None:
    """Return the interface of the default route: IPv4 with the lowest metric, else IPv6."""
    files = reader.files(["/proc/net/route", "/proc/net/ipv6_route"], "default_route_interface")
    v4 = [line.split() for line in files.get("/proc/net/route", "").split("\n")[1:]]
    v6 = [line.split() for line in files.get("/proc/net/ipv6_route", "").split("\n")]
    routes = [(4, f[6].zfill(8), f[0]) for f in v4 if len(f) > 7 and f[1] == f[7] == "00000000"] + [
        (6, f[5], f[9]) for f in v6 if len(f) == 10 and f[1] == "00" and f[9] != "lo"
    ]
    return min(routes)[2] if routes else None
