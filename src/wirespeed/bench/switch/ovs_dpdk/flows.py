# SPDX-License-Identifier: Apache-2.0
"""Derive a topology's OpenFlow rules, and count the frames that they dropped.

Every rule matches ingress port and destination address. Any other frame meets the drop rule of its
port, which counts it there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.topology.wiring import Flow
from wirespeed.model.result.hop_counts import DropCause

_FORWARD, _WRONG_TAG, _DROP = 100, 50, 1
ROUTED = _FORWARD
PATCH = "patch"


def rules(flows: Sequence[Flow], ports: Sequence[SwitchPort]) -> str:
    """Return the rules, one a line, as `ovs-ofctl add-flows` reads them."""
    number = {port.name: port.number for port in ports}
    lines = [forward(number[f.in_port], f.dst_mac, number[f.out_port]) for f in flows]
    return table(lines, number.values())


def forward(in_port: int, dst_mac: str, out_port: int, tagged: str = "", change: str = "") -> str:
    """Return one rule.

    tagged: match on the tag. change: actions before the output. Each ends with a comma, or is
    empty.
    """
    match = f"priority={_FORWARD},in_port={in_port},dl_dst={dst_mac}"
    return f"{match},{tagged}actions={change}output:{out_port}"


def wrongly_tagged(in_port: int, dst_mac: str) -> str:
    """Return a rule that drops and counts frames to that address with a wrong tag."""
    return f"priority={_WRONG_TAG},in_port={in_port},dl_dst={dst_mac},actions=drop"


def table(forwards: Iterable[str], in_ports: Iterable[int]) -> str:
    """Return these rules, and the drop rule of each port."""
    drops = (f"priority={_DROP},in_port={port},actions=drop" for port in in_ports)
    return "\n".join((*forwards, *drops)) + "\n"


_DROPPED = re.compile(
    r"n_packets=(?P<packets>\d+).*priority=(?P<priority>\d+),in_port=(?P<port>\d+)"
    r"\S* actions=drop"
)
_CAUSES = {_DROP: DropCause.NO_FLOW, _WRONG_TAG: DropCause.WRONG_VLAN}


def dropped_by_port(dump: str, ports: Sequence[SwitchPort]) -> Mapping[tuple[str, DropCause], int]:
    """Return frames by ingress port that matched no rule, or had a wrong tag.

    dump: answer of `ovs-ofctl dump-flows` of all bridges; their patch ports count as one.
    """
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
    """Return frames dropped by rules that the bench did not write, by ingress port.

    shown: lines of bridge/dump-flows with counters, by the same without. own: rules of the bench. A
    rule that was changed keeps its count, so the result is an upper bound.
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
