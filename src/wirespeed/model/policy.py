# SPDX-License-Identifier: Apache-2.0
"""Which choices does a workload have for guests, their ports and their networks?"""

from __future__ import annotations

from enum import StrEnum


class CpuPolicy(StrEnum):
    """Nova's hw:cpu_policy. mixed: `dedicated_cpus` are pinned, the other vCPUs float."""

    SHARED = "shared"
    DEDICATED = "dedicated"
    MIXED = "mixed"


class ThreadPolicy(StrEnum):
    """Nova's hw:cpu_thread_policy, and the two of the Kilo papers that Nova never shipped (S1)."""

    PREFER = "prefer"
    REQUIRE = "require"
    ISOLATE = "isolate"
    SEPARATE = "separate"
    AVOID = "avoid"


class EmulatorPolicy(StrEnum):
    SHARE = "share"
    ISOLATE = "isolate"


class PciNumaPolicy(StrEnum):
    """Nova's hw:pci_numa_affinity_policy; legacy: local, or a device whose node is unknown."""

    LEGACY = "legacy"
    PREFERRED = "preferred"
    REQUIRED = "required"
    SOCKET = "socket"


class InterfaceKind(StrEnum):
    """How a port reaches the guest. AUTO: the planner chooses (S2)."""

    AUTO = "auto"
    VHOST = "vhost"
    SRIOV = "sriov"
    MACVTAP = "macvtap"
    VIRTIO = "virtio"

    @property
    def takes_vf(self) -> bool:
        return self in (InterfaceKind.SRIOV, InterfaceKind.MACVTAP)


class Pattern(StrEnum):
    """S2 section 2.1: in and out of the server, or from guest to guest inside it."""

    NORTH_SOUTH = "north-south"
    EAST_WEST = "east-west"


class DataPlane(StrEnum):
    """What the guest's application drives its ports with: DPDK, or the kernel's network stack."""

    DPDK = "dpdk"
    KERNEL = "kernel"


class NicUse(StrEnum):
    DPDK = "dpdk"
    SRIOV = "sriov"


class NetworkType(StrEnum):
    VLAN = "vlan"
    FLAT = "flat"


class GroupPolicy(StrEnum):
    AFFINITY = "affinity"
    ANTI_AFFINITY = "anti-affinity"
