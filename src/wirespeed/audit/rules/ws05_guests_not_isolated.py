# SPDX-License-Identifier: Apache-2.0
"""Find CPUs of pinned guests that the kernel does not isolate."""

from __future__ import annotations

from wirespeed.audit.cores import guest_cpus, require_whole_picture
from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    guests, isolated = set(guest_cpus(facts)), set(facts.kernel.isolated)
    exposed = guests - isolated
    if not exposed:
        require_whole_picture(facts)
        return Passed(f"guest CPUs {format_list(guests)} are isolated")
    wanted = format_list(isolated | guests)
    return [
        Problem(
            found=f"guest CPUs {format_list(exposed)} are not isolated",
            wanted=f"isolcpus={wanted}",
            fix=kernel_arguments(
                subject.distribution, f"isolcpus={wanted} nohz_full={wanted} rcu_nocbs={wanted}"
            ),
        )
    ]


RULE = Rule(
    id="WS05",
    name="guests-not-isolated",
    title="Pinned guests run on CPUs that the kernel schedules on",
    severity=Severity.HIGH,
    needs=(Need.KERNEL,),
    wanted="every CPU for pinned guests in /sys/devices/system/cpu/isolated",
    why="A VNF polls its virtio ring like a PMD thread; host processes on its CPU stop it and the "
    "ring overflows.",
    source="S1, CPU pinning; S3 appendix C, IsolCPUs",
    check=check,
)
