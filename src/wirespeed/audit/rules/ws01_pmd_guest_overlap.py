# SPDX-License-Identifier: Apache-2.0
"""Find CPUs that PMD threads share with pinned guests."""

from __future__ import annotations

from wirespeed.audit.cores import guest_cpus, pmd_cpus, require_whole_picture
from wirespeed.audit.fixes import nova_option
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    pmds, guests = pmd_cpus(facts), guest_cpus(facts)
    both = set(pmds) & set(guests)
    if not both:
        require_whole_picture(facts)
        return Passed(f"PMD threads on {format_list(pmds)}, guests on {format_list(guests)}")
    free = format_list(set(guests) - set(pmds))
    path = facts.nova.path if facts.nova else "/etc/nova/nova.conf"
    return [
        Problem(
            found=f"CPUs {format_list(both)} run PMD threads and are given to guests",
            wanted=f"guests on {free} only",
            fix=nova_option(subject.distribution, path, "compute", f"cpu_dedicated_set = {free}"),
        )
    ]


RULE = Rule(
    id="WS01",
    name="pmd-guest-overlap",
    title="PMD threads and pinned guests share CPUs",
    severity=Severity.CRITICAL,
    needs=(Need.DPDK,),
    wanted="no CPU in both pmd-cpu-mask and the CPUs of pinned guests",
    why="A PMD thread polls without pause. A vCPU on the same CPU gets half of it at best, and "
    "while it runs the NIC's rings are not emptied: frames are lost.",
    source="S0 table 3",
    check=check,
)
