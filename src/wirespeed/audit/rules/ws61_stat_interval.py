# SPDX-License-Identifier: Apache-2.0
"""Find a short interval of memory statistics."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

_LEAST_S = 10


def check(subject: Subject) -> Outcome:
    kept = subject.facts.housekeeping
    if kept is None or kept.stat_interval_s is None:
        return NotApplicable("the kernel has no vm.stat_interval")
    if kept.stat_interval_s >= _LEAST_S:
        return Passed(f"vm.stat_interval is {kept.stat_interval_s} s")
    return [
        Problem(
            found=f"vm.stat_interval is {kept.stat_interval_s} s",
            wanted=f"{_LEAST_S} s or more",
            fix=(
                f"sysctl -w vm.stat_interval={_LEAST_S}",
                f"echo vm.stat_interval={_LEAST_S} > /etc/sysctl.d/90-stat-interval.conf",
            ),
        )
    ]


RULE = Rule(
    id="WS61",
    name="stat-interval",
    title="Memory statistics are gathered often",
    severity=Severity.LOW,
    needs=(Need.HOUSEKEEPING, Need.ISOLATED),
    wanted="vm.stat_interval of 10 s or more",
    why="In this interval a kworker (vmstat_update) runs on each CPU whose statistics changed, "
    "also on those that poll.",
    source="Linux, admin-guide/sysctl/vm.rst; tuned, profile cpu-partitioning",
    check=check,
    vendor_advice=True,
)
