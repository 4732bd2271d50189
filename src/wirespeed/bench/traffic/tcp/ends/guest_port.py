# SPDX-License-Identifier: Apache-2.0
"""How does a guest's NIC become a port with address, queues and offloads as a point asks for them?

With the guest's own ip(8) and ethtool(8), through its runner. What a NIC has not is an error: a
rate without the offload that a point names would be another point's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from wirespeed.bench.host.network import limit_command
from wirespeed.bench.interface import BenchError
from wirespeed.bench.topology.tcp import Port
from wirespeed.model.tcp import Tcp
from wirespeed.remote.interface import Runner

# ethtool's short names, in the order in which one needs the other, and its long ones.
_OFFLOADS = {
    "tx": "tx-checksumming",
    "sg": "scatter-gather",
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
}
_FEATURE = re.compile(r"^\s*([a-z0-9-]+): (on|off)(.*)$", re.MULTILINE)
_COMBINED = re.compile(r"^Combined:\s+(\d+)", re.MULTILINE)


def set_up_port(guest: Runner, port: Port, neighbours: Sequence[Port], tcp: Tcp) -> None:
    """Raises BenchError where the NIC is missing, or lacks a queue or an offload."""
    _rename(guest, port)
    _set_queues(guest, port.name, tcp.queues)
    _set_offloads(guest, port.name, on=tcp.offloads)
    guest.run(["ip", "link", "set", port.name, "mtu", str(tcp.mtu), "up"])
    guest.run(["ip", "address", "add", f"{port.ip}/24", "dev", port.name])
    for other in neighbours:
        guest.run(["ip", "neighbour", "replace", str(other.ip), "lladdr", other.mac,
                   "dev", port.name, "nud", "permanent"])  # fmt: skip
    if tcp.wire_bps is not None:
        guest.run(limit_command(port.name, tcp.wire_bps))


def _rename(guest: Runner, port: Port) -> None:
    """The guest's kernel names NICs in the order in which it finds them."""
    found = guest.read_many(guest.glob("/sys/class/net/*/address"))
    names = {
        mac.strip(): PurePosixPath(path).parent.name
        for path, mac in found.items()
        if isinstance(mac, str)
    }
    if port.mac not in names:
        raise BenchError(
            f"guest {guest.name} has no NIC {port.mac}, but {names or 'none'}",
            "Does its kernel have virtio_net?",
        )
    if names[port.mac] != port.name:
        guest.run(["ip", "link", "set", names[port.mac], "name", port.name])


def _set_queues(guest: Runner, name: str, queues: int) -> None:
    said = guest.run(["ethtool", "-l", name]).stdout
    most, now = (int(number) for number in _COMBINED.findall(said)[:2])
    if queues > most:
        raise BenchError(
            f"the NIC of guest {guest.name} has {most} queues, and tcp.queues = {queues}",
            "Its domain was given fewer; virtio_net uses no more than there are vCPUs.",
        )
    if queues != now:
        guest.run(["ethtool", "-L", name, "combined", str(queues)])


def _set_offloads(guest: Runner, name: str, *, on: bool) -> None:
    word = "on" if on else "off"
    # Scatter-gather costs a copy where it is off, and segments nothing.
    wanted = {short: long for short, long in _OFFLOADS.items() if on or short != "sg"}
    # Its exit status tells of what was asked for in vain only if nothing changed.
    guest.run(["ethtool", "-K", name, *(w for short in wanted for w in (short, word))], check=False)
    said = guest.run(["ethtool", "-k", name]).stdout
    features = {m[1]: (m[2], m[3]) for m in _FEATURE.finditer(said)}
    lacking = [
        f"{long} is {features[long][0]}{features[long][1]}" if long in features else f"no {long}"
        for long in wanted.values()
        if features.get(long, ("", ""))[0] != word
    ]
    if lacking:
        raise BenchError(
            f"the NIC of guest {guest.name} cannot have its offloads {word}: {', '.join(lacking)}",
            "[fixed] means that its virtio device or its kernel has no such feature; with Open "
            "vSwitch that needs userspace TSO (Open vSwitch >= 2.13).",
        )
