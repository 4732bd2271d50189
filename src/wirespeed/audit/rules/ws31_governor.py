# SPDX-License-Identifier: Apache-2.0
"""Find polling CPUs whose frequency governor may lower their frequency."""

from __future__ import annotations

from wirespeed.audit.fixes import program
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
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity

WANTED = "performance"


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    reason = facts.why_missing("governors")
    if reason:
        raise FactUnusable(reason)
    # Isolated CPUs are the ones that poll. Without isolation any CPU may poll.
    polling = set(facts.kernel.isolated) or set(facts.online_cpus)
    governors = {c.id: c.governor for c in facts.cpus if c.id in polling and c.governor}
    if not governors:
        return NotApplicable("the kernel does not control the frequency (no cpufreq)")
    slow = {cpu: governor for cpu, governor in governors.items() if governor != WANTED}
    if not slow:
        return Passed(f"governor {WANTED} on {format_list(governors)}")
    found = "; ".join(
        f"{governor} on {format_list(c for c, g in slow.items() if g == governor)}"
        for governor in sorted(set(slow.values()))
    )
    return [
        Problem(
            found=f"governor {found}",
            wanted=f"governor {WANTED} on {format_list(polling)}",
            fix=(
                f"cpupower --cpu {format_list(slow)} frequency-set --governor {WANTED}",
                *program(subject.distribution, "cpupower"),
                "# permanently: tuned-adm profile cpu-partitioning (or throughput-performance)",
            ),
        )
    ]


RULE = Rule(
    id="WS31",
    name="governor",
    title="The frequency of polling CPUs may be lowered",
    severity=Severity.HIGH,
    needs=(Need.CPUS,),
    wanted="scaling_governor performance on the isolated CPUs",
    why="Powersaving governors change the frequency with the load; the zero-loss rate changes with "
    "it, and each change stops the core for tens of microseconds.",
    source="S3 table 4 (intel_pstate=disable); DPDK, Linux Getting Started, power",
    check=check,
)
