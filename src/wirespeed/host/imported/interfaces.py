# SPDX-License-Identifier: Apache-2.0
"""Write the files of /sys/class/net from what ip(8) and ethtool(8) printed."""

from __future__ import annotations

import re

from wirespeed.remote.file_tree import FileTree
from wirespeed.remote.pci import SYS_PCI

SYS_NET = "/sys/class/net"
_LINE = re.compile(
    r"^\d{1,9}: (?P<name>[^\s:@]+)(?:@\S+)?: <[^>\n]*> (?P<rest>[^\n]*)(?P<details>(?:\n .*)*)",
    re.MULTILINE,
)
_MTU, _MASTER, _STATE = (re.compile(rf"\b{word} (\S+)") for word in ("mtu", "master", "state"))
_SPEED = re.compile(r"^[ \t]*Speed: (\d{1,7})Mb/s", re.MULTILINE)
_PCI = re.compile(r"/([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?=/)")


def write_interfaces(tree: FileTree, printed: str) -> None:
    """Add what `ip -d address` prints of each interface."""
    for found in _LINE.finditer(printed):
        folder = f"{SYS_NET}/{found['name']}"
        for name, form in (("mtu", _MTU), ("operstate", _STATE)):
            if value := form.search(found["rest"]):
                _put(tree, folder, name, value[1].lower())
        if master := _MASTER.search(found["rest"]):
            kind = "DEVTYPE=bond\n" if "bond_slave " in found["details"] else ""
            _put(tree, folder, "master/uevent", f"{kind}INTERFACE={master[1]}")


def write_speed(tree: FileTree, name: str, printed: str) -> None:
    """Add the speed that `ethtool NAME` prints."""
    if speed := _SPEED.search(printed):
        _put(tree, f"{SYS_NET}/{name}", "speed", speed[1])


def write_owners(tree: FileTree) -> None:
    """Add each interface to its PCI device, by the target of its link in /sys/class/net."""
    for name, target in tuple(tree.links(SYS_NET)):
        if addresses := _PCI.findall(target):
            tree.add(f"{SYS_PCI}/{addresses[-1]}/net/{name}", {})


def _put(tree: FileTree, folder: str, name: str, text: str) -> None:
    real = tree.real_path(folder) or folder
    tree.add(f"{real}/{name}", f"{text}\n")
