# SPDX-License-Identifier: Apache-2.0
"""Find the ports of a DPDK program and read their settings by its telemetry (/ethdev/info).

DPDK numbers PCI devices before virtual ones, and PCI devices by address, whatever the order in
which a program was given them. So a port is found by its device or by its MAC address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wirespeed.bench.interface import BenchError
from wirespeed.bench.program.dpdk import device_name
from wirespeed.sources.telemetry import Telemetry

# What rte_ethdev keeps of a port, without counters and without what follows from the driver.
_SETTINGS = (
    "mac_addr", "mtu", "promiscuous", "all_multicast", "dev_started", "nb_rx_queues",
    "nb_tx_queues", "rx_offloads", "tx_offloads", "ethdev_rss_hf", "rxq_state", "txq_state",
)  # fmt: skip

PortInfo = Mapping[str, Any]


def port_infos(telemetry: Telemetry) -> Mapping[int, PortInfo]:
    """Return the answer of /ethdev/info for each port, by port number. Raises NoAnswer.

    No lcore has a part in the answer.
    """
    numbers = telemetry.ask("/ethdev/list")
    return {number: telemetry.ask(f"/ethdev/info,{number}") for number in numbers}


def port_of_device(infos: Mapping[int, PortInfo], device: str) -> int:
    """Return the port number of a device string ("net_vhost0,iface=..."). Raises BenchError."""
    return _only(infos, "name", device_name(device))


def port_of_mac(infos: Mapping[int, PortInfo], mac: str) -> int:
    """Return the number of the port with this MAC address. Raises BenchError."""
    return _only(infos, "mac_addr", mac)


def port_settings(infos: Mapping[int, PortInfo], devices: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings of ports by readable name. devices: device strings by port name."""
    found: dict[str, str] = {}
    for port, device in devices.items():
        info = infos[port_of_device(infos, device)]
        found |= {f"{port}, {key}": str(info[key]) for key in _SETTINGS if key in info}
    return found


def _only(infos: Mapping[int, PortInfo], key: str, value: str) -> int:
    found = [n for n, info in infos.items() if str(info.get(key, "")).lower() == value.lower()]
    if len(found) != 1:
        seen = sorted(str(info.get(key)) for info in infos.values())
        raise BenchError(f"{len(found)} ports of a DPDK program have {key} {value}: it has {seen}")
    return found[0]
