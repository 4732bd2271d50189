# SPDX-License-Identifier: Apache-2.0
"""Compute the capacity of a partitioned host for guests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts, PciDevice
from wirespeed.model.host.guest_facts import Guest
from wirespeed.model.plan.plan import CorePlan
from wirespeed.model.plan.workload import PciAlias, Workload
from wirespeed.plan.host.nics import HostNic, dpdk_nics, matches, offered_vfs, sriov_nics
from wirespeed.plan.host.pages import NodePages
from wirespeed.plan.host.running import running_uses
from wirespeed.plan.nova.features import (
    HYPERTHREADING,
    aggregate_label,
    feature_label,
    network_label,
)
from wirespeed.plan.nova.guests import alias_match
from wirespeed.plan.placement.batch import PlacementHost
from wirespeed.plan.placement.host import CellShape, HostShape, HostUse, PoolShape
from wirespeed.plan.placement.nova_order import cores_in_order
from wirespeed.plan.sizing.huge_pages import SMALL_KIB
from wirespeed.plan.sizing.masks import mask_of


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of equal devices and their addresses; VFs that do not exist yet have none."""

    shape: PoolShape
    count: int
    addresses: tuple[str, ...]


def placement_host(
    facts: HostFacts,
    workload: Workload,
    *,
    cores: CorePlan,
    pages: Sequence[NodePages],
    nics: Sequence[HostNic],
    pools: Sequence[Pool],
    switch_hz: float,
) -> PlacementHost:
    """Return the host as placement needs it, including the running guests."""
    cells = tuple(_cell(facts, cores, node) for node in pages)
    shape = HostShape(
        cells=cells,
        pools=tuple(pool.shape for pool in pools),
        network_nodes=network_nodes(nics),
        labels=_labels(facts, workload, nics),
        cpu_ratio=workload.placement.cpu_ratio,
        ram_ratio=workload.placement.ram_ratio,
    )
    uses = running_uses(cells, running_guests(facts, workload))
    return PlacementHost(
        facts.host, shape, HostUse(uses, tuple(pool.count for pool in pools), switch_hz)
    )


def running_guests(facts: HostFacts, workload: Workload) -> tuple[Guest, ...]:
    """Return the guests to plan around: those running, or none if keep_running is false."""
    return (facts.guests or ()) if workload.placement.keep_running else ()


def network_nodes(nics: Iterable[HostNic]) -> tuple[tuple[str, frozenset[int]], ...]:
    """Return the known NUMA nodes of the NICs of each physical network of the vSwitch."""
    nodes: dict[str, set[int]] = {}
    for nic in dpdk_nics(nics):
        if nic.device.node is not None:
            nodes.setdefault(nic.physical_network, set()).add(nic.device.node)
    return tuple((name, frozenset(found)) for name, found in sorted(nodes.items()))


def device_pools(facts: HostFacts, workload: Workload, nics: Sequence[HostNic]) -> tuple[Pool, ...]:
    """Return the pools of free devices in Nova's order: aliased devices, then VFs of networks."""
    running = running_guests(facts, workload)
    taken = {device for guest in running for device in guest.host_devices}
    taken |= {port.pci for guest in running for port in guest.ports if port.pci}
    mine = {nic.device.address for nic in nics}
    pools = []
    for alias in workload.aliases:
        pools += _alias_pools(facts, alias, taken, mine)
    for nic in sriov_nics(nics):
        pools.append(_vf_pool(facts, nic, taken))
    return tuple(pools)


def _cell(facts: HostFacts, cores: CorePlan, pages: NodePages) -> CellShape:
    layout = next(n for n in cores.nodes if n.node == pages.node)
    masks = tuple(mask_of(core) for core in cores_in_order(layout.cores))
    everything = mask_of(cpu for core in layout.cores for cpu in core)
    sizes = tuple(sorted(size for size, count in pages.guest.items() if count or size == SMALL_KIB))
    totals = tuple(pages.guest[size] for size in sizes)
    memory = sum(size * total for size, total in zip(sizes, totals, strict=True)) // 1024
    packages = {cpu.package for cpu in facts.cpus if cpu.node == pages.node and cpu.online}
    return CellShape(
        pages.node,
        mask_of(cores.shared.value) & everything,
        mask_of(cores.dedicated.value) & everything,
        masks,
        memory,
        sizes,
        totals,
        socket=next(iter(packages)) if len(packages) == 1 else None,
    )


def _labels(facts: HostFacts, workload: Workload, nics: Sequence[HostNic]) -> frozenset[str]:
    labels = {feature_label(flag) for flag in facts.cpu_flags}
    labels |= {network_label(nic.physical_network) for nic in dpdk_nics(nics)}
    labels |= {
        aggregate_label(aggregate.name)
        for aggregate in workload.aggregates
        if matches(facts.host, aggregate.hosts)
    }
    if facts.smt:
        labels.add(HYPERTHREADING)
    wanted = {feature_label(f) for vnf in workload.vnfs for f in vnf.cpu_features}
    wanted |= {aggregate_label(aggregate.name) for aggregate in workload.aggregates}
    wanted |= {network_label(network.physical_network) for network in workload.networks}
    # A label that no guest requires would only make equal hosts look different.
    return frozenset(labels & (wanted | {HYPERTHREADING}))


def _alias_pools(facts: HostFacts, alias: PciAlias, taken: set[str], mine: set[str]) -> list[Pool]:
    by_parent: dict[str, list[PciDevice]] = {}
    for device in facts.pci:
        if device.address in mine or device.physical_function in mine:
            continue
        if (device.vendor, device.device) != (alias.vendor.lower(), alias.product.lower()):
            continue
        if _device_type(device) == alias.type:
            by_parent.setdefault(device.physical_function or device.address, []).append(device)
    return [
        _pool(parent, devices, frozenset(alias_match(alias)), taken)
        for parent, devices in sorted(by_parent.items())
    ]


def _pool(
    parent: str, devices: list[PciDevice], keys: frozenset[tuple[str, str]], taken: set[str]
) -> Pool:
    free = tuple(sorted(d.address for d in devices if d.address not in taken))
    shape = PoolShape(parent, devices[0].node, keys, ("dev_type", "type-PF") in keys)
    return Pool(shape, len(free), free)


def _vf_pool(facts: HostFacts, nic: HostNic, taken: set[str]) -> Pool:
    existing = [d for d in facts.pci if d.physical_function == nic.device.address]
    keys = {
        ("vendor_id", nic.device.vendor),
        ("dev_type", "type-VF"),
        ("physical_network", nic.physical_network.lower()),
    }
    keys |= {("product_id", existing[0].device)} if existing else set()
    free = tuple(sorted(d.address for d in existing if d.address not in taken))
    offered = offered_vfs(facts.host, nic) - (len(existing) - len(free))
    shape = PoolShape(nic.device.address, nic.device.node, frozenset(keys))
    return Pool(shape, max(0, offered), free)


def _device_type(device: PciDevice) -> str:
    if device.physical_function:
        return "type-VF"
    return "type-PF" if device.sriov_total else "type-PCI"


def running_conflicts(facts: HostFacts, workload: Workload, dedicated: Iterable[int]) -> list[str]:
    """Return warnings about running guests on CPUs that the plan assigns otherwise."""
    mine = set(dedicated)
    found = []
    guests = running_guests(facts, workload)
    unseen = facts.why_missing("guests.devices")
    if guests and unseen:
        found.append(
            f"host {facts.host}: {unseen}; devices that are passed through may be planned twice"
        )
    for guest in guests:
        lost = {cpu for pin in guest.pins for cpu in pin.cpus} - mine
        if lost:
            found.append(
                f"host {facts.host}: guest {guest.name} is pinned to CPUs {format_list(lost)}, "
                "which the plan uses otherwise; move it, or set placement.keep_running = false"
            )
    return found
