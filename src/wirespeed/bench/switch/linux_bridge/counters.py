# SPDX-License-Identifier: Apache-2.0
"""What did the bridges do with the frames, port by port?

A port is a pair of veth interfaces: the bridge's own, and the one that the program or host at the
other end has. What one of the two sends the other receives, unless the backlog of the CPU that has
to process it is full: then the sender counts a drop.

A port to a virtual machine is a tap. What QEMU writes there it has received, and drops where that
backlog is full; it has sent what QEMU has read, and drops what finds the tap's ring full.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirespeed.bench.interface import HopCount
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.model.trial import DropCause


@dataclass(frozen=True, slots=True)
class InterfaceCount:
    """Frames that an interface sent, that it could not send, that it received, and those of them
    that it could not pass on."""

    sent: int
    refused: int
    received: int
    missed: int


def parse_links(text: str) -> Mapping[str, InterfaceCount]:
    """By interface, from `ip -json -stats link show`."""
    return {
        link["ifname"]: InterfaceCount(
            *(link["stats64"][way][key] for way in ("tx", "rx") for key in ("packets", "dropped"))
        )
        for link in json.loads(text)
    }


def hop(
    ends: Mapping[str, str], taps: Iterable[str], counts: Mapping[str, InterfaceCount]
) -> HopCount:
    """All bridges together. ends: of each port that is no tap, the interface at its other end."""
    entered, left = {}, {}
    drops: dict[tuple[str, DropCause], int] = {}
    for port, end in ends.items():
        inwards, outwards = counts[end], counts[port]
        entered[port] = inwards.sent + inwards.refused
        left[port] = outwards.sent
        drops[f"{SWITCH}:{port}", DropCause.BACKLOG_FULL] = inwards.refused + outwards.refused
    for tap in taps:
        seen = counts[tap]
        entered[tap], left[tap] = seen.received, seen.sent
        drops[f"{SWITCH}:{tap}", DropCause.BACKLOG_FULL] = seen.missed
        drops[f"{SWITCH}:{tap}", DropCause.TAP_RING_FULL] = seen.refused
    return HopCount(SWITCH, entered, left, drops)
