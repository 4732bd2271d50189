# SPDX-License-Identifier: Apache-2.0
"""Find CPUs that the kernel isolates and the kubelet keeps for the system."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import FactUnusable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    if subject.kubelet is None:
        raise FactUnusable("needs the configuration of the kubelet (--kubelet)")
    reserved = set(subject.kubelet.reserved_cpus)
    both = reserved & set(subject.facts.kernel.isolated) - _polling(subject)
    if not both:
        return Passed(f"no reserved CPU ({format_list(reserved) or 'none'}) is isolated")
    return [
        Problem(
            found=f"CPUs {format_list(both)} are reserved for the system and isolated from it",
            wanted="reserved and isolated CPUs that have none in common",
            fix=(f"# Take {format_list(both)} out of reservedSystemCPUs or of isolcpus=",),
        )
    ]


def _polling(subject: Subject) -> set[int]:
    """Return the cores of PMD threads: isolated for them, and reserved so that no pod gets them."""
    ovs = subject.facts.ovs
    threads = (ovs.pmds if ovs else None) or ()
    return {cpu for thread in threads for cpu in subject.facts.siblings(thread.core)}


RULE = Rule(
    id="WS56",
    name="kubelet-reserves-isolated-cpus",
    title="Reserved CPUs of the kubelet are isolated",
    severity=Severity.MEDIUM,
    needs=(Need.ISOLATED, Need.KUBELET),
    wanted="reservedSystemCPUs and isolcpus without a common CPU",
    why="System daemons are confined to CPUs on which the scheduler does not balance them: all run "
    "on the first.",
    source="Linux, admin-guide/kernel-parameters; Kubernetes, Reserve Compute Resources",
    check=check,
)
