# SPDX-License-Identifier: Apache-2.0
"""Write the files of /sys/bus/pci/devices from what `lspci -vv` printed of the devices.

Both `lspci -nnvv` (sos) and `lspci -nvv` (must-gather) have the numbers of classes and devices.
Source: lspci(8) and ls-caps.c of pciutils 3.5 to 3.13.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from wirespeed.remote.file_tree import FileTree
from wirespeed.remote.pci import SYS_PCI

GROUPS = "/sys/kernel/iommu_groups"
_HEAD = re.compile(
    r"(?P<address>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (?:[^\n]*\[)?"
    r"(?P<kind>[0-9a-f]{4})\]?: (?:[^\n]*\[)?(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})\b.*"
)
_INTERFACE = re.compile(r"\(prog-if ([0-9a-f]{2})")
_LINK = r"\n\s+{}:\s[^\n]*?Speed ([0-9.]+)GT/s[^\n]*?, Width x([0-9]+)"
_MOST, _NOW = re.compile(_LINK.format("LnkCap")), re.compile(_LINK.format("LnkSta"))
_VFS = re.compile(r"\n\s+Initial VFs: \d+, Total VFs: (\d{1,5}), Number of VFs: (\d{1,5})")
_PLACES = re.compile(r"\n\s+VF offset: (\d{1,5}), stride: (\d{1,5})")
_VALUES = {
    "numa_node": re.compile(r"\n\s+NUMA node: (\d{1,4})"),
    "driver": re.compile(r"\n\s+Kernel driver in use: (\S+)"),
    "group": re.compile(r"\n\s+IOMMU group: (\d{1,9})"),
}
_DENIED = "<access denied>"
# Longest line that is read, in characters: a bound on the time of the expressions above.
_LINE, _TITLE = 1000, 300


def write_devices(tree: FileTree, printed: str) -> Iterator[str]:
    """Add the devices to the tree. Yields the folders that are then known whole.

    Without root, lspci prints no capabilities: such a device's links and VFs stay unknown. A device
    without a group has none, or its lspci is older than 3.7, which does not print them.
    """
    physical: dict[str, str] = {}
    cut = "\n".join(line[:_LINE].rstrip() for line in printed.split("\n"))
    for block in re.split(r"\n{2,}", cut):
        head = _HEAD.match(block.partition("\n")[0][:_TITLE])
        if head is None:
            continue
        address = _full(head["address"])
        physical |= dict.fromkeys(_virtual_functions(address, block), address)
        folder = f"{SYS_PCI}/{address}"
        real = tree.real_path(folder) or folder
        for name, text in _files(head, address, block).items():
            tree.add(f"{real}/{name}", f"{text}\n")
        group = _VALUES["group"].search(block)
        if group:
            tree.add(f"{GROUPS}/{group[1]}/devices/{address}", {})
        if address in physical:
            owner = f"PCI_SLOT_NAME={physical[address]}\n"
            tree.add(f"{real}/physfn/uevent", owner)
        if _DENIED not in block:
            yield folder
            yield GROUPS


def _files(head: re.Match[str], address: str, block: str) -> Mapping[str, str]:
    interface = _INTERFACE.search(head[0])
    node, driver = _VALUES["numa_node"].search(block), _VALUES["driver"].search(block)
    files = {
        "class": f"0x{head['kind']}{interface[1] if interface else '00'}",
        "vendor": f"0x{head['vendor']}",
        "device": f"0x{head['device']}",
        "numa_node": node[1] if node else "-1",
        "uevent": (f"DRIVER={driver[1]}\n" if driver else "") + f"PCI_SLOT_NAME={address}",
    }
    for form, prefix in ((_MOST, "max"), (_NOW, "current")):
        if link := form.search(block):
            files[f"{prefix}_link_speed"] = f"{link[1]} GT/s PCIe"
            files[f"{prefix}_link_width"] = link[2]
    if virtual := _VFS.search(block):
        files["sriov_totalvfs"], files["sriov_numvfs"] = virtual.groups()
    return files


def _virtual_functions(address: str, block: str) -> Iterator[str]:
    """Yield the addresses of a PF's VFs: its own plus offset and strides (SR-IOV 1.1, 2.1.2)."""
    virtual, places = _VFS.search(block), _PLACES.search(block)
    if virtual is None or places is None:
        return
    domain, bus, slot, function = re.split("[:.]", address)
    first = (int(bus, 16) << 8 | int(slot, 16) << 3 | int(function)) + int(places[1])
    for number in range(int(virtual[2])):
        routing = first + number * int(places[2])
        if routing < 1 << 16:
            yield f"{domain}:{routing >> 8:02x}:{routing >> 3 & 31:02x}.{routing & 7}"


def _full(address: str) -> str:
    """Return the address with its domain, which lspci leaves out where all are in domain 0."""
    return address if address.count(":") == 2 else f"0000:{address}"
