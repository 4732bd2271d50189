# SPDX-License-Identifier: Apache-2.0
"""Find kernel samepage merging on a host of guests."""

from __future__ import annotations

from wirespeed.audit.fixes import command
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    kept = subject.facts.housekeeping
    if kept is None or kept.ksm is None:
        return NotApplicable("the kernel has no samepage merging")
    if not kept.ksm:
        return Passed("kernel samepage merging does not run")
    return [
        Problem(
            found="/sys/kernel/mm/ksm/run is 1",
            wanted="2: stopped, with every merged page separate again",
            fix=(
                command("systemctl", "disable", "--now", *subject.distribution.ksm_units),
                "echo 2 > /sys/kernel/mm/ksm/run",
            ),
        )
    ]


RULE = Rule(
    id="WS60",
    name="ksm",
    title="Kernel samepage merging runs",
    severity=Severity.MEDIUM,
    needs=(Need.HOUSEKEEPING, Need.ISOLATED),
    wanted="/sys/kernel/mm/ksm/run = 0 or 2",
    why="ksmd reads the memory of guests all the time, which costs cache and memory bandwidth, and "
    "a guest that writes to a merged page waits for a copy.",
    source="Linux, admin-guide/mm/ksm.rst",
    check=check,
    vendor_advice=True,
)
