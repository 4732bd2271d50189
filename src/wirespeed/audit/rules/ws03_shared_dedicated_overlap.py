# SPDX-License-Identifier: Apache-2.0
"""Find CPUs that are in both Nova's shared and Nova's dedicated CPU set."""

from __future__ import annotations

from wirespeed.audit.cores import on_host
from wirespeed.audit.fixes import nova_option
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    nova = subject.facts.nova
    if nova is None or nova.shared_cpus is None or nova.dedicated_cpus is None:
        return NotApplicable("nova.conf does not set both cpu_shared_set and cpu_dedicated_set")
    shared = on_host(subject.facts, nova.shared_cpus, "cpu_shared_set")
    dedicated = on_host(subject.facts, nova.dedicated_cpus, "cpu_dedicated_set")
    both = set(shared) & set(dedicated)
    if not both:
        return Passed(f"shared {format_list(shared)}, dedicated {format_list(dedicated)}")
    free = format_list(set(shared) - both)
    return [
        Problem(
            found=f"CPUs {format_list(both)} are in cpu_shared_set and in cpu_dedicated_set",
            wanted=f"cpu_shared_set = {free}",
            fix=nova_option(subject.distribution, nova.path, "compute", f"cpu_shared_set = {free}"),
        )
    ]


RULE = Rule(
    id="WS03",
    name="shared-dedicated-overlap",
    title="Nova's shared and dedicated CPU sets overlap",
    severity=Severity.CRITICAL,
    needs=(Need.NOVA,),
    wanted="cpu_shared_set and cpu_dedicated_set without a common CPU",
    why="A pinned vCPU would share its CPU with floating guests and emulator threads; nova-compute "
    "refuses to start with such sets.",
    source="Nova configuration reference, [compute] cpu_dedicated_set",
    check=check,
)
