# SPDX-License-Identifier: Apache-2.0
"""Find PFs that do not have the planned number of VFs."""

from __future__ import annotations

from wirespeed.audit.fixes import write_to
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    plan = subject.host_plan
    present = {device.address: device for device in subject.facts.pci}
    planned = {nic.address: nic.vfs.value for nic in (plan.nics if plan else ())}
    if not any(planned.values()) and not any(present[a].sriov_num for a in planned if a in present):
        return NotApplicable("the plan has no VFs on this host")
    problems = []
    for address, vfs in planned.items():
        device = present.get(address)
        there = device.sriov_num if device else None
        if there == vfs:
            continue
        path = f"/sys/bus/pci/devices/{address}/sriov_numvfs"
        problems.append(
            Problem(
                found=f"{address} is not in this host" if there is None else f"{there} VFs",
                wanted=f"{vfs} VFs on {address}",
                fix=(write_to(path, 0), write_to(path, vfs)) if device else (),
                subject=address,
            )
        )
    return problems or Passed(f"VFs as planned on {', '.join(planned)}")


RULE = Rule(
    id="WS33",
    name="vfs-not-as-planned",
    title="A NIC does not have the planned number of VFs",
    severity=Severity.HIGH,
    needs=(Need.PCI, Need.PLAN),
    wanted="sriov_numvfs of each PF as in the plan",
    why="Nova counts the existing VFs; guests that are planned on missing ones are refused with "
    '"no valid host was found".',
    source="S1, SR-IOV extensions; the plan",
    check=check,
)
