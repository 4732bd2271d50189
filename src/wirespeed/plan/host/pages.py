# SPDX-License-Identifier: Apache-2.0
"""Divide each node's memory into huge pages for guests and DPDK, and small pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.host_rules import HugePagePolicy, MemoryRules
from wirespeed.model.plan.plan import Decision, HugePages
from wirespeed.model.plan.workload import Vnf
from wirespeed.plan.errors import PlanError
from wirespeed.plan.host.offline_memory import offline_memory
from wirespeed.plan.nova.guests import has_topology
from wirespeed.plan.sizing.huge_pages import (
    SMALL_KIB,
    jetpack_count,
    node_reserve_mib,
    offers_pages,
    spread_evenly,
    tripleo_count,
    understands_node_counts,
)


@dataclass(frozen=True, slots=True)
class NodePages:
    """Pages of one node."""

    node: int
    guest: Mapping[int, int]
    """Pages for guests, by page size in KiB."""
    dpdk: int
    """Pages reserved for DPDK."""


def page_sizes(vnfs: Iterable[Vnf], rules: MemoryRules) -> dict[int, int]:
    """Return the memory that all guests demand in MiB, by page size in KiB (4: small pages)."""
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
    held: Mapping[tuple[int, int], int] = MappingProxyType({}),
) -> tuple[NodePages, ...]:
    """Return the pages of each node.

    held: pages of running guests by (node, page size in KiB). Raises PlanError if the pages of DPDK
    or of running guests, or a fixed number, do not fit.
    """
    nodes = tuple(node.id for node in facts.nodes)
    reserve = node_reserve_mib(rules.host_reserve_mib, len(nodes))
    room = {node.id: node.memory_kib // 1024 - reserve for node in facts.nodes}
    dpdk = {node: -(-socket_mib.get(node, 0) * 1024 // rules.page_size_kib) for node in nodes}
    offered = {size: mib for size, mib in demand.items() if offers_pages(facts, size)}
    fixed = _fixed_count(facts, rules)
    if fixed is not None:
        totals = [{rules.page_size_kib: spread_evenly(fixed, nodes)[node]} for node in nodes]
    else:
        totals = [
            _share(room[node], dpdk[node], offered, _of_node(held, node), rules) for node in nodes
        ]
        if not understands_node_counts(facts.kernel.release):
            totals = _evenly(totals, max(dpdk.values(), default=0), held, rules)
    made = []
    for node, total in zip(nodes, totals, strict=True):
        _check_node(facts, rules, node, total, (room[node], dpdk[node]))
        guest = {
            size: count - (dpdk[node] if size == rules.page_size_kib else 0)
            for size, count in total.items()
        }
        huge_mib = sum(size * count for size, count in total.items()) // 1024
        guest[SMALL_KIB] = (room[node] - huge_mib) * 1024 // SMALL_KIB
        made.append(NodePages(node, guest, dpdk[node]))
    return tuple(made)


def _check_node(
    facts: HostFacts,
    rules: MemoryRules,
    node: int,
    total: Mapping[int, int],
    room_and_dpdk: tuple[int, int],
) -> None:
    room, dpdk = room_and_dpdk
    size = rules.page_size_kib
    huge_mib = sum(kib * count for kib, count in total.items()) // 1024
    where = f"host {facts.host}, NUMA node {node}"
    if total.get(size, 0) and not offers_pages(facts, size):
        raise PlanError(
            f"memory.page_size is {size} KiB, but host {facts.host} has no pages of that size",
            "Choose a memory.page_size that the host lists in /sys/kernel/mm/hugepages.",
        )
    if total.get(size, 0) < dpdk:
        raise PlanError(
            f"{where}: DPDK needs {dpdk} huge pages of {size} KiB, the node gets "
            f"{total.get(size, 0)}",
            "Choose another vswitch.memory_model, fewer ports, or more huge pages.",
        )
    if room < 0:
        reserve = node_reserve_mib(rules.host_reserve_mib, len(facts.nodes))
        raise PlanError(
            "; ".join(
                (
                    f"{where}: the node has {room + reserve} MiB, of which the host keeps "
                    f"{reserve} MiB",
                    *offline_memory(facts),
                )
            ),
            "Lower memory.host_reserve_mib, or plan with larger hosts.",
        )
    if huge_mib > room:
        raise PlanError(
            "; ".join(
                (
                    f"{where}: {huge_mib} MiB of huge pages are planned, the node has {room} MiB "
                    "next to the host's reserve",
                    *offline_memory(facts),
                )
            ),
            "Lower memory.count or host_reserve_mib, or choose another vswitch.memory_model.",
        )


def _of_node(held: Mapping[tuple[int, int], int], node: int) -> dict[int, int]:
    """Return the pages that running guests hold on a node; 0 for sizes held elsewhere only."""
    sizes = {size for _, size in held}
    return {size: held.get((node, size), 0) for size in sizes}


def _evenly(
    totals: list[dict[int, int]],
    dpdk: int,
    held: Mapping[tuple[int, int], int],
    rules: MemoryRules,
) -> list[dict[int, int]]:
    """Return the pages that an older kernel can reserve: equal counts on every node."""
    even = {size: min(total[size] for total in totals) for size in totals[0]}
    even[rules.page_size_kib] = max(even[rules.page_size_kib], dpdk)
    for (_, size), count in held.items():
        even[size] = max(even[size], count + (dpdk if size == rules.page_size_kib else 0))
    return [dict(even) for _ in totals]


def planned_pages(
    facts: HostFacts,
    rules: MemoryRules,
    pages: Iterable[NodePages],
    used: Mapping[tuple[int, int], int],
) -> Decision[tuple[HugePages, ...]]:
    """Return the huge pages to reserve.

    used: pages of placed guests by (node, page size in KiB).
    """
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
    needed = {page.size_kib for page in made if page.count}
    made = [page for page in made if page.size_kib in needed]
    because = "; ".join((_reason(facts, rules), *offline_memory(facts)))
    if not understands_node_counts(facts.kernel.release):
        made, evened = _even_out(made)
        if evened:
            because += f"; kernel {facts.kernel.release} can only spread them evenly"
    return Decision(tuple(made), because)


def _size_for(vnf: Vnf, rules: MemoryRules) -> int:
    if vnf.page_size in (None, "small") or not has_topology(vnf):
        return SMALL_KIB
    return rules.page_size_kib if vnf.page_size in ("large", "any") else int(vnf.page_size or 0)


def _share(
    room_mib: int,
    dpdk_pages: int,
    demand: Mapping[int, int],
    held: Mapping[int, int],
    rules: MemoryRules,
) -> dict[int, int]:
    """Return a node's huge pages: DPDK's, the held ones, and shares of the remaining memory.

    The shares are in proportion to the demand for each size.
    """
    held_mib = sum(size * count for size, count in held.items()) // 1024
    left = room_mib - dpdk_pages * rules.page_size_kib // 1024 - held_mib
    total = sum(demand.values())
    shares = {size: 0 for size in demand if size != SMALL_KIB}
    for size in shares:
        part = left if demand[size] == total else left * demand[size] // total
        shares[size] = max(0, part) * 1024 // size
    shares[rules.page_size_kib] = shares.get(rules.page_size_kib, 0) + dpdk_pages
    for size, count in held.items():
        shares[size] = shares.get(size, 0) + count
    return shares


def _fixed_count(facts: HostFacts, rules: MemoryRules) -> int | None:
    """Return the host's huge pages if a rule fixes them regardless of the guests' need."""
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
