# SPDX-License-Identifier: Apache-2.0
"""How is each node's memory divided into huge pages for guests and DPDK, and small pages?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import Decision, HugePages
from wirespeed.model.workload import HugePagePolicy, MemoryRules, Vnf
from wirespeed.plan.errors import PlanError
from wirespeed.plan.guests import has_topology
from wirespeed.plan.hugepages import (
    jetpack_count,
    node_reserve_mib,
    spread_evenly,
    tripleo_count,
    understands_node_counts,
)
from wirespeed.plan.memory import round_up

SMALL_KIB = 4


@dataclass(frozen=True, slots=True)
class NodePages:
    """What guests may take on one node: page size (KiB) -> pages. dpdk: pages kept for DPDK."""

    node: int
    guest: Mapping[int, int]
    dpdk: int


def page_sizes(vnfs: Iterable[Vnf], rules: MemoryRules) -> dict[int, int]:
    """The demanded memory (MiB, all guests) by page size in KiB; 4 stands for small pages."""
    demand: dict[int, int] = {}
    for vnf in vnfs:
        size = _size_for(vnf, rules)
        demand[size] = demand.get(size, 0) + vnf.memory_mib * vnf.count
    return demand


def node_pages(
    facts: HostFacts,
    rules: MemoryRules,
    demand: Mapping[int, int],
    socket_mib: Mapping[int, int],
) -> tuple[NodePages, ...]:
    """The pages of each node. Raises PlanError where DPDK's own memory does not fit."""
    nodes = tuple(node.id for node in facts.nodes)
    fixed = _fixed_count(facts, rules)
    spread = spread_evenly(fixed, nodes) if fixed is not None else None
    reserve = node_reserve_mib(rules.host_reserve_mib, len(nodes))
    made = []
    for node in facts.nodes:
        total = node.memory_kib // 1024
        page_mib = rules.page_size_kib / 1024
        dpdk = int(round_up(socket_mib.get(node.id, 0) * 1024, rules.page_size_kib)) // (
            rules.page_size_kib
        )
        room = total - reserve - int(dpdk * page_mib)
        if room < 0 or (spread is not None and spread[node.id] < dpdk):
            there = f"{total - reserve} MiB beside the host's reserve of {reserve} MiB"
            if spread is not None and spread[node.id] < dpdk:
                there = f"{spread[node.id]} huge pages of {rules.page_size_kib} KiB"
            raise PlanError(
                f"host {facts.host}, NUMA node {node.id}: DPDK needs "
                f"{socket_mib.get(node.id, 0)} MiB, the node has {there}",
                "Choose another vswitch.memory_model, fewer ports, or more huge pages.",
            )
        if spread is not None:
            guest = {rules.page_size_kib: spread[node.id] - dpdk}
            guest[SMALL_KIB] = max(0, total - reserve - int(spread[node.id] * page_mib)) * 256
        else:
            guest = _share(room, demand, rules)
        made.append(NodePages(node.id, guest, dpdk))
    return tuple(made)


def planned_pages(
    facts: HostFacts,
    rules: MemoryRules,
    pages: Iterable[NodePages],
    used: Mapping[tuple[int, int], int],
) -> Decision[tuple[HugePages, ...]]:
    """The huge pages to reserve. used: (node, page size) -> pages that placed guests take."""
    made: list[HugePages] = []
    for node in pages:
        sizes = sorted({*(size for size in node.guest if size != SMALL_KIB), rules.page_size_kib})
        for size in sizes:
            dpdk = node.dpdk if size == rules.page_size_kib else 0
            taken = used.get((node.node, size), 0)
            offered = (
                taken if rules.huge_pages is HugePagePolicy.DEMAND else node.guest.get(size, 0)
            )
            if rules.count is not None:
                offered = node.guest.get(size, 0)
            made.append(HugePages(node.node, size, dpdk + offered))
    because = _reason(facts, rules)
    if not understands_node_counts(facts.kernel.release):
        made, evened = _even_out(made)
        if evened:
            because += f"; kernel {facts.kernel.release} can only spread them evenly"
    return Decision(tuple(made), because)


def _size_for(vnf: Vnf, rules: MemoryRules) -> int:
    if vnf.page_size in (None, "small") or not has_topology(vnf):
        return SMALL_KIB
    return rules.page_size_kib if vnf.page_size in ("large", "any") else int(vnf.page_size or 0)


def _share(room_mib: int, demand: Mapping[int, int], rules: MemoryRules) -> dict[int, int]:
    """Divide a node's free memory among the page sizes by what is demanded of each."""
    total = sum(demand.values())
    shares: dict[int, int] = {}
    left = room_mib
    for size in sorted(demand, reverse=True):
        if size == SMALL_KIB or not total:
            continue
        part = left if demand[size] == total else room_mib * demand[size] // total
        shares[size] = min(part, left) * 1024 // size
        left -= shares[size] * size // 1024
    shares.setdefault(rules.page_size_kib, 0)
    # Small pages that the shares leave are there anyway; the demand decides about huge pages only.
    shares[SMALL_KIB] = left * 1024 // SMALL_KIB
    return shares


def _fixed_count(facts: HostFacts, rules: MemoryRules) -> int | None:
    """The host's huge pages where a rule fixes them, whatever the guests need."""
    total_mib = sum(node.memory_kib for node in facts.nodes) // 1024
    if rules.count is not None:
        return rules.count
    if rules.huge_pages is HugePagePolicy.TRIPLEO:
        return tripleo_count(round(total_mib / 1024), rules.percent)
    if rules.huge_pages is HugePagePolicy.JETPACK:
        return jetpack_count(total_mib)
    return None


def _even_out(pages: list[HugePages]) -> tuple[list[HugePages], bool]:
    most: dict[int, int] = {}
    for page in pages:
        most[page.size_kib] = max(most.get(page.size_kib, 0), page.count)
    even = [HugePages(page.node, page.size_kib, most[page.size_kib]) for page in pages]
    return even, even != pages


def _reason(facts: HostFacts, rules: MemoryRules) -> str:
    if rules.count is not None:
        return f"memory.count = {rules.count}, spread evenly over the nodes by the kernel"
    reserve = node_reserve_mib(rules.host_reserve_mib, len(facts.nodes))
    return {
        HugePagePolicy.DEMAND: "what the guests placed on each node and DPDK there need",
        HugePagePolicy.MAXIMUM: f"all of each node but {reserve} MiB for the host",
        HugePagePolicy.TRIPLEO: f"TripleO: int((GB - 4) * {rules.percent} %)",
        HugePagePolicy.JETPACK: "JetPack: (MB - 28672) / 1024, rounded down",
    }[rules.huge_pages]
