# SPDX-License-Identifier: Apache-2.0
"""Partition one host before guests are placed: cores, PMDs, memory, pages and devices."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import VswitchPlan
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.host.capacity import Pool, device_pools, placement_host, running_guests
from wirespeed.plan.host.cores import CoreSplit, physical_cores, split_cores
from wirespeed.plan.host.nics import HostNic, dpdk_nics, host_nics
from wirespeed.plan.host.own_keys import own_decisions
from wirespeed.plan.host.pages import NodePages, node_pages, page_sizes
from wirespeed.plan.host.pmd_demand import SwitchDemand, clock_hz, cores_by_node
from wirespeed.plan.host.running import running_pages
from wirespeed.plan.host.switches import PLANNED
from wirespeed.plan.placement.batch import PlacementHost


@dataclass(frozen=True, slots=True)
class HostDraft:
    """All decisions for a host that do not depend on its guests."""

    facts: HostFacts
    nics: tuple[HostNic, ...]
    pools: tuple[Pool, ...]
    cores: CoreSplit
    pages: tuple[NodePages, ...]
    vswitch: VswitchPlan | None
    place: PlacementHost


def draft_host(
    facts: HostFacts, workload: Workload, demand: SwitchDemand, more_pmds: int = 0
) -> HostDraft:
    """Partition the host for its share of the demand.

    more_pmds: additional cores per node. Raises PlanError with host, node and shortage if the host
    is too small, and BadInput for an unknown type of vSwitch.
    """
    switch = PLANNED[workload.vswitch.kind]
    nics = host_nics(facts, workload)
    switched = dpdk_nics(nics)
    layout = physical_cores(facts)
    has_vswitch = bool(switched) or demand.internal_needed
    hz = clock_hz(facts, workload.vswitch.pmd_hz)
    near = {nic.device.node for nic in switched if nic.device.node is not None}
    if has_vswitch and not near:
        near = {layout[0].node}
    wanted = (
        cores_by_node(layout, switched, workload, demand, hz=hz.value, more=more_pmds)
        if has_vswitch
        else {}
    )
    cores = split_cores(facts.host, layout, workload.cores, near, wanted, control=switch.control)
    own = own_decisions(workload.vswitch, switch.own_table)
    vswitch = None
    if has_vswitch:
        vswitch = replace(switch.plan(facts, workload, switched, cores), own=own)
    memory = vswitch.socket_memory_mib.value if vswitch else (0,) * len(facts.nodes)
    socket = {node.id: mib for node, mib in zip(facts.nodes, memory, strict=True)}
    rules = workload.memory
    held = running_pages(running_guests(facts, workload), rules.page_size_kib)
    pages = node_pages(facts, rules, page_sizes(workload.vnfs, rules), socket, held)
    pools = device_pools(facts, workload, nics)
    polling = sum(count.value for count in wanted.values())
    place = placement_host(
        facts, workload, cores=cores.plan, pages=pages, nics=nics, pools=pools,
        switch_hz=polling * hz.value * workload.vswitch.pmd_load,
    )  # fmt: skip
    return HostDraft(facts, nics, pools, cores, pages, vswitch, place)
