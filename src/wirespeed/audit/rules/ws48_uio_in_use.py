# SPDX-License-Identifier: Apache-2.0
"""Find user-space devices that are bound to uio instead of vfio-pci."""

from __future__ import annotations

from wirespeed.audit.fixes import command
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.words import counted

UIO = ("igb_uio", "uio_pci_generic")
VFIO = "vfio-pci"


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    on_uio = [device for device in facts.pci if device.driver in UIO]
    on_vfio = [device for device in facts.pci if device.driver == VFIO]
    if not on_uio and not on_vfio:
        return NotApplicable("no device is driven from user space")
    if not on_uio:
        return Passed(f"bound to {VFIO}: {counted(len(on_vfio), 'device')}")
    loaded = VFIO in facts.uio_drivers or facts.why_missing("uio_drivers") is not None
    return [
        Problem(
            found=f"{device.address} is bound to {device.driver}"
            + ("" if loaded else f"; {VFIO} is not loaded"),
            wanted=f"bound to {VFIO}",
            fix=(f"modprobe {VFIO}", command("dpdk-devbind.py", f"--bind={VFIO}", device.address)),
            subject=device.address,
        )
        for device in on_uio
    ]


RULE = Rule(
    id="WS48",
    name="uio-in-use",
    title="A device is bound to uio instead of vfio-pci",
    severity=Severity.MEDIUM,
    needs=(Need.PCI,),
    wanted=f"{VFIO} for every device that user space drives",
    why="uio gives a program DMA to all of memory, has no interrupts per queue and does not work "
    "for VFs in guests or with secure boot.",
    source="S1 table 1, support for VFIO; DPDK, Linux drivers",
    check=check,
)
