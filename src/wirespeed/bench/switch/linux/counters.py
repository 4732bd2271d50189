# SPDX-License-Identifier: Apache-2.0
"""Count frames in the kernel's forwarding, port by port.

A port is a pair of veth interfaces: the switch's own, and the one of the program or host at the
other end. One interface receives what the other sends. If the backlog of the processing CPU is
full, the sender counts a drop.

A port to a virtual machine is a tap. It receives what QEMU writes, and drops where that backlog is
full. It has sent what QEMU has read, and drops when its ring is full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.bench.interface import HopCount
from wirespeed.bench.switch.veth.counters import InterfaceCount, cable_count
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.model.result.hop_counts import DropCause


def hop(
    ends: Mapping[str, str], taps: Iterable[str], counts: Mapping[str, InterfaceCount]
) -> HopCount:
    """Return the counts of the whole switch.

    ends: interface at the other end of each port that is not a tap.
    """
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


# IPv4 and IPv6 counters, by the files of /proc/net that hold them.
_IP_DROPS = {
    "Ip.InHdrErrors": DropCause.BAD_HEADER,
    "Ip6InHdrErrors": DropCause.BAD_HEADER,
    "IpExt.InNoRoutes": DropCause.NO_ROUTE,
    "Ip6InNoRoutes": DropCause.NO_ROUTE,
}


def parse_ip_drops(text: str) -> Mapping[DropCause, int]:
    """Return what IP of a namespace dropped, from /proc/net/snmp, netstat and snmp6 in a row.

    The kernel counts an expired TTL among the header errors.
    """
    found = dict.fromkeys(_IP_DROPS.values(), 0)
    names: dict[str, list[str]] = {}
    for line in text.splitlines():
        head, *words = line.split()
        if head not in names and head.endswith(":"):
            names[head] = words  # the line of names precedes the line of their values
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
