# SPDX-License-Identifier: Apache-2.0
"""Find a limit of real-time threads on a real-time kernel."""

from __future__ import annotations

import re

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

# In names of releases: 6.1.0-18-rt-amd64, 6.1.0-rt5, 4.18.0-193.rt13.51.el8, 5.14.0-427.el9+rt.
_REAL_TIME = re.compile(r"[-+.]rt[0-9]*(?=[-+.]|$)")


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    kept = facts.housekeeping
    if not _REAL_TIME.search(facts.kernel.release):
        return NotApplicable("the kernel is no real-time kernel; pollers are ordinary threads")
    if kept is None or kept.rt_runtime_us is None:
        return NotApplicable("the kernel does not limit real-time threads")
    if kept.rt_runtime_us < 0 or kept.rt_runtime_us >= (kept.rt_period_us or 0):
        return Passed(f"kernel.sched_rt_runtime_us is {kept.rt_runtime_us}: no limit")
    return [
        Problem(
            found=f"real-time threads get {kept.rt_runtime_us:,} of {kept.rt_period_us or 0:,} us",
            wanted="no limit (-1)",
            fix=(
                "sysctl -w kernel.sched_rt_runtime_us=-1",
                "echo kernel.sched_rt_runtime_us=-1 > /etc/sysctl.d/90-real-time.conf",
            ),
        )
    ]


RULE = Rule(
    id="WS62",
    name="real-time-limit",
    title="Real-time pollers are stopped in each period",
    severity=Severity.MEDIUM,
    needs=(Need.HOUSEKEEPING, Need.KERNEL, Need.ISOLATED),
    wanted="kernel.sched_rt_runtime_us = -1 on a real-time kernel",
    why="A vCPU or PMD thread of SCHED_FIFO that polls uses all its time, so it is stopped for the "
    "rest of each period, 50 ms of a second by default.",
    source="Linux, scheduler/sched-rt-group.rst; tuned, profile realtime",
    check=check,
    vendor_advice=True,
)
