# SPDX-License-Identifier: Apache-2.0
"""Define the rules that partition hosts for a workload: cores, vSwitch, memory, kernel, placement.

The types hold the only bounds. None means that the planner decides and gives the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Gt, Le

from wirespeed.model.input.own_key import OwnValue
from wirespeed.model.input.text import KernelWord, Name, Word

Count = Annotated[int, Ge(1)]
Natural = Annotated[int, Ge(0)]
# First release with PCPUs in Placement (Train). Earlier releases count CPUs differently.
Release = Annotated[int, Ge(20)]
Share = Annotated[float, Gt(0), Le(1)]
Positive = Annotated[float, Gt(0)]


class HousekeepingPolicy(StrEnum):
    """Physical cores that the host keeps: the lowest of every node (S3), or of node 0 (S0)."""

    PER_NODE = "per-node"
    FIRST_NODE = "first-node"


class PmdSiblingPolicy(StrEnum):
    """Use of the SMT siblings of a PMD thread's CPU."""

    IDLE = "idle"
    """One thread per physical core; siblings stay unused (S0: best)."""
    PAIR = "pair"
    """Both threads are PMDs (Red Hat, S3)."""
    GUEST = "guest"
    """One thread per core; siblings go to guests. Audit rule 10 reports it."""


class MemoryModel(StrEnum):
    """Formula for the huge page memory of DPDK; plan/sizing/ovs_memory.py gives the sources."""

    S3_PER_PORT = "s3-per-port"
    S3_FIGURE_7 = "s3-figure-7"
    S3_AUTOMATED = "s3-automated"
    TRIPLEO = "tripleo"
    JETPACK = "jetpack"
    OVS_SHARED = "ovs-shared"
    OVS_PER_PORT = "ovs-per-port"


class HugePagePolicy(StrEnum):
    """Number of huge pages to reserve."""

    DEMAND = "demand"
    """The need of the placed guests and of DPDK."""
    MAXIMUM = "maximum"
    """All memory except the host's reserve."""
    TRIPLEO = "tripleo"
    JETPACK = "jetpack"


class Objective(StrEnum):
    """Goal of guest scheduling."""

    PACK = "pack"
    """Fill hosts one after another."""
    SPREAD = "spread"
    """Even load, as by Nova's default weighers."""


@dataclass(frozen=True, slots=True)
class CoreRules:
    """Assignment of CPUs to the host, the vSwitch and guests."""

    housekeeping: HousekeepingPolicy = HousekeepingPolicy.PER_NODE
    housekeeping_cores: Count = 1
    vswitchd_own_core: bool = False
    """ovs-vswitchd gets a core (S0) instead of the housekeeping CPUs (S3)."""
    pmd_siblings: PmdSiblingPolicy = PmdSiblingPolicy.PAIR
    pmd_cores: Mapping[Natural, Natural] | None = None
    """Physical cores for PMD threads, by NUMA node."""
    pmd_core_order: tuple[Natural, ...] = ()
    """Preferred cores for PMD threads, best first."""
    pmd_on_nodes_without_nics: Natural = 1
    shared_cores: Natural = 0
    """Cores per node for floating vCPUs, in addition to housekeeping."""
    idle_cpus: tuple[Natural, ...] = ()
    """CPUs to leave unused."""


@dataclass(frozen=True, slots=True)
class VswitchRules:
    """Type, DPDK memory and queues of the vSwitch."""

    kind: Word = "ovs-dpdk"
    """Type of the vSwitch."""
    memory_model: MemoryModel = MemoryModel.TRIPLEO
    socket_memory_mib: tuple[Natural, ...] | None = None
    rx_queues: Count | None = None
    descriptors: Annotated[int, Ge(64), Le(4096)] | None = None
    pmd_load: Share = 0.8
    """Largest planned utilisation of a PMD thread, 0 to 1."""
    pmd_hz: Positive | None = None
    own: Mapping[Name, Mapping[Name, OwnValue]] = field(default_factory=dict)
    """Tables [vswitch.NAME] of keys that one type of vSwitch alone has."""


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """Huge pages and the host's reserve."""

    page_size_kib: Count = 1048576
    """The host's default huge page size."""
    huge_pages: HugePagePolicy = HugePagePolicy.DEMAND
    count: Natural | None = None
    percent: Annotated[int, Ge(1), Le(100)] = 50
    host_reserve_mib: Natural = 4096
    """Memory kept for the host, summed over its nodes."""


@dataclass(frozen=True, slots=True)
class KernelRules:
    """Kernel command line."""

    extra: tuple[KernelWord, ...] = ()
    """Words to append after the derived ones."""


@dataclass(frozen=True, slots=True)
class PlacementRules:
    """Scheduling of guests to hosts."""

    objective: Objective = Objective.PACK
    cpu_ratio: Positive = 4.0
    """Nova's CPU allocation ratio for guests that are not pinned."""
    ram_ratio: Positive = 1.0
    """Nova's RAM allocation ratio for guests that are not pinned."""
    keep_running: bool = True
    """Plan around the running guests; false: plan as if they were gone."""
    nova_release: Release = 33
    """Release of the Nova that schedules the guests, e.g. 26 for Zed. Before 27 it finds no host
    for a mixed guest with a node without pinned vCPUs. From 34 on, computes keep guests without PCI
    devices off nodes that have some (nova/compute/claims.py)."""
