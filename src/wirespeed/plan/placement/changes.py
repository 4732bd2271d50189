# SPDX-License-Identifier: Apache-2.0
"""Find the smallest change that makes a guest fit.

Changes to the guest and to a host are tried on copies. Only a change that `fit` then accepts is
proposed. The smallest change alters the smallest share of the guest or host; a further host counts
as 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from wirespeed.model.plan.policy import PciNumaPolicy, ThreadPolicy
from wirespeed.plan.placement.explain import device_words, page_words, why_not
from wirespeed.plan.placement.fit import fit
from wirespeed.plan.placement.host import CellUse, HostShape, HostUse, empty_use
from wirespeed.plan.placement.request import PAGE_ANY, CellRequest, GuestRequest

# Pairs of changes are many, so they are tried on this number of different host states only.
MOST_PAIR_CANDIDATES = 4


class Candidate(NamedTuple):
    """A host, representing a class of equal ones, on which changes are tried."""

    name: str
    shape: HostShape
    use: HostUse
    devices: tuple[int, ...]
    switch_hz: float


class PlacementChange(NamedTuple):
    cost: float
    text: str


def smallest_change(candidates: Sequence[Candidate], guest: GuestRequest) -> str | None:
    """Return the cheapest change found on any candidate, as text.

    If no single change suffices, pairs of changes of the guest are tried. None if these fail, too.
    """
    singles = [change for candidate in candidates for change in _changes(candidate, guest)]
    found = singles or [
        change
        for candidate in candidates[:MOST_PAIR_CANDIDATES]
        for change in _pairs(candidate, guest)
    ]
    return min(found, key=lambda change: change.cost).text if found else None


def _changes(candidate: Candidate, guest: GuestRequest) -> Iterator[PlacementChange]:
    """Yield every single change with which the guest fits on this host."""
    for change, changed in _guest_changes(guest, candidate.shape):
        if fit(candidate.shape, candidate.use, changed) is not None:
            yield change
    for change, use in _host_changes(candidate, guest):
        if fit(candidate.shape, use, guest) is not None:
            yield PlacementChange(change.cost, f"{change.text} on host {candidate.name}")
    empty = empty_use(candidate.shape, candidate.devices, candidate.switch_hz)
    if fit(candidate.shape, empty, guest) is not None:
        yield PlacementChange(1.0, f"one more host like {candidate.name}")


def _pairs(candidate: Candidate, guest: GuestRequest) -> Iterator[PlacementChange]:
    """Yield pairs of changes of the guest with which it fits on this host.

    Of pairs that differ only in amount, the smallest that fits is yielded.
    """
    for first, changed in _guest_changes(guest, candidate.shape):
        if changed.memory_mib < guest.memory_mib:
            continue  # less memory is tried as the second change, with any other as the first
        for second, both in _guest_changes(changed, candidate.shape):
            if fit(candidate.shape, candidate.use, both) is not None:
                yield PlacementChange(first.cost + second.cost, f"{first.text}, and {second.text}")
                break


def _guest_changes(
    guest: GuestRequest, shape: HostShape
) -> Iterator[tuple[PlacementChange, GuestRequest]]:
    """Yield the possible changes of a guest, each type of change from small to large."""
    if guest.isolate_emulator:
        changed = replace(guest, isolate_emulator=False)
        yield PlacementChange(0.08, 'emulator_policy = "share" instead of "isolate"'), changed
    if guest.thread_policy not in (None, ThreadPolicy.PREFER):
        text = f'thread_policy = "prefer" instead of "{guest.thread_policy}"'
        changed = replace(guest, thread_policy=ThreadPolicy.PREFER, forbidden_labels=frozenset())
        yield PlacementChange(0.1, text), changed
    if any(request.policy is not PciNumaPolicy.PREFERRED for request in guest.devices):
        devices = tuple(replace(r, policy=PciNumaPolicy.PREFERRED) for r in guest.devices)
        yield (
            PlacementChange(0.15, 'pci_numa_policy = "preferred"'),
            replace(guest, devices=devices),
        )
    if guest.page not in (0, PAGE_ANY):
        yield PlacementChange(0.2, 'page_size = "any"'), replace(guest, page=PAGE_ANY)
    missing = guest.labels - shape.labels
    if missing:
        names = ", ".join(sorted(label.partition(":")[2] for label in missing))
        changed = replace(guest, labels=guest.labels - missing)
        yield PlacementChange(0.4 * len(missing), f"do without {names}"), changed
    yield from _smaller_guests(guest)
    if len(guest.cells) == 1:
        yield from _split_guest(guest)


def _smaller_guests(guest: GuestRequest) -> Iterator[tuple[PlacementChange, GuestRequest]]:
    """Yield smaller variants of a guest with one node.

    Memory is first rounded to whole pages, then reduced; then vCPUs are reduced.
    """
    if len(guest.cells) != 1:
        return
    cell = guest.cells[0]
    page_mib = max(1, guest.page // 1024) if guest.page > 0 else 512
    whole = cell.memory_mib // page_mib * page_mib
    sizes = [whole + page_mib] if whole != cell.memory_mib else []
    sizes += [whole - step * page_mib for step in range(whole // page_mib)]
    for size in sizes[:65]:
        if size != cell.memory_mib:
            cost = abs(size - cell.memory_mib) / cell.memory_mib
            text = f"memory_mib = {size} instead of {cell.memory_mib}"
            yield PlacementChange(cost, text), _with_cell(guest, replace(cell, memory_mib=size))
    total = len(cell.pinned) + len(cell.floating)
    for fewer in range(1, min(total, 65)):
        kept = CellRequest(
            tuple(v for v in cell.floating if v < total - fewer),
            tuple(v for v in cell.pinned if v < total - fewer),
            cell.memory_mib,
        )
        if guest.pins and not kept.pinned:
            return
        text = f"vcpus = {total - fewer} instead of {total}"
        yield PlacementChange(fewer / total, text), _with_cell(guest, kept)


def _with_cell(guest: GuestRequest, cell: CellRequest) -> GuestRequest:
    return replace(guest, cells=(cell,))


def _split_guest(guest: GuestRequest) -> Iterator[tuple[PlacementChange, GuestRequest]]:
    """Yield the guest split into two NUMA nodes."""
    cell = guest.cells[0]
    total = len(cell.pinned) + len(cell.floating)
    if total % 2 or cell.memory_mib % 2 or not guest.has_topology:
        return
    halves = tuple(
        CellRequest(
            tuple(v for v in cell.floating if v * 2 // total == half),
            tuple(v for v in cell.pinned if v * 2 // total == half),
            cell.memory_mib // 2,
        )
        for half in (0, 1)
    )
    change = PlacementChange(0.3, "numa_nodes = 2, so that it may span two host nodes")
    yield change, replace(guest, cells=halves)


def _host_changes(
    candidate: Candidate, guest: GuestRequest
) -> Iterator[tuple[PlacementChange, HostUse]]:
    """Yield the host with more pages, CPUs or devices on one node, as the shortage requires."""
    shape, use = candidate.shape, candidate.use
    for lack in why_not(shape, use, guest):
        if not lack.short:
            continue
        for index, cell in enumerate(shape.cells):
            if lack.node != cell.id:
                continue
            yield from _more_on_node(candidate, index, lack.resource, lack.short)
    yield from _more_devices(candidate, guest)
    if guest.switch_hz > use.switch_hz_free:
        short = guest.switch_hz - use.switch_hz_free
        share = short / (candidate.switch_hz or short)
        more = use._replace(switch_hz_free=guest.switch_hz)
        yield PlacementChange(0.25 + share, f"PMD cores for {short / 1e6:.0f} MHz more"), more


def _more_on_node(
    candidate: Candidate, index: int, resource: str, short: int
) -> Iterator[tuple[PlacementChange, HostUse]]:
    cell, used = candidate.shape.cells[index], candidate.use.cells[index]
    for position, size in enumerate(cell.page_sizes):
        if resource == f"{page_words(size)} pages":
            pages = list(used.pages_free)
            pages[position] += short
            total = cell.page_totals[position] or short
            text = f"{short} more {resource} on node {cell.id}"
            changed = used._replace(pages_free=tuple(pages))
            yield (
                PlacementChange(0.25 + short / total, text),
                _with_use(candidate.use, index, changed),
            )
    if resource.startswith("free dedicated CPUs"):
        free, added = used.free, 0
        for core in cell.cores:
            for bit in range(core.bit_length()):
                if core >> bit & 1 and not free >> bit & 1 and added < short:
                    free |= 1 << bit
                    added += 1
        text = f"{short} more dedicated CPUs on node {cell.id}"
        changed = used._replace(free=free)
        share = short / max(1, cell.pinning.bit_count())
        yield PlacementChange(0.25 + share, text), _with_use(candidate.use, index, changed)


def _with_use(use: HostUse, index: int, cell: CellUse) -> HostUse:
    cells = list(use.cells)
    cells[index] = cell
    return use._replace(cells=tuple(cells))


def _more_devices(
    candidate: Candidate, guest: GuestRequest
) -> Iterator[tuple[PlacementChange, HostUse]]:
    """Yield the host with more VFs or devices in one matching pool."""
    free = candidate.use.devices_free
    for request in guest.devices:
        needed = sum(r.count for r in guest.devices if r.match == request.match)
        for index, pool in enumerate(candidate.shape.pools):
            if not all(item in pool.keys for item in request.match):
                continue
            more = max(1, needed - free[index])
            changed = list(free)
            changed[index] += more
            text = f"{more} more {device_words(request.match)} at {pool.address}"
            share = more / max(1, candidate.devices[index])
            more_free = candidate.use._replace(devices_free=tuple(changed))
            yield PlacementChange(0.25 + share, text), more_free
