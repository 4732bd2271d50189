# SPDX-License-Identifier: Apache-2.0
"""Find cores with one isolated SMT thread and one that is not."""

from __future__ import annotations

from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    isolated = set(facts.kernel.isolated)
    split = {
        siblings
        for siblings in (facts.siblings(cpu) for cpu in isolated)
        if not set(siblings) <= isolated
    }
    if not split:
        return Passed(f"no core is split by isolated CPUs {format_list(isolated)}")
    pairs = ", ".join(format_list(siblings) for siblings in sorted(split))
    # CPU 0 must stay with the host, so its core leaves the isolated set; other cores join it whole.
    kept = {cpu for siblings in split if 0 in siblings for cpu in siblings}
    wanted = format_list((isolated | {cpu for siblings in split for cpu in siblings}) - kept)
    return [
        Problem(
            found=f"of the SMT siblings {pairs} one is isolated and one is not",
            wanted=f"whole cores: isolcpus={wanted}",
            fix=kernel_arguments(
                subject.distribution, f"isolcpus={wanted} nohz_full={wanted} rcu_nocbs={wanted}"
            ),
        )
    ]


RULE = Rule(
    id="WS09",
    name="siblings-split",
    title="SMT siblings are split between host and isolated CPUs",
    severity=Severity.HIGH,
    needs=(Need.SMT, Need.ISOLATED),
    wanted="all threads of a core isolated, or none",
    why="Siblings share the core's execution units and L1/L2 caches: host work on one thread takes "
    "up to half the core from the polling thread on the other.",
    source="S1, CPU pinning",
    check=check,
)
