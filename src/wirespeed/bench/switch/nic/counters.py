# SPDX-License-Identifier: Apache-2.0
"""Count frames in a NIC's own switch, by virtual function (VF). Pure.

A VF's counters are the NIC's: what the switch took from it, and what it put into its ring. Each
link is a VLAN with two VFs, so a frame that one sent and the other did not get was lost between
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.interface import HopCount
from wirespeed.bench.topology.wiring import NIC, PORTS
from wirespeed.model.result.hop_counts import DropCause

Link = tuple[str, str]


@dataclass(frozen=True, slots=True)
class VfCount:
    """Counters of one VF since it was taken into use."""

    sent: int
    """Frames that the NIC took from it."""
    received: int
    """Frames that the NIC gave to it, including those that its ring had no room for."""
    missed: int
    """Received frames without room in the ring, where the device reports them (ethdev's imissed).
    """
    discarded: int
    """Frames that the NIC took and did not send on, where the PF's driver reports them."""

    def since(self, before: VfCount) -> VfCount:
        return VfCount(
            self.sent - before.sent,
            self.received - before.received,
            self.missed - before.missed,
            self.discarded - before.discarded,
        )


def vf_count(device: Mapping[str, int], physical: Mapping[str, object]) -> VfCount:
    """Return the counters of one VF.

    device: ethdev's counters of the VF. physical: its entry in the physical function's list.
    """
    stats = physical.get("stats")
    tx = stats.get("tx", {}) if isinstance(stats, Mapping) else {}
    missed = device["imissed"]
    discarded = int(tx.get("dropped", 0))
    return VfCount(device["opackets"], device["ipackets"] + missed, missed, discarded)


def between(before: Mapping[str, VfCount], after: Mapping[str, VfCount]) -> Mapping[str, VfCount]:
    return {port: count.since(before[port]) for port, count in after.items()}


def lost(counts: Mapping[str, VfCount], links: Sequence[Link]) -> Mapping[Link, int]:
    """Return frames sent and not received, by link.

    Negative where frames of others arrived, too.
    """
    ways = [way for a, b in links for way in ((a, b), (b, a))]
    return {(a, b): counts[a].sent - counts[b].received for a, b in ways}


def hop(counts: Mapping[str, VfCount], links: Sequence[Link]) -> HopCount:
    """Return the switch's counts.

    Few devices report to a VF what its ring had no room for, and none does to the physical
    function. But a VLAN can lose a frame only at the ring that it leads to, apart from frames that
    the NIC did not send.
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
