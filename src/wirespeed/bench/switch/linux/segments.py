# SPDX-License-Identifier: Apache-2.0
"""Which ports share a bridge, and which addresses must it be told?

A bridge forwards by the destination address alone, wherever a frame comes from; so ports that
exchange frames share one, and others have another, as networks of a cloud do. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.bench.topology.wiring import Flow

_PAIR = 2


@dataclass(frozen=True, slots=True)
class Segment:
    """The ports of one bridge. addresses: port by address; None: two ports, each of which gets all
    that comes from the other."""

    ports: tuple[str, ...]
    addresses: dict[str, str] | None


def segments(flows: Sequence[Flow]) -> tuple[Segment, ...]:
    """The bridges that these rules need. Raises ValueError where one address had to lead to two
    ports of a bridge."""
    groups: list[set[str]] = []
    for flow in flows:
        joined = {flow.in_port, flow.out_port}
        apart = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    return tuple(_segment(group, flows) for group in groups)


def _segment(group: set[str], flows: Sequence[Flow]) -> Segment:
    ports = tuple(sorted(group))
    if len(ports) == _PAIR:
        return Segment(ports, None)
    addresses: dict[str, str] = {}
    for flow in flows:
        if flow.in_port in group and addresses.setdefault(flow.dst_mac, flow.out_port) != (
            flow.out_port
        ):
            raise ValueError(f"{flow.dst_mac} is behind two ports of one bridge")
    return Segment(ports, addresses)
