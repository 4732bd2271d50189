# SPDX-License-Identifier: Apache-2.0
"""Partition a host as a Kubernetes node: reserved CPUs, room for huge pages, VFs as resources."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.kubelet import NodeMemory
from wirespeed.model.plan.plan import CorePlan, Decision
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.errors import PlanError
from wirespeed.plan.host.capacity import Pool, device_pools
from wirespeed.plan.host.cores import physical_cores, split_cores
from wirespeed.plan.host.nics import HostNic, host_nics
from wirespeed.plan.host.pages import NodePages, node_pages
from wirespeed.plan.host.vswitch import PlannedOvsDpdk
from wirespeed.plan.kubelet.devices import PluginDevice
from wirespeed.plan.sizing.huge_pages import node_reserve_mib, offers_pages
from wirespeed.plan.workload.pod_rules import page_kib

# Prefix that the SR-IOV network operator gives its resources (RESOURCE_PREFIX).
RESOURCE_PREFIX = "openshift.io"


@dataclass(frozen=True, slots=True)
class Node:
    """A host before pods are placed."""

    facts: HostFacts
    cores: CorePlan
    pmds: Decision[tuple[int, ...]]
    """CPUs of Open vSwitch's PMD threads."""
    nics: tuple[HostNic, ...]
    vfs: tuple[Pool, ...]
    pages: tuple[NodePages, ...]
    reserved_memory: tuple[NodeMemory, ...]

    @property
    def reserved_cpus(self) -> tuple[int, ...]:
        """CPUs that are not for pods, which the kubelet must not give away."""
        return tuple(sorted(set(self.facts.online_cpus) - set(self.cores.dedicated.value)))

    def plugins(self, resources: Mapping[str, str]) -> dict[str, tuple[PluginDevice, ...]]:
        """Return the VFs of each resource; resources: name by network."""
        found: dict[str, tuple[PluginDevice, ...]] = {}
        for nic in self.nics:
            pool = next((p for p in self.vfs if p.shape.address == nic.device.address), None)
            if pool is None:
                continue
            devices = tuple(
                PluginDevice(address, pool.shape.node) for address in addresses(pool, pool.count)
            )
            resource = resources[nic.settings.network]
            found[resource] = (*found.get(resource, ()), *devices)
        return found


def addresses(pool: Pool, count: int) -> list[str]:
    """Return the addresses of a PF's first VFs; those to come are PF/vfN."""
    made = [f"{pool.shape.address}/vf{number}" for number in range(len(pool.addresses), count)]
    return [*pool.addresses[:count], *made]


def partition(facts: HostFacts, workload: Workload) -> Node:
    """Return the host as a node. Raises PlanError."""
    _check_page_sizes(facts, workload)
    # Running guests are Nova's; a node of Kubernetes has none of them.
    alone = replace(workload, placement=replace(workload.placement, keep_running=False))
    pmd_cores = {
        node: Decision(count, "cores.pmd_cores of the workload")
        for node, count in (workload.cores.pmd_cores or {}).items()
        if count
    }
    split = split_cores(
        facts.host, physical_cores(facts), workload.cores, pmd_cores, pmd_cores,
        control=PlannedOvsDpdk.control,
    )  # fmt: skip
    nics = host_nics(facts, alone)
    reserve = node_reserve_mib(workload.memory.host_reserve_mib, len(facts.nodes))
    return Node(
        facts=facts,
        cores=split.plan,
        pmds=split.pmds,
        nics=nics,
        vfs=device_pools(facts, alone, nics),
        pages=node_pages(facts, workload.memory, demand_mib(workload), {}),
        reserved_memory=tuple(NodeMemory(node.id, reserve << 20) for node in facts.nodes),
    )


def demand_mib(workload: Workload) -> dict[int, int]:
    """Return the huge pages that all pods demand in MiB, by page size in KiB."""
    demand: dict[int, int] = {}
    for vnf in workload.vnfs:
        for container in vnf.containers:
            size = page_kib(container, workload.memory.page_size_kib)
            if container.huge_pages_mib:
                demand[size] = demand.get(size, 0) + container.huge_pages_mib * vnf.count
    return demand


def _check_page_sizes(facts: HostFacts, workload: Workload) -> None:
    for vnf in workload.vnfs:
        for container in vnf.containers:
            size = page_kib(container, workload.memory.page_size_kib)
            if container.huge_pages_mib and not offers_pages(facts, size):
                raise PlanError(
                    f"vnf[{vnf.name}].container[{container.name}].page_size: host {facts.host} has "
                    f"no huge pages of {size} KiB",
                    "Choose a size that all hosts of the pool have.",
                )


def resource_names(networks: Sequence[str]) -> dict[str, str]:
    """Return the resource of each network's VFs: letters, digits and _ after the prefix.

    As the API wants it, it has at most 63 characters and ends with a letter or digit.
    """
    found: dict[str, str] = {}
    for network in networks:
        name = base = re.sub("[^A-Za-z0-9_]", "_", network).rstrip("_")
        number = 2
        while f"{RESOURCE_PREFIX}/{name}" in found.values():
            name = f"{base[: 62 - len(str(number))]}_{number}"
            number += 1
        found[network] = f"{RESOURCE_PREFIX}/{name}"
    return found
