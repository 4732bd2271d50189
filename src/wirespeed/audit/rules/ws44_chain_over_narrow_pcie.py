# SPDX-License-Identifier: Apache-2.0
"""Find guests that share the VFs of a NIC on a narrow PCIe link."""

from __future__ import annotations

from wirespeed.audit.guest_nics import passed_through
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import (
    FactUnusable,
    NotApplicable,
    Outcome,
    Passed,
    Problem,
    Rule,
    Subject,
)
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Severity
from wirespeed.model.plan.policy import Pattern

NARROW_LANES = 8


def check(subject: Subject) -> Outcome:
    users = _users(subject.facts)
    shared = {pf: guests for pf, guests in users.items() if len(guests) > 1}
    if not shared:
        reason = subject.facts.why_missing("guests")
        if reason:
            raise FactUnusable(reason)
        return NotApplicable("no NIC's VFs are in two guests")
    devices = {device.address: device for device in subject.facts.pci}
    unknown = [pf for pf in shared if pf not in devices or devices[pf].link_width is None]
    if unknown:
        raise FactUnusable(f"needs current_link_width of {', '.join(unknown)}")
    narrow = [pf for pf in shared if (devices[pf].link_width or 0) <= NARROW_LANES]
    if not narrow:
        return Passed(f"{', '.join(shared)} have more than {NARROW_LANES} lanes")
    if subject.pattern is None:
        raise FactUnusable(
            f"needs the traffic pattern of guests on {', '.join(narrow)}: give --pattern east-west "
            "or north-south"
        )
    if subject.pattern is Pattern.NORTH_SOUTH:
        return Passed("traffic leaves the host: VFs are the best choice for it (S2)")
    return [
        Problem(
            found=f"{', '.join(sorted(shared[pf]))} use VFs of {pf}, which has "
            f"{devices[pf].link_width} PCIe lanes",
            wanted="vhost-user ports for traffic from guest to guest; VFs for traffic that leaves "
            "the host",
            fix=(
                "# give east-west ports vnic-type normal (vhost-user) instead of direct:",
                "openstack port create --network NETWORK --vnic-type normal PORT",
            ),
            subject=pf,
        )
        for pf in narrow
    ]


def _users(facts: HostFacts) -> dict[str, set[str]]:
    """Map each PF to the running guests that use its VFs."""
    users: dict[str, set[str]] = {}
    for guest in facts.guests or ():
        for nic in passed_through(facts, guest):
            if nic.physical_function:
                users.setdefault(nic.physical_function, set()).add(guest.name)
    return users


RULE = Rule(
    id="WS44",
    name="chain-over-narrow-pcie",
    title="Guests of one host reach each other over SR-IOV on PCIe x8",
    severity=Severity.MEDIUM,
    needs=(Need.PCI,),
    wanted="no east-west chain over VFs of a NIC with 8 lanes or fewer",
    why="Each hop from VF to VF crosses PCIe twice; x8 carries about 50 Gbps in all, so a chain of "
    "two VMs halves the rate and longer ones are slower than vhost-user.",
    source="S2, east-west traffic",
    check=check,
)
