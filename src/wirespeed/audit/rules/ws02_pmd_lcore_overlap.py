# SPDX-License-Identifier: Apache-2.0
"""Find CPUs that PMD threads share with the other threads of ovs-vswitchd."""

from __future__ import annotations

from wirespeed.audit.cores import LCORE_MASK, mask, pmd_cpus
from wirespeed.audit.fixes import ovs_other_config
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    lcores = mask(facts, LCORE_MASK)
    if lcores is None:
        return NotApplicable(f"other_config:{LCORE_MASK} is not set: ovs-vswitchd floats")
    pmds = pmd_cpus(facts)
    both = set(lcores) & set(pmds)
    if not both:
        return Passed(f"PMD threads on {format_list(pmds)}, ovs-vswitchd on {format_list(lcores)}")
    housekeeping = set(facts.online_cpus) - set(facts.kernel.isolated) - set(pmds)
    others = (set(lcores) - set(pmds)) or housekeeping
    return [
        Problem(
            found=f"CPUs {format_list(both)} are in {LCORE_MASK} and run PMD threads",
            wanted=f"ovs-vswitchd on {format_list(others)}",
            fix=ovs_other_config(f"{LCORE_MASK}={format_mask(others)}"),
        )
    ]


RULE = Rule(
    id="WS02",
    name="pmd-lcore-overlap",
    title="PMD threads share CPUs with ovs-vswitchd",
    severity=Severity.HIGH,
    needs=(Need.DPDK,),
    wanted="no CPU in both pmd-cpu-mask and dpdk-lcore-mask",
    why="ovs-vswitchd's revalidators and handlers then take time from a PMD thread in bursts, "
    "which shows as sporadic loss at loads the PMD could carry.",
    source="S0 table 3; S3 appendix C; Open vSwitch, DPDK PMD threads",
    check=check,
)
