# SPDX-License-Identifier: Apache-2.0
"""Subtract the running guests from a host's CPUs, memory and pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wirespeed.model.host.guest_facts import Guest
from wirespeed.plan.placement.host import CellShape, CellUse
from wirespeed.plan.sizing.masks import mask_of


def running_uses(cells: Sequence[CellShape], guests: Iterable[Guest]) -> tuple[CellUse, ...]:
    """Return the use of each cell, including the guests' resources."""
    uses = [CellUse(cell.pinning, 0, 0, cell.page_totals) for cell in cells]
    for guest in guests:
        _take_cpus(cells, uses, guest)
        for index, kib in _memory(cells, uses, guest).items():
            size = _page_kib(cells[index], guest)
            uses[index] = _without(uses[index], cells[index], kib, size)
    return tuple(uses)


def running_pages(guests: Iterable[Guest], default_kib: int) -> dict[tuple[int, int], int]:
    """Return the known huge pages of guests, by NUMA node and page size in KiB.

    default_kib: page size of a guest with huge pages of the host's default size.
    """
    found: dict[tuple[int, int], int] = {}
    for guest in guests:
        if guest.huge_page_kib is None:
            continue
        size = guest.huge_page_kib or default_kib
        for node, kib in _by_node(guest).items():
            found[node, size] = found.get((node, size), 0) + -(-kib // size)
    return found


def _take_cpus(cells: Sequence[CellShape], uses: list[CellUse], guest: Guest) -> None:
    taken = mask_of(cpu for pin in guest.pins for cpu in pin.cpus)
    # A single CPU for QEMU's own threads is exclusive (isolate); a set of them is shared.
    if guest.emulator_cpus and len(guest.emulator_cpus) == 1:
        taken |= mask_of(guest.emulator_cpus)
    for index, use in enumerate(uses):
        uses[index] = use._replace(free=use.free & ~taken)
    pinned = sum(len(pin.cpus) == 1 for pin in guest.pins)
    first = next((i for i, cell in enumerate(cells) if cell.id in guest.memory_nodes), 0)
    floating = uses[first].cpus_used + guest.vcpus - pinned
    uses[first] = uses[first]._replace(cpus_used=floating)


def _memory(cells: Sequence[CellShape], uses: Sequence[CellUse], guest: Guest) -> Mapping[int, int]:
    """Return the guest's memory of each cell in KiB, by the cell's index.

    If its nodes are unknown, memory is taken where the most small pages are free.
    """
    by_node = _by_node(guest)
    if by_node:
        return {i: by_node[cell.id] for i, cell in enumerate(cells) if cell.id in by_node}
    free = {
        i: use.pages_free[0] * cell.page_sizes[0]
        for i, (cell, use) in enumerate(zip(cells, uses, strict=True))
        if cell.page_sizes
    }
    found = {}
    left = guest.memory_kib
    for index in sorted(free, key=lambda i: -free[i]):
        found[index] = min(left, free[index])
        left -= found[index]
    return found


def _by_node(guest: Guest) -> Mapping[int, int]:
    """Return its memory in KiB by the host's NUMA node; empty if the nodes are unknown."""
    nodes = guest.memory_nodes
    equal = (guest.memory_kib // len(nodes),) * len(nodes) if nodes else ()
    return dict(zip(nodes, guest.node_memory_kib or equal, strict=True))


def _page_kib(cell: CellShape, guest: Guest) -> int:
    """Return the page size in KiB; 0: the cell counts no such pages."""
    if not cell.page_sizes:
        return 0
    if guest.huge_page_kib is None:
        return cell.page_sizes[0]
    return guest.huge_page_kib or cell.page_sizes[-1]


def _without(use: CellUse, cell: CellShape, kib: int, size: int) -> CellUse:
    pages = list(use.pages_free)
    if size in cell.page_sizes:
        place = cell.page_sizes.index(size)
        pages[place] = max(0, pages[place] - -(-kib // size))
    memory = use.memory_used_mib + kib // 1024
    return use._replace(memory_used_mib=memory, pages_free=tuple(pages))
