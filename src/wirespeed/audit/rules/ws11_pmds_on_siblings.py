# SPDX-License-Identifier: Apache-2.0
"""Find physical cores that run two PMD threads."""

from __future__ import annotations

from wirespeed.audit.cores import pmd_cpus
from wirespeed.audit.fixes import ovs_other_config
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    pmds = set(pmd_cpus(facts))
    planned = subject.host_plan.vswitch if subject.host_plan else None
    if planned and set(planned.pmd_cpus.value) == pmds:
        return Passed(f"PMD CPUs {format_list(pmds)} are those of the plan")
    cores = {facts.siblings(cpu) for cpu in pmds}
    doubled = sorted(core for core in cores if len(pmds & set(core)) > 1)
    if not doubled:
        return Passed(f"PMD CPUs {format_list(pmds)} are on different cores")
    single = {min(pmds & set(core)) for core in cores}
    return [
        Problem(
            found=f"both threads of {', '.join(map(format_list, doubled))} are PMD CPUs",
            wanted=f"one PMD thread per physical core, e.g. {format_list(single)}",
            fix=ovs_other_config(f"pmd-cpu-mask={format_mask(single)}"),
        )
    ]


RULE = Rule(
    id="WS11",
    name="pmds-on-siblings",
    title="Two PMD threads share a physical core",
    severity=Severity.MEDIUM,
    needs=(Need.SMT, Need.DPDK),
    wanted="one PMD thread per physical core (a policy: Red Hat pairs siblings)",
    why="S0 measured two siblings as the worst of three masks, worse than a single thread, in two "
    "of three scenarios. Red Hat pairs siblings so that no guest gets the second one; if that is "
    'wanted, plan with pmd_siblings = "pair" or suppress this rule.',
    source="S0 figure 8 and appendix",
    check=check,
)
