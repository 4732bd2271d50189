# SPDX-License-Identifier: Apache-2.0
"""Check that the IOMMU is in pass-through mode for the host's own devices."""

from __future__ import annotations

from wirespeed.audit.fixes import kernel_arguments
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


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    reason = facts.why_missing("iommu_units")
    if reason:
        raise FactUnusable(reason)
    if not facts.iommu_units:
        return NotApplicable("no IOMMU is on")
    kernel = facts.kernel
    if "pt" in (kernel.parameter("iommu") or "").split(","):
        return Passed("iommu=pt is on the kernel command line")
    if kernel.parameter("iommu.passthrough") == "1":
        return Passed("iommu.passthrough=1 is on the kernel command line")
    return [
        Problem(
            found=f"IOMMU {', '.join(facts.iommu_units)} is on without pass-through",
            wanted="iommu=pt on the kernel command line",
            fix=kernel_arguments(subject.distribution, "iommu=pt"),
        )
    ]


RULE = Rule(
    id="WS30",
    name="iommu-not-passthrough",
    title="The IOMMU translates the host's own traffic",
    severity=Severity.MEDIUM,
    needs=(Need.KERNEL,),
    wanted="iommu=pt where the IOMMU is on",
    why="Without it the kernel maps and unmaps every buffer of its own drivers, which makes the "
    "kernel's data path much slower. Devices of guests are protected in both modes.",
    source="S3 table 4; kernel-parameters.txt, iommu",
    check=check,
)
