# SPDX-License-Identifier: Apache-2.0
"""Blame the switch or its settings: upcalls, deleted flows, queues, bonds, nodes, short rings."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.causes import CAUSES
from wirespeed.explain.seen import RINGS_OF_SUT, Seen
from wirespeed.explain.suspect import STRAY, Suspect, figure
from wirespeed.model.result.explanation import Explanation, Proposal
from wirespeed.model.result.hop_counts import INGRESS, Counted, DropCause
from wirespeed.model.words import percent

_SWITCH = "switch"
# Share of the frames; without new flows the datapath's caches answer nearly all.
_MANY_UPCALLS = 0.01
# Share of the frames; a deleted flow causes upcalls only until it is installed again.
_MOSTLY_NEW = 0.3
# Share of a port's frames in one of several queues.
_NEARLY_ALL = 0.9
# Four DPDK bursts of 32 frames; shorter rings overflow in any pause.
_SHORT_RING = 128


def upcalls(found: Seen) -> Iterator[Suspect]:
    """Blame upcalls of new flows, or of flows that were deleted."""
    asked = found.events[_SWITCH, Counted.UPCALLS]
    deleted = found.events[_SWITCH, Counted.FLOWS_DELETED]
    lost = found.dropped({DropCause.UPCALL})
    evidence = (
        figure("upcalls", asked, "frames"),
        figure("datapath flows deleted", deleted, "flows"),
        figure("lost for failed upcalls", lost, "frames"),
    )
    many = asked > _MANY_UPCALLS * found.offered
    new = many and (deleted < asked / 2 or asked > _MOSTLY_NEW * found.offered)
    if asked and deleted > 1 and not new:
        yield Suspect(lost + found.dropped({DropCause.RX_RING_FULL}, INGRESS), Explanation(
            "flows_deleted",
            f"The datapath's flows were deleted while frames flowed ({deleted:,} of them), and "
            f"{asked:,} frames had to ask the slow path for them anew: rules change all the time, "
            "or flows are purged.",
            evidence,
            Proposal("Find what changes rules or purges flows (ovs-appctl coverage/show)."),
            hop=_SWITCH,
        ), certain=True)  # fmt: skip
    elif many:
        at_entrance = lost + found.dropped({DropCause.RX_RING_FULL}, INGRESS)
        yield Suspect(at_entrance, Explanation(
            "upcalls",
            f"{percent(asked / found.offered, 0)} of the frames belonged to flows that the "
            "datapath did not know: the slow path, which takes a hundred times as long, had to be "
            "asked for each.",
            evidence,
            Proposal("Offer fewer new flows, or let rules be wildcarded.", "traffic.flows"),
            hop=_SWITCH,
        ), certain=True)  # fmt: skip


def queues(found: Seen) -> Iterator[Suspect]:
    """Blame flows that all hash to one of several queues."""
    ports = {port for port, _ in found.queues}
    for port in sorted(ports):
        frames = {queue: n for (p, queue), n in found.queues.items() if p == port}
        total = sum(frames.values())
        busiest = max(frames, key=lambda queue: frames[queue])
        if total and frames[busiest] > _NEARLY_ALL * total:
            yield Suspect(found.dropped({DropCause.RX_RING_FULL}, INGRESS), Explanation(
                "queue_imbalance",
                f"Port {port} has {len(frames)} queues, and queue {busiest} got "
                f"{percent(frames[busiest] / total, 0)} of the frames: flows differ in nothing "
                "that RSS looks at, so that one PMD thread has all the work.",
                tuple(figure(f"frames in queue {q}", n, "frames") for q, n in frames.items()),
                Proposal("Let flows differ in addresses or ports.", "traffic.flow_field"),
                hop=f"{_SWITCH}:{port}",
            ), certain=True)  # fmt: skip


def links(found: Seen) -> Iterator[Suspect]:
    """Blame a bond that drops frames from a failed link.

    Noise of the host does not cause such drops.
    """
    for (hop, cause), frames in found.drops.items():
        if cause is DropCause.LINK_DOWN and frames > STRAY * found.offered:
            yield Suspect(frames, Explanation(
                "link_down",
                f"A link of the bond at {hop} went down while frames were offered, and its other "
                f"end was late to notice: {frames:,} frames still came by it and were dropped.",
                (figure("dropped: they came by a link that was down", frames, "frames"),),
                CAUSES[cause].proposal, hop=hop,
            ), certain=True)  # fmt: skip


def nodes(found: Seen) -> Iterator[Suspect]:
    """Blame PMD threads on other NUMA nodes than all else: every frame crosses nodes."""
    if not found.pmd_nodes or not found.other_nodes or found.pmd_nodes & found.other_nodes:
        return
    lost = found.dropped({DropCause.RX_RING_FULL}, INGRESS)
    yield Suspect(lost, Explanation(
        "pmd_off_node",
        f"PMD threads poll on NUMA node {_listed(found.pmd_nodes)}, everything else on "
        f"{_listed(found.other_nodes)}: every frame crosses from one to the other.",
        (figure("node of PMD threads", min(found.pmd_nodes), "1"),
         figure("node of the others", min(found.other_nodes), "1")),
        Proposal("Let PMD threads poll on the node of ports and VNFs.", "sut.vswitch.pmd_cpus"),
        hop=_SWITCH,
    ), certain=True)  # fmt: skip


def _listed(numbers: set[int]) -> str:
    return " and ".join(map(str, sorted(numbers)))


def rings(found: Seen) -> Iterator[Suspect]:
    """Blame rings so short that any pause overflows them."""
    if not 0 < found.ring_frames <= _SHORT_RING:
        return
    full = {hop: n for (hop, cause), n in found.drops.items() if cause in RINGS_OF_SUT}
    hop = max(full, key=lambda place: full[place], default=INGRESS)
    held_us = 1e6 * found.ring_frames / found.load_fps if found.load_fps else 0.0
    lost = sum(full.values())
    full_rings = f"{lost:,} frames found one full" if lost > STRAY * found.offered else (
        "no frame found one full"
    )  # fmt: skip
    yield Suspect(lost, Explanation(
        "small_ring",
        f"Rings hold {found.ring_frames} frames, {held_us:,.0f} \N{MICRO SIGN}s of the load: a "
        f"longer pause of their reader loses frames; {full_rings}.",
        (
            figure("descriptors of the shallowest ring", found.ring_frames, "frames"),
            figure("lost at full rings", lost, "frames"),
        ),
        Proposal("Give rings more descriptors.", "sut.vswitch.descriptors"),
        hop=hop,
    ), certain=True)  # fmt: skip
