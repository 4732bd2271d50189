# SPDX-License-Identifier: Apache-2.0
"""Check that the IOMMU is on where devices are passed through to guests."""

from __future__ import annotations

from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.guest_nics import passed_through, vfs_in_use
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
from wirespeed.model.host.finding import Severity
from wirespeed.model.plan.policy import NicUse


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    users = [f"VFs on {device.address}" for device in vfs_in_use(facts)]
    users += [
        f"{nic.address} in guest {guest.name}"
        for guest in facts.guests or ()
        for nic in passed_through(facts, guest)
    ]
    plan = subject.host_plan
    users += (
        [f"planned VFs on {n.address}" for n in plan.nics if n.use is NicUse.SRIOV] if plan else []
    )
    unknown = facts.why_missing("iommu_units") or (not users and facts.why_missing("guests"))
    if unknown:
        raise FactUnusable(unknown)
    if not users:
        return NotApplicable("no VF exists and no device is passed through to a guest")
    if facts.iommu_units:
        return Passed(f"IOMMU {', '.join(facts.iommu_units)} is on")
    amd = "AMD" in facts.cpu_model
    return [
        Problem(
            found=f"no IOMMU is on, but there are {', '.join(users)}",
            wanted="the IOMMU on, in the BIOS (VT-d, AMD-Vi) and in the kernel",
            fix=kernel_arguments(
                subject.distribution, "iommu=pt" if amd else "intel_iommu=on iommu=pt"
            ),
        )
    ]


RULE = Rule(
    id="WS29",
    name="iommu-off",
    title="The IOMMU is off although devices are passed through to guests",
    severity=Severity.CRITICAL,
    needs=(Need.PCI,),
    wanted="an IOMMU in /sys/class/iommu on hosts with VFs or passed-through devices",
    why="Without it a VF cannot be given to a guest with vfio; with uio a guest's device could "
    "write anywhere in the host's memory.",
    source="S1, SR-IOV extensions",
    check=check,
)
