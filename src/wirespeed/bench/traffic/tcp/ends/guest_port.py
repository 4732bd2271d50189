# SPDX-License-Identifier: Apache-2.0
"""Find a guest's NIC, and configure it as the port that a point asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from wirespeed.bench.interface import BenchError
from wirespeed.bench.topology.tcp import Port
from wirespeed.bench.traffic.tcp.ends.nic_port import Where, set_up_nic
from wirespeed.model.study.tcp import Tcp
from wirespeed.remote.interface import Runner


def set_up_port(guest: Runner, port: Port, neighbours: Sequence[Port], tcp: Tcp) -> None:
    """Configure the NIC. Raises BenchError where it is absent, or lacks a queue or an offload."""
    _rename(guest, port)
    set_up_nic(Where(f"guest {guest.name}", guest), port, neighbours, tcp)


def _rename(guest: Runner, port: Port) -> None:
    """Rename the NIC: the guest's kernel names NICs in the order of discovery."""
    found = guest.read_many(guest.glob("/sys/class/net/*/address"))
    names = {
        mac.strip(): PurePosixPath(path).parent.name
        for path, mac in found.items()
        if isinstance(mac, str)
    }
    if port.mac not in names:
        raise BenchError(
            f"guest {guest.name} has no NIC {port.mac}, but {names or 'none'}",
            "Check that its kernel has virtio_net.",
        )
    if names[port.mac] != port.name:
        guest.run(["ip", "link", "set", names[port.mac], "name", port.name])
