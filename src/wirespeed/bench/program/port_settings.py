# SPDX-License-Identifier: Apache-2.0
"""Read the settings of a DPDK program's ports by its telemetry (/ethdev/info)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.sources.telemetry import Telemetry

# What rte_ethdev keeps of a port, without counters and without what follows from the driver.
_SETTINGS = (
    "mac_addr", "mtu", "promiscuous", "all_multicast", "dev_started", "nb_rx_queues",
    "nb_tx_queues", "rx_offloads", "tx_offloads", "ethdev_rss_hf", "rxq_state", "txq_state",
)  # fmt: skip


def port_settings(telemetry: Telemetry, ports: Sequence[str], who: str) -> Mapping[str, str]:
    """Return the settings of ports 0, 1 and so on, by readable name. Raises NoAnswer.

    No lcore has a part in the answer. ports: their names. who: begins each name.
    """
    found: dict[str, str] = {}
    for number, port in enumerate(ports):
        info = telemetry.ask(f"/ethdev/info,{number}")
        found |= {f"{who}/port {port}, {key}": str(info[key]) for key in _SETTINGS if key in info}
    return found
