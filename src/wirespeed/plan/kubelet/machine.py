# SPDX-License-Identifier: Apache-2.0
"""Describe a machine as the kubelet knows it from cAdvisor.

Source: Kubernetes v1.34.1, pkg/kubelet/cm/cpumanager/topology/topology.go; cAdvisor v0.52.1,
utils/sysinfo/sysinfo.go. Offline CPUs are unknown to both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from wirespeed.model.host.facts import Cpu, HostFacts


@dataclass(frozen=True, slots=True)
class CpuPlace:
    """Place of one CPU; `core` is the lowest CPU of its core."""

    core: int
    node: int
    socket: int
    cache: int
    """Last-level cache that only a part of the NUMA node shares; else the socket."""


@dataclass(frozen=True, slots=True)
class MachineNode:
    """One NUMA node; `huge_pages` pairs page size in KiB and number of pages."""

    id: int
    memory: int
    """Bytes that the kernel manages, huge pages included."""
    huge_pages: tuple[tuple[int, int], ...] = ()
    distances: tuple[int, ...] = ()


@dataclass(frozen=True)
class Machine:
    """CPUs by number, and NUMA nodes in ascending order."""

    cpus: Mapping[int, CpuPlace]
    nodes: tuple[MachineNode, ...]

    @cached_property
    def sockets(self) -> int:
        return len({place.socket for place in self.cpus.values()})

    @cached_property
    def cpu_nodes(self) -> tuple[int, ...]:
        """NUMA nodes that have CPUs."""
        return tuple(sorted({place.node for place in self.cpus.values()}))

    @cached_property
    def cpus_per_core(self) -> int:
        """Mean of the threads per core, rounded down; 1 as soon as one sibling is offline."""
        return len(self.cpus) // len({place.core for place in self.cpus.values()})

    @cached_property
    def cpus_per_socket(self) -> int:
        return len(self.cpus) // self.sockets

    @cached_property
    def cpus_per_cache(self) -> int:
        return len(self.cpus) // len({place.cache for place in self.cpus.values()})

    @cached_property
    def everything(self) -> frozenset[int]:
        return frozenset(self.cpus)

    def group(self, cpus: Iterable[int], level: str) -> dict[int, set[int]]:
        """Return the CPUs of each core, cache, node or socket that has one of them."""
        found: dict[int, set[int]] = {}
        for cpu in cpus:
            found.setdefault(getattr(self.cpus[cpu], level), set()).add(cpu)
        return found

    @cached_property
    def by_core(self) -> Mapping[int, set[int]]:
        return self.group(self.cpus, "core")

    @cached_property
    def by_cache(self) -> Mapping[int, set[int]]:
        return self.group(self.cpus, "cache")

    @cached_property
    def by_node(self) -> Mapping[int, set[int]]:
        return self.group(self.cpus, "node")

    @cached_property
    def by_socket(self) -> Mapping[int, set[int]]:
        return self.group(self.cpus, "socket")

    def whole_cores(self, cpus: Iterable[int]) -> frozenset[int]:
        """Return these CPUs and the siblings of each."""
        return frozenset(s for cpu in cpus for s in self.by_core[self.cpus[cpu].core])


def machine_of(
    facts: HostFacts, huge_pages: Mapping[int, Mapping[int, int]] | None = None
) -> Machine:
    """Return the machine that a kubelet on this host finds.

    huge_pages: pages by page size in KiB, by node, where a plan changes them. Every node lists
    each size that any node has, as the kernel does.
    """
    pools = {
        node.id: {pool.size_kib: pool.total for pool in node.huge_pages} for node in facts.nodes
    }
    for node_id, planned in (huge_pages or {}).items():
        pools[node_id].update(planned)
    sizes = sorted({size for node in pools.values() for size in node})
    return Machine(
        cpus={cpu.id: _place(facts, cpu) for cpu in facts.cpus if cpu.online},
        nodes=tuple(
            MachineNode(
                id=node.id,
                memory=node.memory_kib * 1024,
                huge_pages=tuple((size, pools[node.id].get(size, 0)) for size in sizes),
                distances=node.distances,
            )
            for node in sorted(facts.nodes, key=lambda node: node.id)
        ),
    )


def _place(facts: HostFacts, cpu: Cpu) -> CpuPlace:
    siblings = cpu.siblings or (cpu.id,)
    node = cpu.node or 0
    socket = cpu.package or 0
    return CpuPlace(min(siblings), node, socket, _cache(facts, cpu.id, node, socket))


def _cache(facts: HostFacts, cpu: int, node: int, socket: int) -> int:
    """Return the lowest CPU of a cache that only a part of the node shares; else the socket."""
    whole = next(len(n.cpus) for n in facts.nodes if n.id == node)
    for cache in facts.caches:
        if cache.level > 2 and cpu in cache.cpus and len(cache.cpus) != whole:
            return min(cache.cpus)
    return socket
