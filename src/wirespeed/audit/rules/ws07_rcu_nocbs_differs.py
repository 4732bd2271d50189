# SPDX-License-Identifier: Apache-2.0
"""Check that RCU callbacks are moved off exactly the isolated CPUs."""

from __future__ import annotations

from wirespeed.audit.cores import on_host
from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    kernel = subject.facts.kernel
    named = on_host(subject.facts, kernel.rcu_nocbs, "rcu_nocbs=")
    # nohz_full= implies rcu_nocbs= for its CPUs.
    offloaded = set(named) | set(kernel.nohz_full or ())
    isolated = set(kernel.isolated)
    if offloaded == isolated:
        return Passed(f"callbacks are offloaded from {format_list(isolated)}")
    wanted = format_list(isolated)
    return [
        Problem(
            found=f"callbacks are offloaded from {format_list(offloaded) or 'no CPU'}, "
            f"isolated are {wanted}",
            wanted=f"rcu_nocbs={wanted}",
            fix=kernel_arguments(subject.distribution, f"rcu_nocbs={wanted}"),
        )
    ]


RULE = Rule(
    id="WS07",
    name="rcu-nocbs-differs",
    title="rcu_nocbs is not the set of isolated CPUs",
    severity=Severity.HIGH,
    needs=(Need.ISOLATED,),
    wanted="rcu_nocbs (with nohz_full, which implies it) equal to isolcpus",
    why="RCU callbacks run in softirq context on the CPU that queued them and stop a polling "
    "thread for as long as they last.",
    source="S3 appendix C, IsolCPUs; kernel-parameters.txt, rcu_nocbs",
    check=check,
)
