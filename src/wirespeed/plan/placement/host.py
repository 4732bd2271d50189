# SPDX-License-Identifier: Apache-2.0
"""Define a host's capacity for guests (shape), and its current use.

The shape never changes while guests are placed; the use does. Both are immutable values: placing a
guest gives a new use. Hosts with equal shape and equal use are interchangeable, which makes
planning thousands of hosts cheap. CPU sets are ints used as bit masks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class CellShape:
    """One NUMA node."""

    id: int
    floating: int
    """CPUs for floating vCPUs (Nova's cpuset)."""
    pinning: int
    """CPUs for pinned vCPUs (Nova's pcpuset)."""
    cores: tuple[int, ...]
    """One mask per physical core, with all its SMT threads."""
    memory_mib: int
    page_sizes: tuple[int, ...] = ()
    """Page sizes in KiB, ascending."""
    page_totals: tuple[int, ...] = ()
    """Number of pages of each size."""
    socket: int | None = None
    threads: int = field(init=False)

    def __post_init__(self) -> None:
        threads = max((core.bit_count() for core in self.cores), default=1)
        object.__setattr__(self, "threads", threads)


@dataclass(frozen=True, slots=True)
class PoolShape:
    """Equal PCI devices behind one parent: all VFs of one PF, or one PF or device."""

    address: str
    node: int | None
    keys: frozenset[tuple[str, str]]
    """Properties that a request may match, e.g. vendor_id, product_id, dev_type, physical_network.
    """
    is_pf: bool = False


@dataclass(frozen=True, slots=True)
class HostShape:
    """Capacity of a host."""

    cells: tuple[CellShape, ...]
    pools: tuple[PoolShape, ...] = ()
    network_nodes: tuple[tuple[str, frozenset[int]], ...] = ()
    """Known NUMA nodes of the NICs of each physical network."""
    labels: frozenset[str] = frozenset()
    cpu_ratio: float = 4.0
    ram_ratio: float = 1.0


class CellUse(NamedTuple):
    """Use of one NUMA node."""

    free: int
    """Free CPUs for pinning."""
    cpus_used: int
    memory_used_mib: int
    pages_free: tuple[int, ...]
    """Free pages of each page size."""


class HostUse(NamedTuple):
    """Use of a host."""

    cells: tuple[CellUse, ...]
    devices_free: tuple[int, ...]
    """Free devices of each pool."""
    switch_hz_free: float = 0.0
    groups: frozenset[str] = frozenset()
    """Groups with a member on this host."""


class CellFit(NamedTuple):
    """Place of one guest node."""

    cell: int
    """Index of the host's cell."""
    page_kib: int
    """Page size in KiB; 0: uncounted."""
    pins: tuple[int, ...] = ()
    """Host CPU of each pinned vCPU, in ascending vCPU order."""
    reserved: int = 0
    """Mask of the emulator threads' CPU."""
    taken: int = 0
    """Mask of all CPUs that are no longer free, including siblings under isolate."""


class Fit(NamedTuple):
    """A guest's place on one host."""

    cells: tuple[CellFit, ...]
    devices: tuple[tuple[tuple[int, int], ...], ...] = ()
    """(pool index, count) pairs of each device request."""


def empty_use(shape: HostShape, devices: tuple[int, ...], switch_hz: float = 0.0) -> HostUse:
    """Return the use of a host without guests. devices: number of devices in each pool."""
    cells = tuple(CellUse(c.pinning, 0, 0, c.page_totals) for c in shape.cells)
    return HostUse(cells, devices, switch_hz)
