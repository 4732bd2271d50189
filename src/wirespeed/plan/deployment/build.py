# SPDX-License-Identifier: Apache-2.0
"""Build a Plan from partitioned hosts and placed guests."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.model.host.operating_system import family_of
from wirespeed.model.plan.plan import Decision, HostPlan, NicPlan, Plan
from wirespeed.model.plan.policy import NicUse
from wirespeed.plan.deployment.guest_plans import GuestBuilder, PlacedGuest
from wirespeed.plan.deployment.requested import Requested
from wirespeed.plan.deployment.unplaced import explain_unplaced
from wirespeed.plan.host.capacity import running_conflicts, running_guests
from wirespeed.plan.host.kernel import kernel_arguments
from wirespeed.plan.host.nics import nic_plan
from wirespeed.plan.host.offline_memory import offline_memory
from wirespeed.plan.host.pages import planned_pages
from wirespeed.plan.host.partition import HostDraft
from wirespeed.plan.host.running import running_pages
from wirespeed.plan.nova.flavor_reasons import plan_flavor
from wirespeed.plan.placement.batch import Outcome
from wirespeed.plan.sizing.huge_pages import SMALL_KIB, node_reserve_mib
from wirespeed.plan.workload.ignored_settings import ignored_settings


def build_plan(requested: Requested, drafts: Sequence[HostDraft], outcome: Outcome) -> Plan:
    """Return all decisions with their reasons."""
    workload = requested.workload
    on_host: dict[int, list[PlacedGuest]] = {}
    mac_numbers = _first_mac_numbers(requested)
    for placed in outcome.placed:
        vnf, name = requested.guests[placed.guest]
        guest = PlacedGuest(vnf, name, placed.place, mac_numbers[placed.guest])
        on_host.setdefault(placed.host, []).append(guest)
    hosts = tuple(
        _host_plan(requested, draft, on_host.get(number, [])) for number, draft in enumerate(drafts)
    )
    return Plan(
        hosts=hosts,
        workload=workload.name,
        networks=workload.networks,
        aliases=workload.aliases,
        aggregates=workload.aggregates,
        groups=workload.groups,
        flavors=tuple(plan_flavor(vnf, workload) for vnf in workload.vnfs),
        order=tuple(requested.guests[placed.guest][1] for placed in outcome.placed),
        unplaced=explain_unplaced(requested, drafts, outcome),
        warnings=_warnings(requested, drafts),
    )


def _warnings(requested: Requested, drafts: Sequence[HostDraft]) -> tuple[str, ...]:
    any_vswitch = any(draft.vswitch for draft in drafts)
    ignored = ignored_settings(requested.workload, any_vswitch=any_vswitch)
    running = [
        warning
        for draft in drafts
        for warning in running_conflicts(
            draft.facts, requested.workload, draft.cores.plan.dedicated.value
        )
    ]
    offline = [
        f"host {draft.facts.host}: {words}"
        for draft in drafts
        for words in offline_memory(draft.facts)
    ]
    return (*requested.warnings, *ignored, *running, *offline)


def _first_mac_numbers(requested: Requested) -> list[int]:
    """Return for each guest the number of its first port among all ports."""
    numbers, next_number = [], 0
    for vnf, _ in requested.guests:
        numbers.append(next_number)
        next_number += len(vnf.ports)
    return numbers


def _host_plan(requested: Requested, draft: HostDraft, placed: Sequence[PlacedGuest]) -> HostPlan:
    builder = GuestBuilder(requested, draft)
    guests = tuple(builder.build(guest) for guest in placed)
    memory = requested.workload.memory
    running = running_guests(draft.facts, requested.workload)
    used = running_pages(running, memory.page_size_kib)
    for guest in guests:
        for node in guest.nodes:
            if node.page_kib and node.page_kib != SMALL_KIB:
                key = (node.node, node.page_kib)
                used[key] = used.get(key, 0) + node.memory_mib * 1024 // node.page_kib
    pages = planned_pages(draft.facts, memory, draft.pages, used)
    plan = draft.cores.plan
    return HostPlan(
        host=draft.facts.host,
        huge_pages=pages,
        vswitch=draft.vswitch,
        guests=guests,
        cores=plan,
        nics=_nic_plans(draft, builder),
        kernel=kernel_arguments(
            draft.facts, plan.isolated.value, pages.value, memory.page_size_kib,
            requested.workload.kernel.extra,
        ),
        reserved_memory_mib=_reserved(requested, draft),
        family=family_of(draft.facts.operating_system),
    )  # fmt: skip


def _nic_plans(draft: HostDraft, builder: GuestBuilder) -> tuple[NicPlan, ...]:
    plans = []
    for nic in draft.nics:
        address = nic.device.address
        if nic.settings.use is NicUse.DPDK:
            vfs = Decision(0, "the whole port is bound to DPDK")
        elif nic.settings.vfs is not None:
            vfs = Decision(nic.settings.vfs, f"nic[{nic.settings.network}].vfs of the workload")
        else:
            taken = builder.taken_from(address)
            vfs = Decision(
                max(taken, nic.device.sriov_num),
                f"{taken} for the guests placed here, {nic.device.sriov_num} exist; to have fewer, "
                "all must be removed first",
            )
        plans.append(nic_plan(nic, vfs))
    return tuple(plans)


def _reserved(requested: Requested, draft: HostDraft) -> Decision[int]:
    """Return Nova's reserved_host_memory_mb: memory of the host and of DPDK.

    Nova does not count DPDK's huge pages.
    """
    nodes = len(draft.facts.nodes)
    host = node_reserve_mib(requested.workload.memory.host_reserve_mib, nodes) * nodes
    dpdk = sum(draft.vswitch.socket_memory_mib.value) if draft.vswitch else 0
    return Decision(host + dpdk, f"{host} MiB for the host and {dpdk} MiB that DPDK holds")
