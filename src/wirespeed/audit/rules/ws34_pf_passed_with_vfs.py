# SPDX-License-Identifier: Apache-2.0
"""Find physical functions that are passed through although they have VFs."""

from __future__ import annotations

from wirespeed.audit.fixes import write_to
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

# Drivers that hand the whole device to user space.
USER_SPACE = ("vfio-pci", "igb_uio", "uio_pci_generic")


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    parents = vfs_in_use(facts)
    if not parents:
        return NotApplicable("no PF has VFs")
    owner = {
        nic.address: guest.name
        for guest in facts.guests or ()
        for nic in passed_through(facts, guest)
    }
    taken = [pf for pf in parents if pf.address in owner or pf.driver in USER_SPACE]
    if not taken:
        reason = facts.why_missing("guests")
        if reason:
            raise FactUnusable(reason)
        return Passed(f"PFs with VFs stay with the host: {', '.join(p.address for p in parents)}")
    return [
        Problem(
            found=f"{pf.address} has {pf.sriov_num} VFs and "
            + (
                f"belongs to guest {owner[pf.address]}"
                if pf.address in owner
                else f"is bound to {pf.driver}"
            ),
            wanted="either the PF in the guest and no VFs, or the VFs and the PF in the host",
            fix=(write_to(f"/sys/bus/pci/devices/{pf.address}/sriov_numvfs", 0),),
            subject=pf.address,
        )
        for pf in taken
    ]


RULE = Rule(
    id="WS34",
    name="pf-passed-with-vfs",
    title="A physical function with VFs is passed through",
    severity=Severity.HIGH,
    needs=(Need.PCI,),
    wanted="a passed-through PF without VFs",
    why="The PF's driver manages its VFs: a guest with the PF can reset them and read their "
    "traffic, and they stop when that guest stops.",
    source="S1, PCIe pass-through",
    check=check,
)
