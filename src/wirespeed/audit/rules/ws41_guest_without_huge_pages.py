# SPDX-License-Identifier: Apache-2.0
"""Find data-plane guests without huge pages."""

from __future__ import annotations

from wirespeed.audit.cores import pinned_cpus
from wirespeed.audit.fixes import comment
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.guest_facts import Guest
from wirespeed.model.words import counted


def check(subject: Subject) -> Outcome:
    guests = [guest for guest in subject.facts.guests or () if _on_data_plane(guest)]
    if not guests:
        return NotApplicable("no guest has pinned vCPUs or a vhost-user port")
    without = [guest for guest in guests if guest.huge_page_kib is None]
    if not without:
        return Passed(f"backed by huge pages: {counted(len(guests), 'guest')}")
    return [
        Problem(
            found=f"{guest.name} has {guest.memory_kib // 1024} MiB without huge pages",
            wanted="its memory on 1 GiB pages",
            fix=(
                comment(
                    "Nova: openstack flavor set FLAVOR --property hw:mem_page_size=1GB, then "
                    f"resize {guest.name}"
                ),
                comment(
                    f"libvirt: virsh edit {guest.name}: <memoryBacking><hugepages/>"
                    "</memoryBacking>, access mode shared"
                ),
            ),
            subject=guest.name,
        )
        for guest in without
    ]


def _on_data_plane(guest: Guest) -> bool:
    return bool(pinned_cpus(guest)) or any(port.kind == "vhostuser" for port in guest.ports)


RULE = Rule(
    id="WS41",
    name="guest-without-huge-pages",
    title="A data-plane guest has no huge pages",
    severity=Severity.HIGH,
    needs=(Need.GUESTS,),
    wanted="huge pages behind every guest with pinned vCPUs or vhost-user ports",
    why="vhost-user maps the guest's memory into the vSwitch: unless it is in shared huge pages "
    "the port passes no frame at all, and a pinned guest has TLB misses on every frame.",
    source="S1, huge pages; S3 appendix C, hugepages backing for VM profile",
    check=check,
)
