# SPDX-License-Identifier: Apache-2.0
"""Read the settings of a node's NIC that a run may change."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from wirespeed.lab.machine import port_address
from wirespeed.remote.interface import Runner

PCI = "/sys/bus/pci/devices"
EAST = port_address("east")


@dataclass(frozen=True)
class Nic:
    """Settings of the NIC that a run may change."""

    count: str
    autoprobe: str
    interface: tuple[str, ...]
    drivers: tuple[str, ...]


def nic(runner: Runner) -> Nic:
    words = ["ip", "-json", "link", "show", "dev", interface(runner)]
    [link] = json.loads(runner.run(words).stdout)
    drivers = [runner.readlink(path) for path in runner.glob(f"{PCI}/*/driver")]
    return Nic(
        runner.read(f"{PCI}/{EAST}/sriov_numvfs"),
        runner.read(f"{PCI}/{EAST}/sriov_drivers_autoprobe"),
        (str(link["mtu"]), *sorted({"UP", "PROMISC"} & set(link["flags"]))),
        tuple(drivers),
    )


def interface(runner: Runner) -> str:
    [path] = runner.glob(f"{PCI}/{EAST}/net/*")
    return os.path.basename(path)


def management(runner: Runner) -> str:
    """Return the PCI address of the only interface with an address, that of the ssh session."""
    links = json.loads(runner.run(["ip", "-json", "address", "show"]).stdout)
    [name] = [
        link["ifname"]
        for link in links
        if any(address["scope"] == "global" for address in link["addr_info"])
    ]
    device = runner.readlink(f"/sys/class/net/{name}/device")
    return next(part for part in reversed(device.split("/")) if part.count(":") == 2)


def set_vf(runner: Runner, number: int, *words: str) -> None:
    runner.run(["ip", "link", "set", "dev", interface(runner), "vf", str(number), *words])
