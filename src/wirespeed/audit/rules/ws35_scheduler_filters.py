# SPDX-License-Identifier: Apache-2.0
"""Check that Nova's scheduler filters hosts by NUMA topology and PCI devices."""

from __future__ import annotations

from wirespeed.audit.fixes import scheduler_option
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import FactUnusable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

WANTED = ("NUMATopologyFilter", "PciPassthroughFilter")


def check(subject: Subject) -> Outcome:
    nova = subject.facts.nova
    filters = nova.enabled_filters if nova else None
    if nova is None or filters is None:
        path = nova.path if nova else "nova.conf"
        raise FactUnusable(
            f"needs the scheduler's nova.conf: {path} sets no [filter_scheduler] enabled_filters"
        )
    absent = [name for name in WANTED if name not in filters]
    if not absent:
        return Passed(f"{', '.join(WANTED)} are enabled")
    wanted = ",".join([*filters, *absent])
    return [
        Problem(
            found=f"enabled_filters in {nova.path} lacks {', '.join(absent)}",
            wanted=f"enabled_filters = {wanted}",
            fix=scheduler_option(
                subject.distribution, nova.path, "filter_scheduler", f"enabled_filters = {wanted}"
            ),
        )
    ]


RULE = Rule(
    id="WS35",
    name="scheduler-filters",
    title="Nova's scheduler ignores NUMA or PCI",
    severity=Severity.CRITICAL,
    needs=(Need.NOVA,),
    wanted=" and ".join(WANTED) + " in enabled_filters (neither is in Nova's default)",
    why="Guests with NUMA topology or PCI devices are scheduled to hosts that cannot run them, and "
    "fail there.",
    source="S1, NUMA extensions and PCIe pass-through",
    check=check,
)
