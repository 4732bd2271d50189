# SPDX-License-Identifier: Apache-2.0
"""Find an NMI watchdog that interrupts isolated CPUs."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    kept = subject.facts.housekeeping
    if kept is None or kept.nmi_watchdog is None:
        return NotApplicable("the kernel has no NMI watchdog")
    if not kept.nmi_watchdog:
        return Passed("kernel.nmi_watchdog is 0")
    return [
        Problem(
            found="kernel.nmi_watchdog is 1",
            wanted="0",
            fix=(
                "sysctl -w kernel.nmi_watchdog=0",
                "# at every boot: nmi_watchdog=0 on the kernel command line",
            ),
        )
    ]


RULE = Rule(
    id="WS58",
    name="nmi-watchdog",
    title="The NMI watchdog interrupts isolated CPUs",
    severity=Severity.LOW,
    needs=(Need.HOUSEKEEPING, Need.ISOLATED),
    wanted="kernel.nmi_watchdog = 0",
    why="It interrupts each CPU once in some seconds of busy time, also those that poll, and "
    "occupies a performance counter that perf then lacks.",
    source="Linux, admin-guide/lockup-watchdogs.rst",
    check=check,
    vendor_advice=True,
)
