# SPDX-License-Identifier: Apache-2.0
"""Place pods on the nodes of a pool, by what each node's kubelet will answer.

Kubernetes' scheduler counts CPUs, memory and VFs of a node and knows no NUMA node, so it may choose
a node whose kubelet refuses the pod. The plan gives each pod the emptiest node that admits it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.kubelet import (
    ContainerRequest,
    KubeletSettings,
    PodRequest,
    TopologyPolicy,
    TopologyScope,
)
from wirespeed.model.plan.plan import Shortage, Unplaced
from wirespeed.plan.errors import PlanError
from wirespeed.plan.kubelet.admission import Admission, Kubelet
from wirespeed.plan.kubelet.devices import PluginDevice
from wirespeed.plan.kubelet.errors import KubeletHang
from wirespeed.plan.kubelet.machine import Machine, machine_of

Plugins = Mapping[str, tuple[PluginDevice, ...]]


@dataclass(slots=True)
class PodHost:
    """A node with its kubelet, and the answers so far."""

    facts: HostFacts
    machine: Machine
    settings: KubeletSettings
    plugins: Plugins
    admitted: list[tuple[PodRequest, Admission]] = field(default_factory=list)
    kubelet: Kubelet = field(init=False)

    def __post_init__(self) -> None:
        self.kubelet = Kubelet(self.machine, self.settings, self.plugins)

    @property
    def used_m(self) -> int:
        """CPU requests in 1/1000."""
        return sum(c.cpu_m or 0 for pod, _ in self.admitted for c in pod.containers)

    @property
    def allocatable_m(self) -> int:
        """CPUs in 1/1000 that the scheduler counts."""
        return 1000 * (len(self.machine.cpus) - len(self.settings.reserved_cpus))

    def admit(self, pod: PodRequest) -> Admission:
        """Return the answer of scheduler and kubelet; an admitted pod stays."""
        asked = sum(c.cpu_m or 0 for c in pod.containers)
        if self.used_m + asked > self.allocatable_m:
            left = (self.allocatable_m - self.used_m) / 1000
            return Admission(
                pod.name, "Unschedulable", f"Insufficient cpu: {asked / 1000:g} of {left:g} left"
            )
        try:
            answer = self.kubelet.admit(pod)
        except KubeletHang:
            raise PlanError(
                f"host {self.facts.host}: the kubelet never answers pod {pod.name}: "
                "full-pcpus-only with distribute-cpus-across-numa loops without end (kubernetes "
                "issue 140730)",
                "Leave distribute-cpus-across-numa out of cpu_options of the pool.",
            ) from None
        if answer.is_admitted:
            self.admitted.append((pod, answer))
        return answer


def pod_host(
    facts: HostFacts,
    settings: KubeletSettings,
    plugins: Plugins,
    pages: Mapping[int, Mapping[int, int]],
    *,
    memory_counts: bool = True,
) -> PodHost:
    """Return a node without pods; pages: huge pages by size in KiB, by NUMA node.

    memory_counts: false to give each node ordinary memory without end, to learn its page demand.
    """
    machine = machine_of(facts, pages)
    if not memory_counts:
        nodes = tuple(replace(node, memory=node.memory + (1 << 50)) for node in machine.nodes)
        machine = Machine(machine.cpus, nodes)
    return PodHost(facts, machine, settings, plugins)


def place(hosts: Sequence[PodHost], pods: Sequence[PodRequest]) -> list[Unplaced]:
    """Admit each pod on the emptiest host that takes it; return those that no host takes."""
    lost: list[Unplaced] = []
    # A refusal changes nothing, so the next equal pod is refused alike.
    refused: dict[tuple[ContainerRequest, ...], Unplaced] = {}
    for pod in pods:
        if pod.containers in refused:
            lost.append(replace(refused[pod.containers], guest=pod.name))
            continue
        refusals: dict[tuple[str, str], list[str]] = {}
        for host in sorted(hosts, key=lambda host: host.used_m / max(1, host.allocatable_m)):
            answer = host.admit(pod)
            if answer.is_admitted:
                refused.clear()
                break
            refusals.setdefault((answer.reason, answer.message), []).append(host.facts.host)
        else:
            refused[pod.containers] = _unplaced(pod, refusals, hosts)
            lost.append(refused[pod.containers])
    return lost


def _unplaced(
    pod: PodRequest, refusals: Mapping[tuple[str, str], list[str]], hosts: Sequence[PodHost]
) -> Unplaced:
    cpus = sum(c.cpu_m or 0 for c in pod.containers) / 1000
    vfs = sum(count for c in pod.containers for _, count in c.devices)
    return Unplaced(
        guest=pod.name,
        shortages=tuple(
            Shortage(tuple(names), None, reason, f"{cpus:g} CPUs, {vfs} VFs", message)
            for (reason, message), names in refusals.items()
        ),
        change=next(_changes(pod, hosts), None),
    )


def _changes(pod: PodRequest, hosts: Sequence[PodHost]) -> Iterator[str]:
    """Yield settings of the pool with which a host would admit the pod, the strictest first."""
    for policy, scope in (
        (TopologyPolicy.SINGLE_NUMA_NODE, TopologyScope.CONTAINER),
        (TopologyPolicy.RESTRICTED, TopologyScope.POD),
        (TopologyPolicy.RESTRICTED, TopologyScope.CONTAINER),
        (TopologyPolicy.BEST_EFFORT, TopologyScope.POD),
    ):
        for host in hosts:
            settings = replace(host.settings, topology=policy, scope=scope)
            other = PodHost(host.facts, host.machine, settings, host.plugins)
            for placed, _ in host.admitted:
                other.admit(placed)
            answer = other.admit(pod)
            if answer.is_admitted:
                nodes = sorted({n for c in answer.containers for n in c.nodes or ()})
                where = "any NUMA node" if not nodes else f"NUMA nodes {', '.join(map(str, nodes))}"
                yield (
                    f'topology_policy = "{policy}", topology_scope = "{scope}" of the pool admits '
                    f"it on {host.facts.host}, on {where}"
                )
