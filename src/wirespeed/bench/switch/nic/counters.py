# SPDX-License-Identifier: Apache-2.0
"""What did a NIC's own switch do with the frames, virtual function (VF) by virtual function? Pure.

A VF's own counters are the NIC's: what the switch took from it, and what the switch put into its
ring. Each link is a VLAN with two VFs, so what one of them sent and the other did not get was lost
on the way between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.interface import HopCount
from wirespeed.bench.topology.wiring import NIC, PORTS
from wirespeed.model.hop_counts import DropCause

Link = tuple[str, str]


@dataclass(frozen=True, slots=True)
class VfCount:
    """Of one VF, since it was taken into use.

    sent: the NIC took from it. received: it was given, what its ring had no room for included.
    missed: those among them, where the device tells (ethdev's imissed). discarded: what the NIC
    took and refused to send on, where the driver of the physical function tells.
    """

    sent: int
    received: int
    missed: int
    discarded: int

    def since(self, before: VfCount) -> VfCount:
        return VfCount(
            self.sent - before.sent,
            self.received - before.received,
            self.missed - before.missed,
            self.discarded - before.discarded,
        )


def vf_count(device: Mapping[str, int], physical: Mapping[str, object]) -> VfCount:
    """device: ethdev's counters of the VF. physical: its entry in the physical function's list."""
    stats = physical.get("stats")
    tx = stats.get("tx", {}) if isinstance(stats, Mapping) else {}
    missed = device["imissed"]
    discarded = int(tx.get("dropped", 0))
    return VfCount(device["opackets"], device["ipackets"] + missed, missed, discarded)


def between(before: Mapping[str, VfCount], after: Mapping[str, VfCount]) -> Mapping[str, VfCount]:
    return {port: count.since(before[port]) for port, count in after.items()}


def lost(counts: Mapping[str, VfCount], links: Sequence[Link]) -> Mapping[Link, int]:
    """By where frames came from and went to: sent, and not received. Below 0: others came, too."""
    ways = [way for a, b in links for way in ((a, b), (b, a))]
    return {(a, b): counts[a].sent - counts[b].received for a, b in ways}


def hop(counts: Mapping[str, VfCount], links: Sequence[Link]) -> HopCount:
    """The switch's counts.

    Few devices tell a VF what its ring had no room for, and none the physical function. But a VLAN
    has no other place to lose a frame at than the ring that it leads to, besides those that the NIC
    refused to send.
    """
    drops: dict[tuple[str, DropCause], int] = {}
    for (origin, target), frames in lost(counts, links).items():
        if frames <= 0:
            continue
        refused = min(frames, counts[origin].discarded)
        full = DropCause.TG_RX_RING_FULL if target in PORTS else DropCause.VNF_RX_RING_FULL
        drops[f"{NIC}:{origin}", DropCause.NIC_DISCARD] = refused
        drops[f"{NIC}:{target}", full] = frames - refused
    return HopCount(
        NIC,
        {port: count.sent for port, count in counts.items()},
        {port: count.received for port, count in counts.items()},
        drops,
    )
