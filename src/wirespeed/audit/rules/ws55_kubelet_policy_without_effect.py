# SPDX-License-Identifier: Apache-2.0
"""Find kubelet settings that do nothing on this host, or keep the kubelet from starting."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import FactUnusable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.plan.kubelet import CpuOption, KubeletSettings, TopologyPolicy
from wirespeed.plan.kubelet.errors import KubeletStartError
from wirespeed.plan.kubelet.machine import Machine, machine_of
from wirespeed.plan.kubelet.settings import check as check_start


def check(subject: Subject) -> Outcome:
    if subject.kubelet is None:
        raise FactUnusable("needs the configuration of the kubelet (--kubelet)")
    machine = machine_of(subject.facts)
    found = list(_problems(subject.kubelet, machine))
    return found or Passed("every policy of the kubelet has an effect on this host")


def _problems(settings: KubeletSettings, machine: Machine) -> Iterator[Problem]:
    try:
        check_start(settings, machine)
    except KubeletStartError as error:
        yield Problem(f"the kubelet does not start: {error}", "settings that it accepts")
    aligns = settings.topology is not TopologyPolicy.NONE
    if aligns and not settings.static_cpus:
        yield Problem(
            f"topologyManagerPolicy {settings.topology} with cpuManagerPolicy none aligns no CPUs",
            "cpuManagerPolicy: static",
            ("# KubeletConfiguration: cpuManagerPolicy: static",),
        )
    if not aligns and settings.static_cpus and len(machine.nodes) > 1:
        yield Problem(
            "cpuManagerPolicy static with topologyManagerPolicy none: exclusive CPUs come from any "
            "NUMA node",
            "topologyManagerPolicy: single-numa-node",
            ("# KubeletConfiguration: topologyManagerPolicy: single-numa-node",),
        )
    if aligns and not settings.static_memory and len(machine.nodes) > 1:
        yield Problem(
            f"topologyManagerPolicy {settings.topology} with memoryManagerPolicy None aligns no "
            "huge pages",
            "memoryManagerPolicy: Static with reservedMemory",
            ("# KubeletConfiguration: memoryManagerPolicy: Static, reservedMemory: ...",),
        )
    threads = max(len(core) for core in machine.by_core.values())
    if CpuOption.FULL_PCPUS_ONLY in settings.cpu_options and machine.cpus_per_core != threads:
        yield Problem(
            f"full-pcpus-only counts {machine.cpus_per_core} of {threads} threads a core, because "
            "CPUs are offline",
            "all threads online, or SMT off",
            ("for cpu in /sys/devices/system/cpu/cpu*/online; do echo 1 > $cpu; done",),
        )


RULE = Rule(
    id="WS55",
    name="kubelet-policy-without-effect",
    title="Kubelet policy has no effect",
    severity=Severity.HIGH,
    needs=(Need.CPUS, Need.MEMORY, Need.KUBELET),
    wanted="static CPU and memory policies under a Topology Manager policy",
    why="Each manager gives the Topology Manager its part of the hints: without one of them, CPUs, "
    "pages and VFs of a pod are on different NUMA nodes.",
    source="Kubernetes v1.34.1, pkg/kubelet/cm; kubernetes issue 106270",
    check=check,
)
