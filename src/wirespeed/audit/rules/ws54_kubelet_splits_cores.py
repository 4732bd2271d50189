# SPDX-License-Identifier: Apache-2.0
"""Find cores of which the kubelet reserves some threads and gives the others to containers."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import FactUnusable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    if subject.kubelet is None:
        raise FactUnusable("needs the configuration of the kubelet (--kubelet)")
    reserved = set(subject.kubelet.reserved_cpus)
    whole = {cpu for one in reserved for cpu in subject.facts.siblings(one)}
    split = whole - reserved
    if not split:
        return Passed(f"reserved CPUs {format_list(reserved) or 'none'} are whole cores")
    return [
        Problem(
            found=f"reservedSystemCPUs {format_list(reserved)} leaves the siblings "
            f"{format_list(split)} to containers",
            wanted=f"reservedSystemCPUs: {format_list(whole)}",
            fix=(f'# KubeletConfiguration: reservedSystemCPUs: "{format_list(whole)}"',),
        )
    ]


RULE = Rule(
    id="WS54",
    name="kubelet-splits-cores",
    title="Kubelet reserves one thread of a core",
    severity=Severity.HIGH,
    needs=(Need.SMT, Need.KUBELET),
    wanted="all threads of a core reserved, or none",
    why="A polling container shares its core with system daemons; full-pcpus-only then refuses to "
    "use the sibling, so its CPUs are lost.",
    source="openshift-docs issue 58610; Kubernetes v1.34.1, cpumanager/policy_static.go",
    check=check,
)
