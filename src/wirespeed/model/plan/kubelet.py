# SPDX-License-Identifier: Apache-2.0
"""Define the kubelet's settings that decide which CPUs, memory and devices a container gets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.input.text import Name

# Nodes above which the Topology Manager refuses to enumerate sets of nodes, without its option.
MOST_NUMA_NODES = 8


class TopologyPolicy(StrEnum):
    """Topology Manager policy (topologyManagerPolicy)."""

    NONE = "none"
    BEST_EFFORT = "best-effort"
    RESTRICTED = "restricted"
    SINGLE_NUMA_NODE = "single-numa-node"


class TopologyScope(StrEnum):
    """Unit that the Topology Manager aligns (topologyManagerScope)."""

    CONTAINER = "container"
    POD = "pod"


class CpuOption(StrEnum):
    """Option of the static CPU Manager policy in Kubernetes 1.34."""

    FULL_PCPUS_ONLY = "full-pcpus-only"
    STRICT_CPU_RESERVATION = "strict-cpu-reservation"
    DISTRIBUTE_ACROSS_NUMA = "distribute-cpus-across-numa"
    DISTRIBUTE_ACROSS_CORES = "distribute-cpus-across-cores"
    ALIGN_BY_SOCKET = "align-by-socket"
    PREFER_UNCORE_CACHE = "prefer-align-cpus-by-uncorecache"


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """Memory of one type on one NUMA node that the kubelet keeps for the system."""

    node: int
    bytes: int
    page_kib: int = 0
    """Size of the huge pages; 0 for ordinary memory."""


@dataclass(frozen=True, slots=True)
class KubeletSettings:
    """Settings of one kubelet; the defaults are those of Kubernetes."""

    reserved_cpus: tuple[int, ...] = ()
    static_cpus: bool = False
    """cpuManagerPolicy is static; false: none."""
    cpu_options: frozenset[CpuOption] = frozenset()
    static_memory: bool = False
    """memoryManagerPolicy is Static; false: None."""
    reserved_memory: tuple[NodeMemory, ...] = ()
    topology: TopologyPolicy = TopologyPolicy.NONE
    scope: TopologyScope = TopologyScope.CONTAINER
    prefer_closest: bool = False
    """Topology Manager option prefer-closest-numa-nodes."""
    most_numa_nodes: int = MOST_NUMA_NODES
    """Topology Manager option max-allowable-numa-nodes."""


class ContainerRole(StrEnum):
    """Container of a pod: initContainers, the same with restartPolicy Always, or containers."""

    INIT = "init"
    SIDECAR = "sidecar"
    APP = "app"


@dataclass(frozen=True, slots=True)
class ContainerRequest:
    """Resources of one container; None is a resource that the manifest does not name."""

    name: Name
    cpu_m: int | None = None
    """CPU request in 1/1000 CPU."""
    cpu_limit_m: int | None = None
    memory: int | None = None
    """Memory request in bytes."""
    memory_limit: int | None = None
    huge_pages: tuple[tuple[int, int], ...] = ()
    """Page size in KiB and bytes; request and limit are equal."""
    devices: tuple[tuple[str, int], ...] = ()
    """Resource name of a device plugin and count; request and limit are equal."""
    role: ContainerRole = ContainerRole.APP

    @property
    def is_guaranteed(self) -> bool:
        """CPU and memory are limited, and the limits equal the requests."""
        return (
            bool(self.cpu_m and self.memory)
            and self.cpu_m == self.cpu_limit_m
            and self.memory == self.memory_limit
        )


@dataclass(frozen=True, slots=True)
class PodRequest:
    """A pod as the kubelet admits it: init containers first, then the others, in order."""

    name: Name
    containers: tuple[ContainerRequest, ...]

    @property
    def is_guaranteed(self) -> bool:
        """Quality of service class Guaranteed: every container is guaranteed."""
        return all(container.is_guaranteed for container in self.containers)

    @property
    def in_order(self) -> tuple[ContainerRequest, ...]:
        """Return the containers in the order in which the kubelet admits them."""
        apps = tuple(c for c in self.containers if c.role is ContainerRole.APP)
        return (*(c for c in self.containers if c.role is not ContainerRole.APP), *apps)
