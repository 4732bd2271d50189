# SPDX-License-Identifier: Apache-2.0
"""Explain why a guest does not fit on a host: the node, the resource and the shortage.

The checks are those of `fit`, but all of them are made, so that all shortages are reported at once.
A guest that `fit` places has no shortage, and one that it refuses has at least one (both tested).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from wirespeed.model.plan.policy import CpuPolicy, ThreadPolicy
from wirespeed.plan.placement.devices import take_devices, usable_pools
from wirespeed.plan.placement.fit import (
    fit,
    fit_cell,
    floating_cpus,
    floating_memory_mib,
    page_for,
)
from wirespeed.plan.placement.host import CellShape, CellUse, HostShape, HostUse
from wirespeed.plan.placement.pinning import pin_cell
from wirespeed.plan.placement.request import (
    PAGE_ANY,
    PAGE_LARGE,
    PAGE_SMALL,
    CellRequest,
    DeviceRequest,
    GuestRequest,
)


class Lack(NamedTuple):
    """A shortage of one resource."""

    node: int | None
    """None for the whole host."""
    resource: str
    needed: str
    available: str
    short: int = 0
    """Exact shortage; 0 if it is not a count."""


def why_not(shape: HostShape, use: HostUse, guest: GuestRequest) -> tuple[Lack, ...]:
    """Return all shortages that keep the guest off the host; empty if it fits."""
    if fit(shape, use, guest) is not None:
        return ()
    lacks = list(_host_lacks(shape, use, guest))
    if not guest.has_topology:
        lacks += _floating_lacks(shape, use, guest)
    elif len(guest.cells) > len(shape.cells):
        needed, there = len(guest.cells), len(shape.cells)
        lacks.append(Lack(None, "NUMA nodes", str(needed), str(there), needed - there))
    else:
        positions = range(len(guest.cells))
        cells = range(len(shape.cells))
        good = [[i for i in cells if fit_cell(shape, use, i, guest, p)] for p in positions]
        lacks += _cell_lacks(shape, use, guest, good)
        lacks += _arrangement_lacks(shape, use, guest, good)
    return tuple(dict.fromkeys(lacks))


def _host_lacks(shape: HostShape, use: HostUse, guest: GuestRequest) -> Iterator[Lack]:
    for label in sorted(guest.labels - shape.labels):
        kind, _, name = label.partition(":")
        words = {
            "cpu": "CPU feature",
            "aggregate": "host aggregate",
            "network": "vSwitch on network",
        }.get(kind, kind)
        yield Lack(None, words, name, "not on this host")
    for label in sorted(guest.forbidden_labels & shape.labels):
        yield Lack(None, label, "absent", "present (SMT is on)")
    if guest.switch_hz > use.switch_hz_free:
        needed, there = guest.switch_hz / 1e6, use.switch_hz_free / 1e6
        yield Lack(None, "PMD cycles", f"{needed:.0f} MHz", f"{there:.0f} MHz")


def _floating_lacks(shape: HostShape, use: HostUse, guest: GuestRequest) -> Iterator[Lack]:
    usable = floating_cpus(shape)
    if guest.vcpus > usable:
        short = guest.vcpus - usable
        yield Lack(None, "CPUs for floating vCPUs", str(guest.vcpus), str(usable), short)
    there = int(usable * shape.cpu_ratio - sum(c.cpus_used for c in use.cells))
    if guest.vcpus > there:
        yield Lack(None, "floating vCPUs", str(guest.vcpus), str(there), guest.vcpus - there)
    room = sum(floating_memory_mib(shape, use))
    if guest.memory_mib > room:
        short = guest.memory_mib - room
        yield Lack(None, "memory in small pages", mib(guest.memory_mib), mib(room), short)
    yield from _device_lacks(shape, use, guest, None)


def _cell_lacks(
    shape: HostShape, use: HostUse, guest: GuestRequest, good: list[list[int]]
) -> Iterator[Lack]:
    """Yield the shortages of unsuitable host nodes, and for guest nodes that fit nowhere."""
    for index, cell in enumerate(shape.cells):
        useless = not any(index in indexes for indexes in good)
        for position, indexes in enumerate(good):
            if indexes and not useless:
                continue
            need = guest.cells[position]
            reserve = 1 if guest.isolate_emulator and position == 0 else 0
            yield from memory_lack(cell, use.cells[index], need, guest)
            if guest.pins:
                yield from _pinning_lacks(cell, use.cells[index], need, guest, reserve)
            if guest.cpu_policy is not CpuPolicy.DEDICATED:
                yield from _overcommit_lacks(shape, cell, use.cells[index], need)


def memory_lack(
    cell: CellShape, use: CellUse, need: CellRequest, guest: GuestRequest
) -> Iterator[Lack]:
    if page_for(cell, use, need, guest) is not None:
        return
    sizes = _allowed_sizes(cell, guest)
    if not sizes:
        wanted = page_words(guest.page) if guest.page > 0 else "huge pages"
        there = ", ".join(page_words(size) for size in cell.page_sizes) or "no counted pages"
        yield Lack(cell.id, "page size", wanted, there)
        return
    if cell.page_sizes:
        for size in sizes:
            yield _page_lack(cell, use, need, guest, size)
        return
    room = cell.memory_mib - (use.memory_used_mib if guest.pins else 0)
    yield Lack(cell.id, "memory", mib(need.memory_mib), mib(room), need.memory_mib - room)


def _page_lack(
    cell: CellShape, use: CellUse, need: CellRequest, guest: GuestRequest, size: int
) -> Lack:
    kib = need.memory_mib * 1024
    pages, rest = divmod(kib, size)
    if rest:
        low, high = pages * size // 1024, (pages + 1) * size // 1024
        return Lack(
            cell.id, f"whole {page_words(size)} pages", mib(need.memory_mib),
            f"{mib(low)} or {mib(high)}",
        )  # fmt: skip
    index = cell.page_sizes.index(size)
    strict = guest.page or guest.pins
    there = use.pages_free[index] if strict else cell.page_totals[index]
    what = f"{page_words(size)} pages"
    return Lack(cell.id, what, str(pages), str(there), pages - there)


def _allowed_sizes(cell: CellShape, guest: GuestRequest) -> tuple[int, ...]:
    sizes = cell.page_sizes
    if guest.page > 0:
        return (guest.page,) if guest.page in sizes else ()
    if not guest.page:
        return sizes[:1] or (0,)
    return {PAGE_SMALL: sizes[:1], PAGE_LARGE: sizes[1:], PAGE_ANY: sizes}[guest.page]


def _pinning_lacks(
    cell: CellShape, use: CellUse, need: CellRequest, guest: GuestRequest, reserve: int
) -> Iterator[Lack]:
    count, policy = len(need.pinned), guest.thread_policy
    if pin_cell(cell, use.free, count, policy, reserve) is not None:
        return
    free = use.free.bit_count()
    if count + reserve > free:
        emulator = " (one for emulator threads)" if reserve else ""
        wanted = f"{count + reserve}{emulator}"
        yield Lack(cell.id, "free dedicated CPUs", wanted, str(free), count + reserve - free)
    if not count and (reserve or policy is ThreadPolicy.ISOLATE):
        why = "emulator threads" if reserve else "isolate"
        yield Lack(cell.id, f"pinned vCPUs on each guest node ({why})", "1", "0", 1)
    if policy is ThreadPolicy.REQUIRE:
        yield from _sibling_lack(cell, use, count)
    legacy = policy is ThreadPolicy.ISOLATE and cell.pinning == cell.floating
    if policy in (ThreadPolicy.ISOLATE, ThreadPolicy.AVOID) and cell.threads > 1 and not legacy:
        yield Lack(cell.id, "SMT", f"off ({policy})", f"{cell.threads} threads a core")
    if policy in (ThreadPolicy.ISOLATE, ThreadPolicy.SEPARATE):
        whole = policy is ThreadPolicy.ISOLATE
        cores = sum(
            1 for core in cell.cores if (core & use.free == core if whole else core & use.free)
        )
        wanted_cores = max(count, 1) + (reserve if whole else 0)
        if cores < wanted_cores:
            short = wanted_cores - cores
            yield Lack(cell.id, "free physical cores", str(wanted_cores), str(cores), short)


def _sibling_lack(cell: CellShape, use: CellUse, count: int) -> Iterator[Lack]:
    if cell.threads < 2:
        yield Lack(cell.id, "SMT", "on (require)", "off")
        return
    pairs = sum(1 for core in cell.cores if (core & use.free).bit_count() > 1)
    wanted = max(1, -(-count // 2))
    if pairs < wanted:
        yield Lack(cell.id, "cores with two free siblings", str(wanted), str(pairs), wanted - pairs)


def _overcommit_lacks(
    shape: HostShape, cell: CellShape, use: CellUse, need: CellRequest
) -> Iterator[Lack]:
    count, usable = len(need.floating), cell.floating.bit_count()
    if count > usable:
        yield Lack(cell.id, "CPUs for floating vCPUs", str(count), str(usable), count - usable)
    room = int(usable * shape.cpu_ratio) - use.cpus_used
    if count > room:
        what = f"floating vCPUs at ratio {shape.cpu_ratio:g}"
        yield Lack(cell.id, what, str(count), str(room), count - room)
    memory = int(cell.memory_mib * shape.ram_ratio) - use.memory_used_mib
    if need.memory_mib > memory:
        what = f"memory at ratio {shape.ram_ratio:g}"
        yield Lack(cell.id, what, mib(need.memory_mib), mib(memory), need.memory_mib - memory)


def _arrangement_lacks(
    shape: HostShape, use: HostUse, guest: GuestRequest, good: list[list[int]]
) -> Iterator[Lack]:
    """Yield shortages that remain although each guest node fits on a host node.

    These are shortages of distinct nodes, of devices or of networks.
    """
    usable = sorted({i for indexes in good for i in indexes})
    arranged = {
        frozenset(shape.cells[i].id for i in chosen)
        for chosen in permutations(usable, len(guest.cells))
        if all(index in indexes for index, indexes in zip(chosen, good, strict=True))
    }
    if all(good) and not arranged:
        there = f"{len(usable)} that take some of them"
        yield Lack(None, "distinct nodes for the guest's nodes", str(len(guest.cells)), there)
    # Without a valid arrangement, devices and networks are judged over the whole host.
    everywhere = {frozenset(cell.id for cell in shape.cells)}
    lacks = [
        [*_device_lacks(shape, use, guest, nodes), *_network_lacks(shape, guest, nodes)]
        for nodes in sorted(arranged or everywhere, key=sorted)
    ]
    if all(lacks):
        yield from (lack for found in lacks for lack in found)


def _network_lacks(shape: HostShape, guest: GuestRequest, nodes: frozenset[int]) -> Iterator[Lack]:
    for name, near in shape.network_nodes:
        if name in guest.networks and near and not near & nodes:
            what = f"NIC near network {name}"
            yield Lack(None, what, f"node {_nodes(near)}", f"node {_nodes(nodes)} only")


def _nodes(nodes: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(nodes)))


def _device_lacks(
    shape: HostShape, use: HostUse, guest: GuestRequest, nodes: frozenset[int] | None
) -> Iterator[Lack]:
    if take_devices(shape, use.devices_free, guest.devices, nodes) is not None:
        return
    where = None if nodes is None or len(nodes) != 1 else next(iter(nodes))
    for match, requests in _same_devices(guest).items():
        first = requests[0]
        needed = sum(request.count for request in requests)
        wanted = DeviceRequest(first.name, match, needed, first.policy)
        there = sum(
            use.devices_free[i] for i in usable_pools(shape, use.devices_free, wanted, nodes)
        )
        if there < needed:
            near = "" if nodes is None else f" near node {_nodes(nodes)}"
            yield Lack(where, device_words(match) + near, str(needed), str(there), needed - there)


def _same_devices(
    guest: GuestRequest,
) -> dict[tuple[tuple[str, str], ...], list[DeviceRequest]]:
    by_match: dict[tuple[tuple[str, str], ...], list[DeviceRequest]] = {}
    for request in guest.devices:
        by_match.setdefault(request.match, []).append(request)
    return by_match


def device_words(match: tuple[tuple[str, str], ...]) -> str:
    found = dict(match)
    if "physical_network" in found:
        return f"VFs on network {found['physical_network']}"
    return f"PCI devices {found.get('vendor_id')}:{found.get('product_id')}"


def page_words(size_kib: int) -> str:
    if size_kib % 1048576 == 0:
        return f"{size_kib // 1048576} GiB"
    return f"{size_kib // 1024} MiB" if size_kib % 1024 == 0 else f"{size_kib} KiB"


def mib(value: int) -> str:
    return f"{value} MiB"
