# SPDX-License-Identifier: Apache-2.0
"""Find guests with fewer virtio queues than the physical ports have rxqs."""

from __future__ import annotations

from wirespeed.audit.fixes import comment
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import dpdk_ports, rx_queues
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.words import counted


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    rxqs = max((rx_queues(port) for port in dpdk_ports(facts)), default=0)
    ports = [(g, p) for g in facts.guests or () for p in g.ports if p.kind == "vhostuser"]
    if not rxqs or not ports:
        return NotApplicable("no DPDK port, or no guest with a vhost-user port")
    # A guest can serve at most one queue per vCPU.
    few = [(g, p) for g, p in ports if p.queues < min(rxqs, g.vcpus)]
    if not few:
        count = counted(len(ports), "vhost-user port")
        return Passed(f"at least the {counted(rxqs, 'queue')} of DPDK ports: {count}")
    return [
        Problem(
            found=f"{guest.name} has {port.queues} queue on {port.path}, DPDK ports have {rxqs} "
            "rxqs",
            wanted=f"{min(rxqs, guest.vcpus)} queues",
            fix=(
                comment(
                    "Nova: openstack flavor set FLAVOR --property hw:vif_multiqueue_enabled=true, "
                    f"then resize {guest.name}"
                ),
                f"# libvirt: <driver queues='{min(rxqs, guest.vcpus)}'/> in the interface",
            ),
            subject=guest.name,
        )
        for guest, port in few
    ]


RULE = Rule(
    id="WS42",
    name="vhost-queues-few",
    title="A guest has fewer virtio queues than the NIC has rxqs",
    severity=Severity.MEDIUM,
    needs=(Need.DPDK, Need.GUESTS),
    wanted="vhost-user queues of a guest equal to n_rxq of the DPDK ports (or its vCPUs)",
    why="Frames from several rxqs then share one virtio ring, which one vCPU empties.",
    source="S3, learnings: multiple RX queues on VirtIO ports",
    check=check,
)
