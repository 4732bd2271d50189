# SPDX-License-Identifier: Apache-2.0
"""What did the kernel do with the frames, port by port?

A port is a pair of veth interfaces: the switch's own, and the one that the program or host at the
other end has. What one of the two sends the other receives, unless the backlog of the CPU that has
to process it is full: then the sender counts a drop.

A port to a virtual machine is a tap. What QEMU writes there it has received, and drops where that
backlog is full; it has sent what QEMU has read, and drops what finds the tap's ring full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.bench.interface import HopCount
from wirespeed.bench.switch.veth.counters import InterfaceCount, cable_count
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.model.hop_counts import DropCause


def hop(
    ends: Mapping[str, str], taps: Iterable[str], counts: Mapping[str, InterfaceCount]
) -> HopCount:
    """The whole switch. ends: of each port that is no tap, the interface at its other end."""
    entered, left = {}, {}
    drops: dict[tuple[str, DropCause], int] = {}
    for port, end in ends.items():
        cable = cable_count(counts[port], counts[end])
        entered[port], left[port] = cable.entered, cable.left
        drops[f"{SWITCH}:{port}", DropCause.BACKLOG_FULL] = cable.backlogged
    for tap in taps:
        seen = counts[tap]
        entered[tap], left[tap] = seen.received, seen.sent
        drops[f"{SWITCH}:{tap}", DropCause.BACKLOG_FULL] = seen.missed
        drops[f"{SWITCH}:{tap}", DropCause.TAP_RING_FULL] = seen.refused
    return HopCount(SWITCH, entered, left, drops)


# Of IPv4 and IPv6, by the files of /proc/net that hold them.
_IP_DROPS = {
    "Ip.InHdrErrors": DropCause.BAD_HEADER,
    "Ip6InHdrErrors": DropCause.BAD_HEADER,
    "IpExt.InNoRoutes": DropCause.NO_ROUTE,
    "Ip6InNoRoutes": DropCause.NO_ROUTE,
}


def parse_ip_drops(text: str) -> Mapping[DropCause, int]:
    """What IP of a namespace dropped, from /proc/net/snmp, netstat and snmp6 in a row. The kernel
    counts a TTL that ran out among the header errors."""
    found = dict.fromkeys(_IP_DROPS.values(), 0)
    names: dict[str, list[str]] = {}
    for line in text.splitlines():
        head, *words = line.split()
        if head not in names and head.endswith(":"):
            names[head] = words  # a line of names comes before the one of their values
            continue
        counters = (
            {f"{head[:-1]}.{name}": n for name, n in zip(names[head], words, strict=True)}
            if head.endswith(":")
            else {head: words[0]}
        )
        for name, count in counters.items():
            if name in _IP_DROPS:
                found[_IP_DROPS[name]] += int(count)
    return found
