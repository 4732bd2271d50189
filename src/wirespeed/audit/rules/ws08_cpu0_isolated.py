# SPDX-License-Identifier: Apache-2.0
"""Check that CPU 0 is left to the kernel."""

from __future__ import annotations

from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    isolated = set(facts.kernel.isolated)
    if 0 not in isolated:
        return Passed(f"isolated CPUs are {format_list(isolated)}")
    wanted = format_list(isolated - set(facts.siblings(0)))
    return [
        Problem(
            found=f"isolated CPUs are {format_list(isolated)}",
            wanted=f"CPU 0 and its siblings excluded: isolcpus={wanted}",
            fix=kernel_arguments(
                subject.distribution, f"isolcpus={wanted} nohz_full={wanted} rcu_nocbs={wanted}"
            ),
        )
    ]


RULE = Rule(
    id="WS08",
    name="cpu0-isolated",
    title="CPU 0 is isolated",
    severity=Severity.CRITICAL,
    needs=(Need.ISOLATED,),
    wanted="CPU 0 not in isolcpus",
    why="CPU 0 boots the machine, keeps time for the nohz_full CPUs and takes the interrupts that "
    "cannot move: they disturb a poll-mode thread there, and it leaves the host without CPU 0.",
    source="S0 table 3; S3 table 4 (both keep CPU 0 for housekeeping); kernel-parameters.txt",
    check=check,
)
