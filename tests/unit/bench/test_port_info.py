# SPDX-License-Identifier: Apache-2.0
"""Check that a DPDK program's ports are found whatever number DPDK gave them."""

from __future__ import annotations

from typing import Any

import pytest

from wirespeed.bench.interface import BenchError
from wirespeed.bench.program.dpdk import in_port_order
from wirespeed.bench.program.port_info import (
    port_infos,
    port_of_device,
    port_of_mac,
    port_settings,
)

PORTS = {
    0: {"name": "0000:3b:10.0", "mac_addr": "02:00:00:00:00:0A", "mtu": 1500},
    2: {"name": "net_virtio_user1", "mac_addr": "02:00:00:00:00:0B", "mtu": 9000},
    3: {"name": "net_virtio_user10", "mac_addr": "00:00:00:00:00:00", "mtu": 64},
    4: {"name": "net_null0", "mac_addr": "00:00:00:00:00:00", "mtu": 64},
}


class Program:
    """A stand-in for a program's telemetry: port 1 was closed."""

    def ask(self, command: str) -> Any:
        what, _, number = command.partition(",")
        return list(PORTS) if what == "/ethdev/list" else PORTS[int(number)]


def test_a_port_is_found_by_its_device_and_by_its_address() -> None:
    infos = port_infos(Program())  # type: ignore[arg-type]
    assert port_of_device(infos, "net_virtio_user1,path=/run/a,b.sock") == 2
    assert port_of_device(infos, "0000:3B:10.0") == 0
    assert port_of_mac(infos, "02:00:00:00:00:0a") == 0
    settings = port_settings(
        infos, {"tg/port east": "net_virtio_user1,path=x", "tg/port west": "0000:3b:10.0"}
    )
    assert settings["tg/port east, mtu"] == "9000"
    assert settings["tg/port west, mtu"] == "1500"


@pytest.mark.parametrize("mac", ["02:00:00:00:00:0c", "00:00:00:00:00:00"])
def test_no_port_and_two_ports_are_errors_that_name_what_is_there(mac: str) -> None:
    infos = port_infos(Program())  # type: ignore[arg-type]
    with pytest.raises(BenchError, match=rf"[02] ports .* mac_addr {mac}: it has .*0A"):
        port_of_mac(infos, mac)


def test_dpdk_numbers_pci_devices_first_and_by_address() -> None:
    given = ("net_null1,x=1", "0000:3b:10.2", "net_null0", "0000:3b:02.0,a=1")
    assert in_port_order(given) == (
        "0000:3b:02.0,a=1",
        "0000:3b:10.2",
        "net_null1,x=1",
        "net_null0",
    )
