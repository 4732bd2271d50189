# SPDX-License-Identifier: Apache-2.0
"""Read the network devices, crypto units and accelerators on PCI, and their interfaces.

All facts come from files and file names. No link is followed, so that a recording of the reads
gives the same facts. Source: ABI/testing/sysfs-bus-pci, sysfs-class-net.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

from wirespeed.host.reader import Files, Reader, whole
from wirespeed.host.routes import DEFAULT_ROUTES, default_routes
from wirespeed.model.host.facts import Interface, PciDevice
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
_UEVENT = re.compile(r"([A-Z0-9_]+)=(.*)")
# RFC 2863's states, as Documentation/networking/operstates.rst spells them.
_OPERSTATE = re.compile("unknown|notpresent|down|lowerlayerdown|testing|dormant|up")
# PCI devices have addresses there, ACPI's and the platform's have names.
_GROUP = re.compile(r"/sys/kernel/iommu_groups/([0-9]{1,9})/devices/([A-Za-z0-9_.:-]+)")
_QUEUE = re.compile(r"/sys/class/net/([^/]+)/queues/([rt]x)-[0-9]{1,9}")


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
        driver=_uevent(reader, files, f"{base}/uevent", "pci").get("DRIVER"),
        interfaces=interfaces,
        link_width=_width(reader, files, f"{base}/current_link_width"),
        max_link_width=_width(reader, files, f"{base}/max_link_width"),
        link_gts=_gts(reader, files, f"{base}/current_link_speed"),
        max_link_gts=_gts(reader, files, f"{base}/max_link_speed"),
        sriov_total=reader.number(files, f"{base}/sriov_totalvfs", 0),
        sriov_num=reader.number(files, f"{base}/sriov_numvfs", 0),
        physical_function=_uevent(reader, files, f"{base}/physfn/uevent", "pci").get(
            "PCI_SLOT_NAME"
        ),
        iommu_group=group,
    )


def _uevent(reader: Reader, files: Files, path: str, fact: str) -> dict[str, str]:
    """Return the values of a uevent file by their keys; none where there is no such file."""
    lines = reader.matches(fact, path, files.get(path, ""), _UEVENT, "a line KEY=value")
    return {key: value for key, value in (line.groups() for line in lines) if value}


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
    wanted = "the path of a device in a group"
    found = (m for path in paths for m in reader.matches("pci", "IOMMU", path, _GROUP, wanted))
    return {device: int(group) for group, device in (match.groups() for match in found)}


def _interfaces_by_address(reader: Reader) -> dict[str, tuple[str, ...]]:
    """Map each device to its interfaces; virtio devices have one more folder in between."""
    found: dict[str, list[str]] = defaultdict(list)
    patterns = (f"{SYS_PCI}/*/net/*", f"{SYS_PCI}/*/virtio*/net/*")
    for path in reader.names(*patterns, fact="interfaces"):
        found[path.removeprefix(f"{SYS_PCI}/").split("/")[0]].append(path.rsplit("/", 1)[1])
    return {address: tuple(sorted(names)) for address, names in found.items()}


def read_interfaces(reader: Reader, devices: tuple[PciDevice, ...]) -> tuple[Interface, ...]:
    """Return every kernel network interface except loopback."""
    attributes = ("mtu", "operstate", "speed", "master/uevent")
    files = reader.many([f"{SYS_NET}/*/{name}" for name in attributes], "interfaces")
    queues = Counter(
        match.groups()
        for path in reader.names(f"{SYS_NET}/*/queues/*", fact="interfaces")
        for match in reader.matches("interfaces", "queues", path, _QUEUE, "the path of a queue")
    )
    pci = {name: device.address for device in devices for name in device.interfaces}
    names = sorted({path.split("/")[4] for path in files} - {"lo"})
    return tuple(_interface(reader, files, name, queues, pci.get(name)) for name in names)


def _interface(
    reader: Reader, files: Files, name: str, queues: Mapping[tuple[str, ...], int], pci: str | None
) -> Interface:
    base = f"{SYS_NET}/{name}"
    # The driver writes -1 when it does not know the speed.
    speed = reader.number(files, f"{base}/speed", -1)
    master = _uevent(reader, files, f"{base}/master/uevent", "interfaces")
    path = f"{base}/operstate"
    states = reader.matches(
        "interfaces", path, files.get(path, ""), _OPERSTATE, "an operational state"
    )
    return Interface(
        name=name,
        mtu=reader.number(files, f"{base}/mtu", 0),
        up=[state[0] for state in states] == ["up"],
        speed_mbps=speed if speed > 0 else None,
        pci=pci,
        master=master.get("INTERFACE"),
        master_is_bond=master.get("DEVTYPE") == "bond",
        rx_queues=queues.get((name, "rx"), 0),
        tx_queues=queues.get((name, "tx"), 0),
    )


def read_default_route_interface(reader: Reader) -> str | None:
    """Return the interface of the default route: IPv4 with the lowest metric, else IPv6."""
    files = reader.files(DEFAULT_ROUTES, "default_route_interface")
    routes, odd = default_routes(files)
    for line in odd:
        reader.lacks("default_route_interface", line)
    return min(routes).interface if routes else None
