# SPDX-License-Identifier: Apache-2.0
"""Check that TCP segmentation offload is on where guests carry TCP through the vSwitch."""

from __future__ import annotations

from wirespeed.audit.fixes import ovs_other_config, restart_ovs
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
from wirespeed.model.host.finding import Severity

KEY = "userspace-tso-enable"


def check(subject: Subject) -> Outcome:
    ovs = subject.facts.ovs
    if ovs and ovs.other_config.get(KEY) == "true":
        return Passed(f"{KEY}=true")
    if subject.tcp is None:
        raise FactUnusable("needs the kind of traffic of guests: give --traffic tcp or frames")
    if not subject.tcp:
        return NotApplicable("guests do not terminate TCP (--traffic frames)")
    return [
        Problem(
            found=f"{KEY} is not set",
            wanted=f"{KEY}=true",
            fix=(*ovs_other_config(f"{KEY}=true"), restart_ovs(subject.distribution)),
        )
    ]


RULE = Rule(
    id="WS49",
    name="tso-off",
    title="TCP segmentation offload is off for a TCP workload",
    severity=Severity.MEDIUM,
    needs=(Need.DPDK,),
    wanted=f"other_config:{KEY}=true where guests terminate TCP",
    why="S0 went from 3.87 to 9.35 Gbps, and between VMs of one host tenfold, with offload and "
    "multi-queue: the vSwitch handles 64 KiB segments instead of 1.5 KiB frames.",
    source="S0, additional optimizations, and figures 5 and 7",
    check=check,
)
