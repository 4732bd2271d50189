# SPDX-License-Identifier: Apache-2.0
"""Render wsdp's INI file."""

from __future__ import annotations

from configparser import ConfigParser

from wirespeed.bench.program.config import WsdpConfig, WsdpPort
from wirespeed.model.plan.plan import ProcessMemory


def test_ports_that_serve_sockets_come_before_clients() -> None:
    """A client's connection waits until the vSwitch has connected to such a socket."""
    ports = (
        WsdpPort("east", "net_virtio_user0", 1, 256, 256, 1500, connects_to="/run/east.sock"),
        WsdpPort("vnf", "net_vhost0", 1, 256, 256, 1500, serves_at="/run/vnf.sock"),
        WsdpPort("west", "net_virtio_user1", 1, 256, 256, 1500, connects_to="/run/west.sock"),
    )
    memory = ProcessMemory(mbufs=4096, data_bytes=2048, memory_mib=64)
    text = WsdpConfig("w", 0, (1,), memory, ports, ()).render()
    written = ConfigParser()
    written.read_string(text)
    named = [name for name in written.sections() if name.startswith("port.")]
    assert named == ["port.vnf", "port.east", "port.west"]
