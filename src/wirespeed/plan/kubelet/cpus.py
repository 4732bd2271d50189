# SPDX-License-Identifier: Apache-2.0
"""Give containers exclusive CPUs as the kubelet's static CPU Manager policy does.

Source: Kubernetes v1.34.1, pkg/kubelet/cm/cpumanager/policy_static.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from wirespeed.model.plan.kubelet import (
    ContainerRequest,
    ContainerRole,
    CpuOption,
    KubeletSettings,
    PodRequest,
)
from wirespeed.plan.kubelet.distributed import take_distributed
from wirespeed.plan.kubelet.errors import KubeletRefusal
from wirespeed.plan.kubelet.hints import Hint, Hints, mask_of, masks, nodes_of
from wirespeed.plan.kubelet.machine import Machine
from wirespeed.plan.kubelet.packed import take_packed

RESOURCE = "cpu"


class StaticCpus:
    """CPUs of one node: the shared pool, and the exclusive CPUs of each container."""

    def __init__(self, machine: Machine, settings: KubeletSettings) -> None:
        self._machine = machine
        self._options = settings.cpu_options
        self._reserved = frozenset(settings.reserved_cpus)
        self._reserved_cores = machine.whole_cores(self._reserved)
        strict = CpuOption.STRICT_CPU_RESERVATION in self._options
        self.shared = machine.everything - (self._reserved if strict else frozenset())
        """CPUs on which all containers without exclusive CPUs run."""
        self.given: dict[str, dict[str, frozenset[int]]] = {}
        self._reusable: frozenset[int] = frozenset()

    def begin(self) -> None:
        """Start the admission of the next pod: nothing is reused of the one before."""
        self._reusable = frozenset()

    def hints(self, pod: PodRequest, container: ContainerRequest | None) -> Hints:
        """Return the hints of a container; of the whole pod for None."""
        request = exclusive_cpus(pod, container) if container else _of_pod(pod)
        return {RESOURCE: self._hints(request)} if request else {}

    def _hints(self, request: int) -> list[Hint]:
        machine = self._machine
        nodes = machine.cpu_nodes
        whole = {node: len(cpus) for node, cpus in machine.by_node.items()}
        free = self._count(self.shared - self._reserved)
        reused = self._count(self._reusable)
        smallest = len(nodes)
        found = []
        for chosen in masks(nodes):
            if sum(whole[n] for n in chosen) >= request:
                smallest = min(smallest, len(chosen))
            if not reused.keys() <= set(chosen):
                continue
            matching = sum(reused.values()) + sum(free.get(n, 0) for n in chosen)
            if matching >= request:
                found.append(chosen)
        return [Hint(mask_of(nodes), self._is_preferred(nodes, smallest)) for nodes in found]

    def _count(self, cpus: Iterable[int]) -> dict[int, int]:
        return {node: len(found) for node, found in self._machine.group(cpus, "node").items()}

    def _is_preferred(self, nodes: Collection[int], smallest: int) -> bool:
        machine = self._machine
        per_socket = len(machine.cpu_nodes) // machine.sockets
        if CpuOption.ALIGN_BY_SOCKET in self._options and per_socket:
            sockets = {p.socket for p in machine.cpus.values() if p.node in nodes}
            if len(sockets) == (smallest + per_socket - 1) // per_socket:
                return True
        return len(nodes) == smallest

    def allocate(self, pod: PodRequest, container: ContainerRequest, hint: Hint) -> None:
        """Give the container its CPUs. Raises KubeletRefusal or KubeletHang."""
        request = exclusive_cpus(pod, container)
        if not request:
            return
        if CpuOption.FULL_PCPUS_ONLY in self._options:
            self._check_whole_cores(request)
        chosen = self._take(request, hint)
        self.shared -= chosen
        self.given.setdefault(pod.name, {})[container.name] = chosen
        if container.role is ContainerRole.INIT:
            self._reusable |= chosen
        else:
            self._reusable -= chosen

    def _check_whole_cores(self, request: int) -> None:
        per_core = self._machine.cpus_per_core
        available = len(self.shared - self._reserved_cores)
        if request % per_core:
            problem = f"not multiple cpus per core = {per_core}"
        elif request > available:
            problem = (
                f"not enough free physical CPUs: available physical CPUs = {available}, "
                f"requested CPUs = {request}, CPUs per core = {per_core}"
            )
            raise KubeletRefusal("SMTAlignmentError", f"SMT Alignment Error: {problem}")
        else:
            return
        raise KubeletRefusal(
            "SMTAlignmentError", f"SMT Alignment Error: requested {request} cpus {problem}"
        )

    def _take(self, request: int, hint: Hint) -> frozenset[int]:
        free = (self.shared - self._reserved) | self._reusable
        aligned: set[int] = set()
        if hint.affinity is not None:
            near = free & self._near(nodes_of(hint.affinity))
            aligned = self._topology(near, min(request, len(near)))
        rest = self._topology(free - aligned, request - len(aligned))
        return frozenset(aligned | rest)

    def _near(self, nodes: Collection[int]) -> set[int]:
        places = self._machine.cpus
        if CpuOption.ALIGN_BY_SOCKET in self._options:
            sockets = {place.socket for place in places.values() if place.node in nodes}
            return {cpu for cpu, place in places.items() if place.socket in sockets}
        return {cpu for cpu, place in places.items() if place.node in nodes}

    def _topology(self, free: Iterable[int], needed: int) -> set[int]:
        spread = CpuOption.DISTRIBUTE_ACROSS_CORES in self._options
        if CpuOption.DISTRIBUTE_ACROSS_NUMA in self._options:
            whole = CpuOption.FULL_PCPUS_ONLY in self._options
            group = self._machine.cpus_per_core if whole else 1
            return take_distributed(self._machine, free, needed, group, spread=spread)
        caches = CpuOption.PREFER_UNCORE_CACHE in self._options
        return take_packed(self._machine, free, needed, spread=spread, caches=caches)

    def release(self, pod: str) -> None:
        """Take back all CPUs of a pod."""
        for cpus in self.given.pop(pod, {}).values():
            self.shared |= cpus


def exclusive_cpus(pod: PodRequest, container: ContainerRequest) -> int:
    """Return how many CPUs of its own a container gets; 0: it runs in the shared pool."""
    if not pod.is_guaranteed or container.cpu_m is None or container.cpu_m % 1000:
        return 0
    return container.cpu_m // 1000


def _of_pod(pod: PodRequest) -> int:
    at_start = sidecars = apps = 0
    for container in pod.in_order:
        request = exclusive_cpus(pod, container)
        if container.role is ContainerRole.SIDECAR:
            sidecars += request
        elif container.role is ContainerRole.INIT:
            at_start = max(at_start, sidecars + request)
        else:
            apps += request
    return max(at_start, apps + sidecars)
