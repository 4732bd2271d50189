# SPDX-License-Identifier: Apache-2.0
"""What does a host offer to guests, and how much of it is in use?

The shape never changes while guests are placed; the use does. Both are immutable values: placing a
guest gives a new use. Hosts with equal shape and equal use are interchangeable, so that planning
thousands of hosts is cheap. CPU sets are ints used as bit masks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class CellShape:
    """One NUMA node. `cores` has one mask per physical core, with all its SMT threads.

    floating: CPUs for vCPUs that float (Nova's cpuset); pinning: CPUs for pinned vCPUs (pcpuset).
    page_sizes are KiB, ascending; page_totals has one count for each.
    """

    id: int
    floating: int
    pinning: int
    cores: tuple[int, ...]
    memory_mib: int
    page_sizes: tuple[int, ...] = ()
    page_totals: tuple[int, ...] = ()
    socket: int | None = None
    threads: int = field(init=False)

    def __post_init__(self) -> None:
        threads = max((core.bit_count() for core in self.cores), default=1)
        object.__setattr__(self, "threads", threads)


@dataclass(frozen=True, slots=True)
class PoolShape:
    """PCI devices that are equal and behind one parent: all VFs of one PF, or one PF or device.

    keys: properties a request may match, e.g. vendor_id, product_id, dev_type, physical_network.
    """

    address: str
    node: int | None
    keys: frozenset[tuple[str, str]]
    is_pf: bool = False


@dataclass(frozen=True, slots=True)
class HostShape:
    """network_nodes: for each physical network the NUMA nodes of its NICs, where known."""

    cells: tuple[CellShape, ...]
    pools: tuple[PoolShape, ...] = ()
    network_nodes: tuple[tuple[str, frozenset[int]], ...] = ()
    labels: frozenset[str] = frozenset()
    cpu_ratio: float = 4.0
    ram_ratio: float = 1.0


class CellUse(NamedTuple):
    """free: CPUs for pinning that are free. pages_free: one count for each page size."""

    free: int
    cpus_used: int
    memory_used_mib: int
    pages_free: tuple[int, ...]


class HostUse(NamedTuple):
    """devices_free: one count for each pool. groups: those with a member on this host."""

    cells: tuple[CellUse, ...]
    devices_free: tuple[int, ...]
    switch_hz_free: float = 0.0
    groups: frozenset[str] = frozenset()


class CellFit(NamedTuple):
    """Where one guest node went: index of the host's cell, page size (0: uncounted), CPUs.

    pins has the host CPU of each pinned vCPU in ascending vCPU order; reserved is the mask of the
    emulator threads' CPU; taken is the mask of all CPUs no longer free (siblings under isolate).
    """

    cell: int
    page_kib: int
    pins: tuple[int, ...] = ()
    reserved: int = 0
    taken: int = 0


class Fit(NamedTuple):
    """A guest's place on one host. devices: for each device request (pool index, count) pairs."""

    cells: tuple[CellFit, ...]
    devices: tuple[tuple[tuple[int, int], ...], ...] = ()


def empty_use(shape: HostShape, devices: tuple[int, ...], switch_hz: float = 0.0) -> HostUse:
    """Nothing placed yet; `devices` is how many each pool holds."""
    cells = tuple(CellUse(c.pinning, 0, 0, c.page_totals) for c in shape.cells)
    return HostUse(cells, devices, switch_hz)
