# SPDX-License-Identifier: Apache-2.0
"""By which rules are hosts partitioned for a workload: cores, vSwitch, memory, kernel, placement?

The bounds in the types are the only bounds. None means: let the planner decide, and say why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Gt, Le

from wirespeed.model.text import KernelWord

Count = Annotated[int, Ge(1)]
Natural = Annotated[int, Ge(0)]
# With placement of PCPUs (Train) or later: what comes before counts CPUs otherwise.
Release = Annotated[int, Ge(20)]
Share = Annotated[float, Gt(0), Le(1)]
Positive = Annotated[float, Gt(0)]


class HousekeepingPolicy(StrEnum):
    """Which physical cores the host keeps: the lowest of every node (S3), or of node 0 (S0)."""

    PER_NODE = "per-node"
    FIRST_NODE = "first-node"


class PmdSiblingPolicy(StrEnum):
    """What becomes of the SMT siblings of a PMD thread's CPU.

    idle: one thread per physical core, siblings stay unused (S0: best). pair: both threads are
    PMDs (Red Hat, S3). guest: one thread per core, siblings go to guests (audit rule 10 objects).
    """

    IDLE = "idle"
    PAIR = "pair"
    GUEST = "guest"


class MemoryModel(StrEnum):
    """How much huge page memory DPDK gets; plan/memory.py names the source of each."""

    S3_PER_PORT = "s3-per-port"
    S3_FIGURE_7 = "s3-figure-7"
    S3_AUTOMATED = "s3-automated"
    TRIPLEO = "tripleo"
    JETPACK = "jetpack"
    OVS_SHARED = "ovs-shared"
    OVS_PER_PORT = "ovs-per-port"


class HugePagePolicy(StrEnum):
    """demand: what the placed guests and DPDK need. maximum: all but the host's reserve."""

    DEMAND = "demand"
    MAXIMUM = "maximum"
    TRIPLEO = "tripleo"
    JETPACK = "jetpack"


class Objective(StrEnum):
    """pack: fill hosts one after another. spread: even load, as Nova's default weighers do."""

    PACK = "pack"
    SPREAD = "spread"


@dataclass(frozen=True, slots=True)
class CoreRules:
    """Who gets which CPUs. pmd_cores: physical cores per NUMA node; pmd_core_order: prefer these.

    vswitchd_own_core: ovs-vswitchd gets a core (S0) instead of the housekeeping CPUs (S3).
    shared_cores: cores per node for floating vCPUs, beside housekeeping. idle_cpus: left unused.
    """

    housekeeping: HousekeepingPolicy = HousekeepingPolicy.PER_NODE
    housekeeping_cores: Count = 1
    vswitchd_own_core: bool = False
    pmd_siblings: PmdSiblingPolicy = PmdSiblingPolicy.PAIR
    pmd_cores: Mapping[Natural, Natural] | None = None
    pmd_core_order: tuple[Natural, ...] = ()
    pmd_on_nodes_without_nics: Natural = 1
    shared_cores: Natural = 0
    idle_cpus: tuple[Natural, ...] = ()


@dataclass(frozen=True, slots=True)
class VswitchRules:
    """Open vSwitch's DPDK memory and queues. pmd_load: the share of a PMD that may be planned."""

    memory_model: MemoryModel = MemoryModel.TRIPLEO
    socket_memory_mib: tuple[Natural, ...] | None = None
    rx_queues: Count | None = None
    descriptors: Annotated[int, Ge(64), Le(4096)] | None = None
    pmd_load: Share = 0.8
    pmd_hz: Positive | None = None


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """page_size_kib: the host's default huge page. host_reserve_mib: kept per host, all nodes."""

    page_size_kib: Count = 1048576
    huge_pages: HugePagePolicy = HugePagePolicy.DEMAND
    count: Natural | None = None
    percent: Annotated[int, Ge(1), Le(100)] = 50
    host_reserve_mib: Natural = 4096


@dataclass(frozen=True, slots=True)
class KernelRules:
    """extra: further words for the kernel command line, after the derived ones."""

    extra: tuple[KernelWord, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacementRules:
    """cpu_ratio and ram_ratio are Nova's allocation ratios for guests that are not pinned.

    keep_running: plan around the guests that run on the hosts, or as if they were gone.
    nova_release: of the Nova that will place the guests, e.g. 26 for Zed. Before 27 it finds no
    host for a mixed guest one of whose nodes has no pinned vCPU; from 34 on its computes keep
    guests without PCI devices off the nodes that have some (nova/compute/claims.py).
    """

    objective: Objective = Objective.PACK
    cpu_ratio: Positive = 4.0
    ram_ratio: Positive = 1.0
    keep_running: bool = True
    nova_release: Release = 33
