# SPDX-License-Identifier: Apache-2.0
"""Find guests with several vCPUs and a single virtio queue."""

from __future__ import annotations

from wirespeed.audit.fixes import comment
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.words import counted


def check(subject: Subject) -> Outcome:
    ports = [
        (guest, port)
        for guest in subject.facts.guests or ()
        for port in guest.ports
        if port.kind == "vhostuser" and guest.vcpus > 1
    ]
    if not ports:
        return NotApplicable("no guest with several vCPUs has a vhost-user port")
    single = [(guest, port) for guest, port in ports if port.queues == 1]
    if not single:
        return Passed(f"{counted(len(ports), 'vhost-user port')} with several queues")
    return [
        Problem(
            found=f"{guest.name} has {guest.vcpus} vCPUs and 1 queue on {port.path}",
            wanted=f"up to {guest.vcpus} queues",
            fix=(
                comment(
                    "Nova: openstack flavor set FLAVOR --property hw:vif_multiqueue_enabled=true, "
                    f"then resize {guest.name}"
                ),
                f"# in the guest: ethtool -L eth0 combined {guest.vcpus}",
            ),
            subject=guest.name,
        )
        for guest, port in single
    ]


RULE = Rule(
    id="WS50",
    name="multiqueue-off",
    title="A guest with several vCPUs has a single virtio queue",
    severity=Severity.MEDIUM,
    needs=(Need.GUESTS,),
    wanted="multiqueue on the vhost-user ports of guests with more than one vCPU",
    why="One vCPU then receives for all; S0 needed eight queues for 45 Gbps between two VMs.",
    source="S0 figure 7; S3 appendix C, multiple Rx queues on VirtIO",
    check=check,
)
