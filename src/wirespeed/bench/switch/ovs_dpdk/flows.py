# SPDX-License-Identifier: Apache-2.0
"""Which OpenFlow rules does a topology need, and which frames did they drop?

Every rule names the port that frames come from and the address they go to. What fits none of them
meets the drop rule of its port, which counts: a frame that goes wrong is seen, and where.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.topology.wiring import Flow

_FORWARD, _DROP = 100, 1


def rules(flows: Sequence[Flow], ports: Sequence[SwitchPort]) -> str:
    """The rules, one a line, as `ovs-ofctl add-flows` reads them."""
    number = {port.name: port.number for port in ports}
    lines = [
        f"priority={_FORWARD},in_port={number[f.in_port]},dl_dst={f.dst_mac},"
        f"actions=output:{number[f.out_port]}"
        for f in flows
    ]
    lines += [f"priority={_DROP},in_port={port.number},actions=drop" for port in ports]
    return "\n".join(lines) + "\n"


_DROPPED = re.compile(
    rf"n_packets=(?P<packets>\d+).*priority={_DROP},in_port=(?P<port>\d+) actions=drop"
)


def dropped_by_port(dump: str, ports: Sequence[SwitchPort]) -> Mapping[str, int]:
    """How many frames from each port fitted no rule, from `ovs-ofctl dump-flows`."""
    name = {port.number: port.name for port in ports}
    found = {port.name: 0 for port in ports}
    for match in _DROPPED.finditer(dump):
        found[name[int(match["port"])]] = int(match["packets"])
    return found
