# SPDX-License-Identifier: Apache-2.0
"""What does one guest request of a host?

Page demands are KiB, or one of the symbols below as in Nova (nova.virt.hardware.MEMPAGES_*).
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.policy import CpuPolicy, PciNumaPolicy, ThreadPolicy

PAGE_NONE = 0
PAGE_SMALL = -1
PAGE_LARGE = -2
PAGE_ANY = -3

PAGE_WORDS = {"small": PAGE_SMALL, "large": PAGE_LARGE, "any": PAGE_ANY}


@dataclass(frozen=True, slots=True)
class CellRequest:
    """One guest NUMA node: vCPU numbers that float, vCPU numbers that are pinned, memory."""

    floating: tuple[int, ...]
    pinned: tuple[int, ...]
    memory_mib: int


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """`count` PCI devices whose pool has all these properties. name: the port or alias."""

    name: str
    match: tuple[tuple[str, str], ...]
    count: int = 1
    policy: PciNumaPolicy = PciNumaPolicy.LEGACY

    @property
    def wants_pf(self) -> bool:
        return ("dev_type", "type-PF") in self.match


@dataclass(frozen=True, slots=True)
class GuestRequest:
    """One guest. has_topology: False where Nova checks no NUMA node, so that the guest floats.

    networks: physical networks whose NICs must be on one of the guest's nodes. labels: traits and
    aggregate names the host must have. switch_hz: cycles/s its vhost ports cost the host's PMDs.
    avoids_devices: whether it goes to a node without free PCI devices first when it wants none.
    """

    name: str
    cells: tuple[CellRequest, ...]
    page: int = PAGE_NONE
    cpu_policy: CpuPolicy | None = None
    thread_policy: ThreadPolicy | None = None
    isolate_emulator: bool = False
    has_topology: bool = True
    devices: tuple[DeviceRequest, ...] = ()
    networks: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()
    forbidden_labels: frozenset[str] = frozenset()
    switch_hz: float = 0.0
    avoids_devices: bool = False

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
