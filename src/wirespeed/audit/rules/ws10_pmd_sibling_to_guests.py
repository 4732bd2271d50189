# SPDX-License-Identifier: Apache-2.0
"""Find guests on the SMT siblings of PMD threads."""

from __future__ import annotations

from wirespeed.audit.cores import guest_cpus, pmd_cpus, require_whole_picture
from wirespeed.audit.fixes import nova_option
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    pmds, guests = set(pmd_cpus(facts)), set(guest_cpus(facts))
    siblings = {s for cpu in pmds for s in facts.siblings(cpu)} - pmds
    shared = siblings & guests
    if not shared:
        require_whole_picture(facts)
        return Passed(
            f"no guest has the siblings {format_list(siblings)} of PMD CPUs"
            if siblings
            else "PMD CPUs have no sibling that is not a PMD CPU"
        )
    free = format_list(guests - shared - pmds)
    path = facts.nova.path if facts.nova else "/etc/nova/nova.conf"
    return [
        Problem(
            found=f"guests may run on {format_list(shared)}, siblings of PMD CPUs "
            f"{format_list(pmds)}",
            wanted=f"guests on {free}; the siblings idle or also PMD threads",
            fix=nova_option(subject.distribution, path, "compute", f"cpu_dedicated_set = {free}"),
        )
    ]


RULE = Rule(
    id="WS10",
    name="pmd-sibling-to-guests",
    title="A PMD thread's SMT sibling is given to guests",
    severity=Severity.HIGH,
    needs=(Need.SMT, Need.DPDK),
    wanted="no guest on the sibling of a PMD CPU",
    why="The guest's work slows the PMD thread by an amount that changes from second to second, so "
    "the zero-loss rate cannot be relied on.",
    source="S0 appendix, CPU pinning schema: two PMD threads on physical cores were best",
    check=check,
)
