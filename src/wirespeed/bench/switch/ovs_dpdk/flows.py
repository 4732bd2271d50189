# SPDX-License-Identifier: Apache-2.0
"""Which OpenFlow rules does a topology need, and which frames did they drop?

Every rule names the port that frames come from and the address they go to. What fits none of them
meets the drop rule of its port, which counts: a frame that goes wrong is seen, and where.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.topology.wiring import Flow
from wirespeed.model.hop_counts import DropCause

_FORWARD, _WRONG_TAG, _DROP = 100, 50, 1
ROUTED = _FORWARD
PATCH = "patch"


def rules(flows: Sequence[Flow], ports: Sequence[SwitchPort]) -> str:
    """The rules, one a line, as `ovs-ofctl add-flows` reads them."""
    number = {port.name: port.number for port in ports}
    lines = [forward(number[f.in_port], f.dst_mac, number[f.out_port]) for f in flows]
    return table(lines, number.values())


def forward(in_port: int, dst_mac: str, out_port: int, tagged: str = "", change: str = "") -> str:
    """One rule. tagged: a match on the tag; change: actions before the output; each with a comma
    behind it, or empty."""
    match = f"priority={_FORWARD},in_port={in_port},dl_dst={dst_mac}"
    return f"{match},{tagged}actions={change}output:{out_port}"


def wrongly_tagged(in_port: int, dst_mac: str) -> str:
    """Drops what a rule for that address would take if it bore the right tag; it counts."""
    return f"priority={_WRONG_TAG},in_port={in_port},dl_dst={dst_mac},actions=drop"


def table(forwards: Iterable[str], in_ports: Iterable[int]) -> str:
    """These rules, and the drop rule of each port."""
    drops = (f"priority={_DROP},in_port={port},actions=drop" for port in in_ports)
    return "\n".join((*forwards, *drops)) + "\n"


_DROPPED = re.compile(
    r"n_packets=(?P<packets>\d+).*priority=(?P<priority>\d+),in_port=(?P<port>\d+)"
    r"\S* actions=drop"
)
_CAUSES = {_DROP: DropCause.NO_FLOW, _WRONG_TAG: DropCause.WRONG_VLAN}


def dropped_by_port(dump: str, ports: Sequence[SwitchPort]) -> Mapping[tuple[str, DropCause], int]:
    """How many frames from each port fitted no rule, or one but for their tag, from `ovs-ofctl
    dump-flows` of all bridges; their patch ports are one here."""
    name = {port.number: port.name for port in ports}
    found = {(port.name, DropCause.NO_FLOW): 0 for port in ports}
    for match in _DROPPED.finditer(dump):
        cause = _CAUSES.get(int(match["priority"]))
        if cause is not None:
            place = name.get(int(match["port"]), PATCH), cause
            found[place] = found.get(place, 0) + int(match["packets"])
    return found


_COUNTED = re.compile(r"n_packets=(\d+)")
_IN_PORT = re.compile(r"in_port=(\d+)")


def dropped_by_foreign(
    shown: Mapping[str, str], own: Collection[str], hop: str, ports: Sequence[SwitchPort]
) -> Mapping[tuple[str, DropCause], int]:
    """Frames that rules dropped which the bench did not write, by the port they came in by.

    shown: lines of bridge/dump-flows with counters by the same without; own: those of the bench. A
    rule that was changed keeps its count: it is a bound.
    """
    name = {port.number: port.name for port in ports}
    found: dict[tuple[str, DropCause], int] = {}
    for rule, line in shown.items():
        if rule in own or not rule.endswith("actions=drop"):
            continue
        match, counted = _IN_PORT.search(rule), _COUNTED.search(line)
        port = name.get(int(match[1])) if match else None
        place = f"{hop}:{port}" if port else hop, DropCause.FOREIGN_RULE
        found[place] = found.get(place, 0) + (int(counted[1]) if counted else 0)
    return found
