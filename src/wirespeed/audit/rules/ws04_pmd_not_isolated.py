# SPDX-License-Identifier: Apache-2.0
"""Find CPUs of PMD threads that the kernel does not isolate."""

from __future__ import annotations

from wirespeed.audit.cores import pmd_cpus
from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    pmds, isolated = set(pmd_cpus(facts)), set(facts.kernel.isolated)
    exposed = pmds - isolated
    if not exposed:
        return Passed(f"PMD CPUs {format_list(pmds)} are isolated ({format_list(isolated)})")
    wanted = format_list(isolated | pmds)
    return [
        Problem(
            found=f"PMD CPUs {format_list(exposed)} are not isolated "
            f"(isolated: {format_list(isolated) or 'none'})",
            wanted=f"isolcpus={wanted}",
            fix=kernel_arguments(
                subject.distribution, f"isolcpus={wanted} nohz_full={wanted} rcu_nocbs={wanted}"
            ),
        )
    ]


RULE = Rule(
    id="WS04",
    name="pmd-not-isolated",
    title="PMD threads run on CPUs that the kernel schedules on",
    severity=Severity.CRITICAL,
    needs=(Need.DPDK, Need.KERNEL),
    wanted="every CPU of pmd-cpu-mask in /sys/devices/system/cpu/isolated",
    why="The scheduler may put any process there. A descheduled PMD thread loses what the rx ring "
    "cannot hold: 2048 descriptors last 138 us at 10GbE line rate with 64-byte frames.",
    source="S3 appendix C, IsolCPUs",
    check=check,
)
