# SPDX-License-Identifier: Apache-2.0
"""Find CPUs that more than one guest pins."""

from __future__ import annotations

from wirespeed.audit.cores import pinned_cpus
from wirespeed.audit.fixes import command
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    owners: dict[int, list[str]] = {}
    for guest in subject.facts.guests or ():
        for cpu in pinned_cpus(guest):
            owners.setdefault(cpu, []).append(guest.name)
    if not owners:
        return NotApplicable("no guest has pinned vCPUs")
    double = {cpu: names for cpu, names in owners.items() if len(names) > 1}
    if not double:
        return Passed(f"{len(owners)} CPUs are pinned by one guest each")
    return [
        Problem(
            found=f"CPU {cpu} is pinned by {', '.join(names)}",
            wanted="one guest per CPU",
            fix=(
                command("virsh", "vcpuinfo", names[-1], note="which vCPU it is"),
                command("virsh", "vcpupin", names[-1], "VCPU", "FREE_CPU", "--live", "--config"),
            ),
            subject=f"CPU {cpu}",
        )
        for cpu, names in sorted(double.items())
    ]


RULE = Rule(
    id="WS43",
    name="two-guests-one-cpu",
    title="Two guests pin the same CPU",
    severity=Severity.CRITICAL,
    needs=(Need.GUESTS,),
    wanted="each CPU in the pins of one guest at most",
    why="Two vCPUs that both poll get half a CPU each, in turns of several milliseconds: both "
    "guests lose frames at any load.",
    source="S1, CPU pinning",
    check=check,
)
