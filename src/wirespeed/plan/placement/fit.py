# SPDX-License-Identifier: Apache-2.0
"""Find the nodes, CPUs and devices of one guest on one host in its current use.

The decision is Nova's (numa_fit_instance_to_host with the scheduler's limits, release 34), in its
order of host cells. Nova thus chooses the same cells for the same guests in the same order. Three
checks are additional: PMD cycles, small pages for floating guests, and the most floating vCPUs that
Placement gives one guest.
"""

from __future__ import annotations

from itertools import permutations

from wirespeed.model.plan.policy import CpuPolicy
from wirespeed.plan.placement.devices import take_devices
from wirespeed.plan.placement.host import CellFit, CellShape, CellUse, Fit, HostShape, HostUse
from wirespeed.plan.placement.pinning import pin_cell
from wirespeed.plan.placement.request import (
    PAGE_ANY,
    PAGE_LARGE,
    PAGE_SMALL,
    CellRequest,
    GuestRequest,
)


def fit(shape: HostShape, use: HostUse, guest: GuestRequest) -> Fit | None:
    """Return the guest's place on the host, or None. Takes nothing yet (see `take`)."""
    if guest.switch_hz > use.switch_hz_free or not host_allows(shape, guest):
        return None
    if not guest.has_topology:
        return _fit_floating(shape, use, guest)
    if len(guest.cells) > len(shape.cells):
        return None
    order = cell_order(shape, use, guest)
    if len(guest.cells) == 1:
        return _fit_one_cell(shape, use, guest, order)
    return _fit_cells(shape, use, guest, order)


def host_allows(shape: HostShape, guest: GuestRequest) -> bool:
    """Return whether the host has the required labels (aggregates, CPU features, traits)."""
    return guest.labels <= shape.labels and not guest.forbidden_labels & shape.labels


def cell_order(shape: HostShape, use: HostUse, guest: GuestRequest) -> list[int]:
    """Return the indexes of the host's cells in the order of Nova: emptiest first.

    They are sorted by free memory, then by CPUs, then by free PCI devices. Cells with devices come
    first if the guest requests devices, last if it avoids them. Nova sorts only if the guest has
    fewer cells than the host.
    """
    cells = shape.cells
    order = list(range(len(cells)))
    if len(cells) <= len(guest.cells):
        return order
    uses = use.cells
    order.sort(key=lambda i: uses[i].memory_used_mib - cells[i].memory_mib)
    if guest.pins:
        order.sort(key=lambda i: -uses[i].free.bit_count())
    else:
        order.sort(key=lambda i: uses[i].cpus_used)
    if shape.pools and (guest.devices or guest.avoids_devices):
        devices = [0] * len(cells)
        position = {cell.id: i for i, cell in enumerate(cells)}
        for pool, count in zip(shape.pools, use.devices_free, strict=True):
            if pool.node in position:
                devices[position[pool.node]] += count
        sign = -1 if guest.devices else 1
        order.sort(key=lambda i: sign * devices[i])
    return order


def fit_cell(
    shape: HostShape, use: HostUse, index: int, guest: GuestRequest, position: int
) -> CellFit | None:
    """Place the guest's node `position` on the host's node `index`, without devices.

    The CPU of isolated emulator threads comes from the node of the guest's first node.
    """
    cell, used, need = shape.cells[index], use.cells[index], guest.cells[position]
    page_kib = page_for(cell, used, need, guest)
    if page_kib is None:
        return None
    if guest.cpu_policy is not CpuPolicy.DEDICATED and not _floating_fits(shape, cell, used, need):
        return None
    if not guest.pins:
        return CellFit(index, page_kib)
    reserve = 1 if guest.isolate_emulator and position == 0 else 0
    pinning = pin_cell(cell, used.free, len(need.pinned), guest.thread_policy, reserve)
    return CellFit(index, page_kib, *pinning) if pinning else None


def _floating_fits(shape: HostShape, cell: CellShape, used: CellUse, need: CellRequest) -> bool:
    """Return whether floating vCPUs fit.

    One guest may have at most the node's CPUs; all guests together are limited by the ratios.
    """
    floating = len(need.floating)
    usable = cell.floating.bit_count()
    return (
        floating <= usable
        and used.cpus_used + floating <= usable * shape.cpu_ratio
        and used.memory_used_mib + need.memory_mib <= cell.memory_mib * shape.ram_ratio
    )


def page_for(cell: CellShape, use: CellUse, need: CellRequest, guest: GuestRequest) -> int | None:
    """Return the page size of the guest node's memory in KiB; 0: uncounted; None: does not fit.

    Without a page demand the smallest size is used; pinned guests may not overcommit it.
    """
    kib = need.memory_mib * 1024
    sizes = cell.page_sizes
    page = guest.page
    if page > 0:
        if page not in sizes:
            return None
        free = use.pages_free[sizes.index(page)] * page
        return page if kib <= free and kib % page == 0 else None
    if page:
        first = {PAGE_SMALL: 0, PAGE_LARGE: 1, PAGE_ANY: 0}[page]
        last = 0 if page == PAGE_SMALL else len(sizes) - 1
        for i in range(last, first - 1, -1):
            if kib <= use.pages_free[i] * sizes[i] and kib % sizes[i] == 0:
                return sizes[i]
        return None
    if not sizes:
        room = cell.memory_mib - (use.memory_used_mib if guest.pins else 0)
        return 0 if need.memory_mib <= room else None
    pages = use.pages_free[0] if guest.pins else cell.page_totals[0]
    return sizes[0] if kib <= pages * sizes[0] and kib % sizes[0] == 0 else None


def networks_near(shape: HostShape, guest: GuestRequest, nodes: frozenset[int]) -> bool:
    """Return whether every network of known nodes has a NIC on the guest's nodes.

    It follows Nova's [neutron_physnet_NAME]numa_nodes (numa-aware vswitches).
    """
    return all(
        name not in guest.networks or near & nodes for name, near in shape.network_nodes if near
    )


def _fit_one_cell(
    shape: HostShape, use: HostUse, guest: GuestRequest, order: list[int]
) -> Fit | None:
    for index in order:
        found = fit_cell(shape, use, index, guest, 0)
        if found is None:
            continue
        devices = _serve(shape, use, guest, frozenset((shape.cells[index].id,)))
        if devices is not None:
            return Fit((found,), devices)
    return None


def _fit_cells(shape: HostShape, use: HostUse, guest: GuestRequest, order: list[int]) -> Fit | None:
    """Try the arrangements of guest nodes on host nodes in Nova's order."""
    known: dict[tuple[int, int], CellFit | None] = {}
    for chosen in permutations(order, len(guest.cells)):
        found: list[CellFit] = []
        for pair in enumerate(chosen):
            if pair not in known:
                known[pair] = fit_cell(shape, use, pair[1], guest, pair[0])
            placed = known[pair]
            if placed is None:
                break
            found.append(placed)
        if len(found) < len(chosen):
            continue
        devices = _serve(shape, use, guest, frozenset(shape.cells[i].id for i in chosen))
        if devices is not None:
            return Fit(tuple(found), devices)
    return None


def _serve(
    shape: HostShape, use: HostUse, guest: GuestRequest, nodes: frozenset[int]
) -> tuple[tuple[tuple[int, int], ...], ...] | None:
    """Return the devices for a guest on these nodes; None if devices or networks are missing."""
    if guest.networks and not networks_near(shape, guest, nodes):
        return None
    if not guest.devices:
        return ()
    return take_devices(shape, use.devices_free, guest.devices, nodes)


def _fit_floating(shape: HostShape, use: HostUse, guest: GuestRequest) -> Fit | None:
    """Place a guest without NUMA topology on any floating CPU and any node's small pages.

    Placement gives one guest at most the host's floating CPUs (max_unit of VCPU); all guests
    together are limited by the ratio.
    """
    usable = floating_cpus(shape)
    if guest.vcpus > min(usable, usable * shape.cpu_ratio - sum(c.cpus_used for c in use.cells)):
        return None
    if guest.memory_mib > sum(floating_memory_mib(shape, use)):
        return None
    devices = take_devices(shape, use.devices_free, guest.devices, None)
    return None if devices is None else Fit((), devices)


def floating_cpus(shape: HostShape) -> int:
    """Return the number of the host's CPUs for floating vCPUs."""
    return sum(cell.floating.bit_count() for cell in shape.cells)


def floating_memory_mib(shape: HostShape, use: HostUse) -> list[int]:
    """Return each cell's free memory in small pages for floating guests, in MiB."""
    return [
        used.pages_free[0] * cell.page_sizes[0] // 1024
        if cell.page_sizes
        else cell.memory_mib - used.memory_used_mib
        for cell, used in zip(shape.cells, use.cells, strict=True)
    ]
