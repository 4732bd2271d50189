# SPDX-License-Identifier: Apache-2.0
"""Turn pods of a workload into the requests that a kubelet gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from wirespeed.model.plan.kubelet import ContainerRequest, PodRequest
from wirespeed.model.plan.plan import ContainerPlan, Decision, PodPlan, PodPort
from wirespeed.model.plan.policy import DataPlane
from wirespeed.model.plan.workload import PodContainer, Vnf, Workload
from wirespeed.plan.workload.pod_rules import page_kib

_MIB = 1 << 20


def pod_request(
    vnf: Vnf, name: str, workload: Workload, resources: Mapping[str, str]
) -> PodRequest:
    """Return the request of one replica; resources: resource name by network."""
    vfs = Counter(resources[port.network] for port in vnf.ports)
    return PodRequest(
        name,
        tuple(
            _request(container, workload, dict(vfs) if number == 0 else {})
            for number, container in enumerate(vnf.containers)
        ),
    )


def _request(
    container: PodContainer, workload: Workload, vfs: Mapping[str, int]
) -> ContainerRequest:
    cpu = round(container.cpus * 1000)
    memory = container.memory_mib * _MIB
    size = page_kib(container, workload.memory.page_size_kib)
    pages = ((size, container.huge_pages_mib * _MIB),) if container.huge_pages_mib else ()
    return ContainerRequest(
        container.name, cpu, cpu, memory, memory, pages, tuple(sorted(vfs.items()))
    )


def pod_plan(
    vnf: Vnf, pool: str, workload: Workload, resources: Mapping[str, str], replicas: int
) -> PodPlan:
    """Return the pods to create; replicas: how many of them fit."""
    polls = vnf.data_plane is DataPlane.DPDK
    return PodPlan(
        name=vnf.name,
        pool=pool,
        replicas=replicas,
        polls=polls,
        containers=tuple(_container_plan(c, workload) for c in vnf.containers),
        ports=tuple(
            PodPort(p.name, p.network, resources[p.network], p.port_security) for p in vnf.ports
        ),
    )


def _container_plan(container: PodContainer, workload: Workload) -> ContainerPlan:
    exclusive = container.cpus == int(container.cpus)
    return ContainerPlan(
        name=container.name,
        image=container.image,
        cpu_m=Decision(
            round(container.cpus * 1000),
            "a whole number, limit equal to request: exclusive CPUs"
            if exclusive
            else "not a whole number: it runs in the shared pool",
        ),
        memory_mib=container.memory_mib,
        huge_pages_mib=container.huge_pages_mib,
        page_kib=page_kib(container, workload.memory.page_size_kib)
        if container.huge_pages_mib
        else 0,
    )
