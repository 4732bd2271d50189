# SPDX-License-Identifier: Apache-2.0
"""Find workqueues that may run on isolated CPUs."""

from __future__ import annotations

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
from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    unknown = facts.why_missing("workqueue_cpus")
    if unknown:
        raise FactUnusable(f"needs the CPUs of unbound workqueues: {unknown}")
    kept = facts.housekeeping
    if kept is None or kept.workqueue_cpus is None:
        return NotApplicable("the kernel does not show the CPUs of unbound workqueues")
    isolated = set(facts.kernel.isolated)
    shared = isolated & set(kept.workqueue_cpus)
    if not shared:
        return Passed(f"unbound workqueues run on CPUs {format_list(kept.workqueue_cpus)}")
    rest = set(facts.online_cpus) - isolated
    mask = format_mask(rest).removeprefix("0x")
    return [
        Problem(
            found=f"unbound workqueues may run on isolated CPUs {format_list(shared)}",
            wanted=f"CPUs {format_list(rest)} alone",
            fix=(f"echo {mask} > /sys/devices/virtual/workqueue/cpumask",) if rest else (),
        )
    ]


RULE = Rule(
    id="WS63",
    name="workqueues-on-isolated",
    title="Workqueues may run on isolated CPUs",
    severity=Severity.MEDIUM,
    needs=(Need.HOUSEKEEPING, Need.KERNEL, Need.ISOLATED),
    wanted="no isolated CPU in the cpumask of unbound workqueues",
    why="Their kworkers do work of the whole kernel, such as writing pages to disks, and stop the "
    "thread that polls there.",
    source="Linux, core-api/workqueue.rst",
    check=check,
    vendor_advice=True,
)
