# SPDX-License-Identifier: Apache-2.0
"""Define the request of one guest to a host.

Page demands are in KiB, or one of the symbols below as in Nova (nova.virt.hardware.MEMPAGES_*).
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.plan.policy import CpuPolicy, PciNumaPolicy, ThreadPolicy

PAGE_NONE = 0
PAGE_SMALL = -1
PAGE_LARGE = -2
PAGE_ANY = -3

PAGE_WORDS = {"small": PAGE_SMALL, "large": PAGE_LARGE, "any": PAGE_ANY}


@dataclass(frozen=True, slots=True)
class CellRequest:
    """One guest NUMA node: numbers of the floating and of the pinned vCPUs, memory."""

    floating: tuple[int, ...]
    pinned: tuple[int, ...]
    memory_mib: int


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """`count` PCI devices whose pool has all these properties."""

    name: str
    """Name of the port or alias."""
    match: tuple[tuple[str, str], ...]
    count: int = 1
    policy: PciNumaPolicy = PciNumaPolicy.LEGACY

    @property
    def wants_pf(self) -> bool:
        return ("dev_type", "type-PF") in self.match


@dataclass(frozen=True, slots=True)
class GuestRequest:
    """Request of one guest."""

    name: str
    cells: tuple[CellRequest, ...]
    page: int = PAGE_NONE
    cpu_policy: CpuPolicy | None = None
    thread_policy: ThreadPolicy | None = None
    isolate_emulator: bool = False
    has_topology: bool = True
    """False: Nova checks no NUMA node, so the guest floats."""
    devices: tuple[DeviceRequest, ...] = ()
    networks: tuple[str, ...] = ()
    """Physical networks whose NICs must be on one of the guest's nodes."""
    labels: frozenset[str] = frozenset()
    """Traits and aggregate names that the host must have."""
    forbidden_labels: frozenset[str] = frozenset()
    switch_hz: float = 0.0
    """Cycles/s that its vhost ports cost the host's PMD threads."""
    avoids_devices: bool = False
    """Without a device request it prefers a node without free PCI devices."""

    @property
    def pins(self) -> bool:
        return self.cpu_policy in (CpuPolicy.DEDICATED, CpuPolicy.MIXED)

    @property
    def vcpus(self) -> int:
        return sum(len(c.floating) + len(c.pinned) for c in self.cells)

    @property
    def pinned_count(self) -> int:
        return sum(len(c.pinned) for c in self.cells) + self.isolate_emulator

    @property
    def memory_mib(self) -> int:
        return sum(c.memory_mib for c in self.cells)
