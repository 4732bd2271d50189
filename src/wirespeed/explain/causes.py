# SPDX-License-Identifier: Apache-2.0
"""Describe each cause of dropped frames, and propose a change against it."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.explain.interface import Measured
from wirespeed.model.result.explanation import Proposal
from wirespeed.model.result.hop_counts import INGRESS, Drop, DropCause
from wirespeed.model.study.spec import MAX_DESCRIPTORS, Vswitch
from wirespeed.model.study.sut import SutCause, SutDescription


@dataclass(frozen=True, slots=True)
class Cause:
    """Text for one cause of drops."""

    meaning: str
    """Clause that follows the place, as in "at ovs:port0: the receive ring was full"."""
    proposal: Proposal | None = None


def proposal_for(drop: Drop, sut: SutDescription) -> Proposal | None:
    """Return the change against a drop; None for a SUT that drops frames by its settings."""
    if sut.reference:
        return None
    if drop.cause is DropCause.VNF_TX_RING_FULL and sut.more_cpus is None:
        return None  # A NIC's switch needs no CPUs.
    if (own := _own(drop, sut)) is not None:
        return Proposal(own.change, own.setting) if own.change else None
    if drop.cause is DropCause.RX_RING_FULL and drop.hop == INGRESS:
        return Proposal(MORE_CPUS, sut.more_cpus)
    return CAUSES[drop.cause].proposal


def meaning_of(drop: Drop, sut: SutDescription) -> str:
    """Return the clause that follows the place of a drop."""
    own = _own(drop, sut)
    return (own.meaning if own is not None else "") or CAUSES[drop.cause].meaning


def _own(drop: Drop, sut: SutDescription) -> SutCause | None:
    """Return what the cause means at this type of SUT; None where it means what it does at any."""
    found = (each for each in sut.causes if each.cause == drop.cause)
    return next((each for each in found if each.hop in ("", drop.hop)), None)


def longer_rings(point: Measured) -> Proposal:
    """Return the change for a poller that loses frames in pauses although it has time left."""
    isolate = "Isolate the SUT's CPUs from interrupts and other work"
    settings = "wirespeed plan writes the kernel's settings"
    vswitch = point.frames.sut.vswitch if point.frames is not None else Vswitch()
    if vswitch.ovs.ports.on_veth:
        return Proposal(f"{isolate}: sockets hold few frames.", settings)
    if vswitch.descriptors >= MAX_DESCRIPTORS:
        return Proposal(f"{isolate}: its rings are the longest.", settings)
    return Proposal(f"{isolate}, or deepen its rings.", f"sut.vswitch.descriptors; {settings}")


MORE_CPUS = "Add a CPU to the stage that polls the first ring."
CAUSES = {
    DropCause.RX_RING_FULL: Cause(
        "the core that polls this receive ring had no time left",
        Proposal(MORE_CPUS),
    ),
    DropCause.VHOST_TX_RING_FULL: Cause(
        "the ring towards the VNF was full: the VNF took frames more slowly than the vSwitch "
        "handed them over",
        Proposal("Give the VNF more CPU, on a core that nothing else polls on."),
    ),
    DropCause.NO_FLOW: Cause(
        "no flow rule matched: the bench's rules and the traffic differ, so this is no limit of "
        "the data plane"
    ),
    DropCause.UPCALL: Cause(
        "packets missed the datapath's flow table and their upcalls failed: there are more new "
        "flows than the slow path handles",
        Proposal("Offer fewer flows, or let flows be wildcarded.", "traffic.flows"),
    ),
    DropCause.MTU: Cause(
        "frames are larger than the port's MTU",
        Proposal("Raise the ports' MTU.", "sut.vswitch.mtu"),
    ),
    DropCause.POLICER: Cause(
        "an ingress policer of the port is set below the load",
        Proposal("Raise the policer's rate above the load, or remove it."),
    ),
    DropCause.EGRESS_POLICER: Cause(
        "an egress policer (QoS) of the port is set below the load",
        Proposal("Raise the policer's rate above the load, or remove it."),
    ),
    DropCause.WRONG_VLAN: Cause(
        "their VLAN tag is not the one that the rules there expect: the translation of tags "
        "between the bridges is wrong, so this is no limit of the data plane",
        Proposal("Correct the tag that the first bridge's rule sets."),
    ),
    DropCause.PORT_DOWN: Cause(
        "the port was set down, or its device could not send",
        Proposal("Set the port up: ovs-ofctl mod-port BRIDGE PORT up."),
    ),
    DropCause.METER: Cause(
        "a meter dropped them: its band is set below the load",
        Proposal("Raise the meter's rate above the load, or remove the rule that uses it."),
    ),
    DropCause.FOREIGN_RULE: Cause(
        "a rule that is not the bench's dropped them",
        Proposal("Remove the rule: ovs-ofctl dump-flows BRIDGE shows it."),
    ),
    DropCause.DATAPATH: Cause(
        "the datapath dropped them and counted them under this name",
        Proposal("Look the counter up in ovs-actions(7) and ovs-vswitchd's log."),
    ),
    DropCause.NOT_CONNECTED: Cause(
        "no program was connected to the port: the VNF behind it had ended or not yet started",
        Proposal("Find out in the VNF's log why it was away."),
    ),
    DropCause.VNF_ENDED: Cause(
        "the VNF's process ended, and with it the frames in its rings",
        Proposal("Find out in the VNF's log why it ended."),
    ),
    DropCause.VNF_DISCARD: Cause(
        "the VNF dropped frames on purpose: a lookup missed or a frame was malformed"
    ),
    DropCause.NO_ROUTE: Cause(
        "the router had no route to their destination: the bench's routes and the traffic "
        "differ, so this is no limit of the data plane"
    ),
    DropCause.TTL_EXPIRED: Cause(
        "their TTL or hop limit ran out: they passed more routers than they may, or went round in "
        "circles"
    ),
    DropCause.BAD_HEADER: Cause(
        "the router found their IP header damaged: a wrong checksum, or lengths that contradict "
        "each other"
    ),
    DropCause.UNKNOWN_VLAN: Cause(
        "the router has no interface for their VLAN tag, so this is no limit of the data plane",
        Proposal("Add the VLAN: ip link add link PORT name PORT.ID type vlan id ID."),
    ),
    DropCause.VNF_TX_RING_FULL: Cause(
        "the VNF's transmit ring was full: the switch behind it took frames back more slowly than "
        "the VNF returned them",
        Proposal("Give the vSwitch's forwarding threads more CPUs.", "sut.vswitch.pmd_cpus"),
    ),
    DropCause.VNF_RING_FULL: Cause(
        "a ring between two tasks of the VNF was full: the workers, or the aggregation behind "
        "them, took frames more slowly than they were handed over",
        Proposal("Give the VNF more workers.", "sut.vnf.workers"),
    ),
    DropCause.VNF_RX_RING_FULL: Cause(
        "the VNF's receive ring was full: it took frames more slowly than the kernel, or the NIC, "
        "handed them over",
        Proposal("Give the VNF more CPU, on a core that nothing else polls on."),
    ),
    DropCause.NIC_DISCARD: Cause(
        "the NIC took them and refused to send them on: they had another address or tag than the "
        "virtual function has",
        Proposal("Send from the virtual function's own address.", "sriov.spoofchk"),
    ),
    DropCause.BACKLOG_FULL: Cause(
        "the kernel's backlog on the CPU that forwards was full: its softirqs took frames more "
        "slowly than they came",
        Proposal(
            "Let the kernel forward on more CPUs, or use Open vSwitch with DPDK.",
            "sut.vswitch.pmd_cpus",
        ),
    ),
    DropCause.TAP_RING_FULL: Cause(
        "the tap of the VNF's guest was full: QEMU carried frames into the guest more slowly than "
        "the bridge forwarded them",
        Proposal("Use Open vSwitch with DPDK and vhost-user, which needs no QEMU to carry frames."),
    ),
    DropCause.SOCKET_FULL: Cause(
        "the socket that the vSwitch reads the port by was full: the one thread that reads it took "
        "frames more slowly than the kernel delivered them",
        Proposal(
            "Use ports that share memory with the vSwitch instead of sockets.",
            "sut.vswitch.ovs.ports",
        ),
    ),
    DropCause.LINK_DOWN: Cause(
        "they arrived on a link that the bond has marked as down: the other end still sent on it",
        Proposal(
            "Repair the link, and detect its failure sooner (BFD, or LACP with its short timeout)."
        ),
    ),
    DropCause.PARTNER_RING_FULL: Cause(
        "the ring towards the bond's partner was full: that second Open vSwitch, which stands for "
        "the network, is too slow here, and the SUT may be faster than measured",
        Proposal("Measure on a host with a core for the partner."),
    ),
    DropCause.IMPAIRED: Cause("the reference SUT dropped them as configured"),
    DropCause.TG_RX_RING_FULL: Cause(
        "the analyser's own ring was full: the generator side is too slow here, and the SUT may "
        "be faster than measured",
        Proposal("Give the analyser a CPU of its own."),
    ),
    DropCause.MISDIRECTED: Cause(
        "they arrived with the tags, key or addresses of another subscriber or next hop"
    ),
    DropCause.CORRUPTED: Cause(
        "they arrived with a wrong checksum, TTL or header: the VNF must not forward them so"
    ),
    DropCause.UNKNOWN: Cause(
        "no hop counted them: the counters contradict each other, so do not trust this rate"
    ),
}
