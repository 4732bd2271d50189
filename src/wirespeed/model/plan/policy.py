# SPDX-License-Identifier: Apache-2.0
"""Define the choices of a workload for guests, their ports and their networks."""

from __future__ import annotations

from enum import StrEnum


class VnfKind(StrEnum):
    """Form of a network function: a virtual machine (Nova), or pods (Kubernetes)."""

    VM = "vm"
    POD = "pod"


class CpuPolicy(StrEnum):
    """Nova's hw:cpu_policy; mixed pins `dedicated_cpus` and lets the other vCPUs float."""

    SHARED = "shared"
    DEDICATED = "dedicated"
    MIXED = "mixed"


class ThreadPolicy(StrEnum):
    """Nova's hw:cpu_thread_policy, and two policies of the Kilo papers (S1).

    Nova never shipped the two: separate and avoid.
    """

    PREFER = "prefer"
    REQUIRE = "require"
    ISOLATE = "isolate"
    SEPARATE = "separate"
    AVOID = "avoid"


class EmulatorPolicy(StrEnum):
    SHARE = "share"
    ISOLATE = "isolate"


class PciNumaPolicy(StrEnum):
    """Nova's hw:pci_numa_affinity_policy; legacy allows a local device or one of unknown node."""

    LEGACY = "legacy"
    PREFERRED = "preferred"
    REQUIRED = "required"
    SOCKET = "socket"


class InterfaceKind(StrEnum):
    """Port type towards the guest; with auto the planner chooses (Intel 2017, S2)."""

    AUTO = "auto"
    VHOST = "vhost"
    SRIOV = "sriov"
    MACVTAP = "macvtap"
    VIRTIO = "virtio"

    @property
    def takes_vf(self) -> bool:
        return self in (InterfaceKind.SRIOV, InterfaceKind.MACVTAP)


class Pattern(StrEnum):
    """Traffic pattern of S2 section 2.1: through the server, or between guests on it."""

    NORTH_SOUTH = "north-south"
    EAST_WEST = "east-west"


class DataPlane(StrEnum):
    """Data plane of the guest's application: DPDK, or the kernel's network stack."""

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
