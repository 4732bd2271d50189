# SPDX-License-Identifier: Apache-2.0
"""Configure a NIC as a port with the addresses, queues and offloads that a point asks for.

Uses ip(8) and ethtool(8) on the machine, or in the network namespace, of the NIC. A missing offload
is an error: a rate measured without it would belong to another point.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.bench.host.network import limit_command
from wirespeed.bench.interface import BenchError
from wirespeed.bench.topology.tcp import Port
from wirespeed.model.study.tcp import Tcp
from wirespeed.remote.interface import Completed, Runner

# ethtool's short names, ordered by dependency, with its long ones.
_OFFLOADS = {
    "tx": "tx-checksumming",
    "sg": "scatter-gather",
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
}
_FEATURE = re.compile(r"^\s*([a-z0-9-]+): (on|off)(.*)$", re.MULTILINE)
_COMBINED = re.compile(r"^Combined:\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Where:
    """Location of a NIC."""

    name: str
    """Name for messages."""
    runner: Runner
    words: tuple[str, ...] = ()
    """Prefix of commands that run there."""

    def run(self, *command: str, check: bool = True) -> Completed:
        return self.runner.run([*self.words, *command], check=check)


def set_up_nic(where: Where, port: Port, neighbours: Sequence[Port], tcp: Tcp) -> None:
    """Configure the NIC. Raises BenchError where it lacks a queue or an offload."""
    _set_queues(where, port.name, tcp.queues)
    _set_offloads(where, port.name, on=tcp.offloads)
    where.run("ip", "link", "set", port.name, "mtu", str(tcp.mtu), "up")
    where.run("ip", "address", "add", f"{port.ip}/24", "dev", port.name)
    for other in neighbours:
        where.run("ip", "neighbour", "replace", str(other.ip), "lladdr", other.mac,
                  "dev", port.name, "nud", "permanent")  # fmt: skip
    if tcp.wire_bps is not None:
        where.run(*limit_command(port.name, tcp.wire_bps))


def _set_queues(where: Where, name: str, queues: int) -> None:
    # The driver of a single-queue NIC may not support the query.
    said = where.run("ethtool", "-l", name, check=False).stdout
    most, now = [int(number) for number in _COMBINED.findall(said)[:2]] or (1, 1)
    if queues > most:
        raise BenchError(
            f"the NIC of {where.name} has {most} queues, and tcp.queues = {queues}",
            "A guest's domain was given fewer; virtio_net uses no more than there are vCPUs. A "
            "virtual function has what its physical function gives it.",
        )
    if queues != now:
        where.run("ethtool", "-L", name, "combined", str(queues))


def _set_offloads(where: Where, name: str, *, on: bool) -> None:
    word = "on" if on else "off"
    # Without scatter-gather each packet is copied; it segments nothing itself.
    wanted = {short: long for short, long in _OFFLOADS.items() if on or short != "sg"}
    # The exit status reports a failed request only if nothing changed.
    where.run("ethtool", "-K", name, *(w for short in wanted for w in (short, word)), check=False)
    said = where.run("ethtool", "-k", name).stdout
    features = {m[1]: (m[2], m[3]) for m in _FEATURE.finditer(said)}
    lacking = [
        f"{long} is {features[long][0]}{features[long][1]}" if long in features else f"no {long}"
        for long in wanted.values()
        if features.get(long, ("", ""))[0] != word
    ]
    if lacking:
        raise BenchError(
            f"the NIC of {where.name} cannot have its offloads {word}: {', '.join(lacking)}",
            "[fixed] means that the device or its kernel has no such feature; a guest's has it "
            "with Open vSwitch by userspace TSO (Open vSwitch >= 2.13).",
        )
