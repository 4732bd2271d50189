# SPDX-License-Identifier: Apache-2.0
"""Compute a host's remaining capacity after a guest was placed on it."""

from __future__ import annotations

from wirespeed.plan.placement.fit import floating_memory_mib
from wirespeed.plan.placement.host import CellFit, CellUse, Fit, HostShape, HostUse
from wirespeed.plan.placement.request import GuestRequest


def take(
    shape: HostShape,
    use: HostUse,
    guest: GuestRequest,
    place: Fit,
    groups: frozenset[str] = frozenset(),
) -> HostUse:
    """Return the use of the host with the guest at the place that `fit` found."""
    cells = list(use.cells)
    for need, found in zip(guest.cells, place.cells, strict=False):
        cells[found.cell] = _take_cell(
            cells[found.cell], shape.cells[found.cell].page_sizes, found,
            len(need.floating), need.memory_mib,
        )  # fmt: skip
    if not guest.has_topology:
        cells = _take_floating(shape, use, guest)
    devices = _take_devices(shape, use.devices_free, place) if place.devices else use.devices_free
    switch_hz = use.switch_hz_free - guest.switch_hz
    return HostUse(tuple(cells), devices, switch_hz, use.groups | groups)


def _take_cell(
    use: CellUse, page_sizes: tuple[int, ...], found: CellFit, floating: int, memory_mib: int
) -> CellUse:
    pages = use.pages_free
    if page_sizes:
        index = page_sizes.index(found.page_kib)
        used = memory_mib * 1024 // found.page_kib
        pages = (*pages[:index], pages[index] - used, *pages[index + 1 :])
    return CellUse(
        use.free & ~found.taken, use.cpus_used + floating, use.memory_used_mib + memory_mib, pages
    )


def _take_floating(shape: HostShape, use: HostUse, guest: GuestRequest) -> list[CellUse]:
    """Take a floating guest's memory and vCPUs.

    Memory counts on the nodes with the most free, vCPUs on the first node.
    """
    cells = list(use.cells)
    room = floating_memory_mib(shape, use)
    left = guest.memory_mib
    for i in sorted(range(len(cells)), key=lambda i: -room[i]):
        amount = min(left, room[i])
        left -= amount
        cell = cells[i]
        pages = cell.pages_free
        if shape.cells[i].page_sizes:
            small = -(-amount * 1024 // shape.cells[i].page_sizes[0])
            pages = (pages[0] - small, *pages[1:])
        cells[i] = cell._replace(memory_used_mib=cell.memory_used_mib + amount, pages_free=pages)
    cells[0] = cells[0]._replace(cpus_used=cells[0].cpus_used + guest.vcpus)
    return cells


def _take_devices(shape: HostShape, free: tuple[int, ...], place: Fit) -> tuple[int, ...]:
    """Return each pool's free devices. A PF in use blocks its VFs, a VF in use its PF."""
    left = list(free)
    for served in place.devices:
        for index, amount in served:
            left[index] -= amount
            used = shape.pools[index]
            for other, pool in enumerate(shape.pools):
                if pool.address == used.address and pool.is_pf != used.is_pf:
                    left[other] = 0
    return tuple(left)
