# SPDX-License-Identifier: Apache-2.0
"""Check the settings of a kubelet against its machine, in the order and the words of the kubelet.

Source: Kubernetes v1.34.1, cmd/kubelet/app/server.go and pkg/kubelet/cm.
"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.cpuset import format_list
from wirespeed.model.plan.kubelet import CpuOption, KubeletSettings, TopologyPolicy
from wirespeed.plan.kubelet.errors import KubeletStartError
from wirespeed.plan.kubelet.machine import Machine

# Options that do not go together (NewStaticPolicyOptions), in the order of its checks.
CONFLICTS = (
    (CpuOption.FULL_PCPUS_ONLY, CpuOption.DISTRIBUTE_ACROSS_CORES),
    (CpuOption.DISTRIBUTE_ACROSS_NUMA, CpuOption.DISTRIBUTE_ACROSS_CORES),
    (CpuOption.PREFER_UNCORE_CACHE, CpuOption.DISTRIBUTE_ACROSS_CORES),
    (CpuOption.PREFER_UNCORE_CACHE, CpuOption.DISTRIBUTE_ACROSS_NUMA),
)


def check(settings: KubeletSettings, machine: Machine) -> None:
    """Raise KubeletStartError with the first reason why the kubelet does not start."""
    for problem in _problems(settings, machine):
        raise KubeletStartError(problem)


def _problems(settings: KubeletSettings, machine: Machine) -> Iterator[str]:
    reserved = set(settings.reserved_cpus)
    if not reserved <= machine.everything:
        yield (
            f"reserved-cpus: {format_list(reserved)} is not a subset of online-cpus: "
            f"{format_list(machine.everything)}"
        )
    most = settings.most_numa_nodes
    if settings.topology is not TopologyPolicy.NONE and len(machine.nodes) > most:
        yield f"unsupported on machines with more than {most} NUMA Nodes"
    if settings.cpu_options and not settings.static_cpus:
        named = " ".join(f"{option}:true" for option in sorted(settings.cpu_options))
        yield f"new none policy error: None policy: received unsupported options=map[{named}]"
    if settings.static_cpus:
        yield from _cpu_problems(settings, machine)
    if settings.static_memory:
        yield from _memory_problems(settings, machine)


def _cpu_problems(settings: KubeletSettings, machine: Machine) -> Iterator[str]:
    if not settings.reserved_cpus:
        yield (
            "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be "
            "greater than zero"
        )
    for one, other in CONFLICTS:
        if {one, other} <= settings.cpu_options:
            yield (
                "new static policy error: static policy options "
                f"{one} and {other} can not be used at the same time"
            )
    if CpuOption.ALIGN_BY_SOCKET in settings.cpu_options:
        if settings.topology is TopologyPolicy.SINGLE_NUMA_NODE:
            yield (
                "new static policy error: Topolgy manager single-numa-node policy is incompatible "
                "with CPUManager align-by-socket policy option"
            )
        if machine.sockets > len(machine.cpu_nodes):
            yield (
                "new static policy error: Align by socket is not compatible with hardware where "
                "number of sockets are more than number of NUMA"
            )


def _memory_problems(settings: KubeletSettings, machine: Machine) -> Iterator[str]:
    known = {node.id for node in machine.nodes}
    for reserved in settings.reserved_memory:
        if reserved.node not in known:
            yield (
                f"the reserved memory configuration references a NUMA node {reserved.node} that "
                "does not exist on this machine"
            )
    if not any(r.bytes for r in settings.reserved_memory if not r.page_kib):
        yield "[memorymanager] you should specify the system reserved memory"
