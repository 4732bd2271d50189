# SPDX-License-Identifier: Apache-2.0
"""Group ports into bridges, with the addresses that each bridge must know. Pure.

A bridge forwards by the destination address alone, regardless of the ingress port. So only ports
that exchange frames share one, as in the networks of a cloud.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.bench.topology.wiring import Flow

_PAIR = 2


@dataclass(frozen=True, slots=True)
class Segment:
    """Ports of one bridge."""

    ports: tuple[str, ...]
    addresses: dict[str, str] | None
    """Port by address; None for two ports that each get all frames of the other."""


def segments(flows: Sequence[Flow]) -> tuple[Segment, ...]:
    """Return the bridges that these rules need.

    Raises ValueError where one address leads to two ports of a bridge.
    """
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
