# SPDX-License-Identifier: Apache-2.0
"""Find valid settings of a workload that have no effect on its plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from wirespeed.model.plan.host_rules import CoreRules, HugePagePolicy, MemoryRules, VswitchRules
from wirespeed.model.plan.workload import Workload

_PMD_KEYS = (
    "vswitchd_own_core", "pmd_siblings", "pmd_cores", "pmd_core_order",
    "pmd_on_nodes_without_nics",
)  # fmt: skip
_VSWITCH_KEYS = (
    "kind", "memory_model", "socket_memory_mib", "rx_queues", "descriptors", "pmd_load", "pmd_hz",
)  # fmt: skip


def ignored_settings(workload: Workload, *, any_vswitch: bool) -> Iterator[str]:
    """Yield one note per group of keys without effect.

    any_vswitch: a host polls ports.
    """
    if not any_vswitch:
        keys = [f"cores.{key}" for key in _changed(workload.cores, CoreRules(), _PMD_KEYS)]
        rules = _changed(workload.vswitch, VswitchRules(), _VSWITCH_KEYS)
        keys += [f"vswitch.{key}" for key in rules]
        if keys:
            yield (
                f"{', '.join(keys)} have no effect: no port is behind Open vSwitch with DPDK on "
                "any host"
            )
    yield from _ignored_memory(workload)


def ignored_by_pods(workload: Workload) -> Iterator[str]:
    """Yield one note per group of keys that do nothing for pods on Kubernetes nodes."""
    keys = [f"vswitch.{key}" for key in _changed(workload.vswitch, VswitchRules(), _VSWITCH_KEYS)]
    if workload.cores.pmd_on_nodes_without_nics != CoreRules().pmd_on_nodes_without_nics:
        keys.append("cores.pmd_on_nodes_without_nics")
    if keys:
        yield (
            f"{', '.join(keys)} have no effect: the plan gives Open vSwitch of a Kubernetes node "
            "CPUs only (cores.pmd_cores); its network plugin configures the rest"
        )
    yield from _ignored_memory(workload)


def _ignored_memory(workload: Workload) -> Iterator[str]:
    memory, defaults = workload.memory, MemoryRules()
    if memory.count is not None and memory.huge_pages is not defaults.huge_pages:
        yield "memory.huge_pages has no effect: memory.count fixes the number of pages"
    tripleo = memory.huge_pages is HugePagePolicy.TRIPLEO and memory.count is None
    if memory.percent != defaults.percent and not tripleo:
        yield 'memory.percent has no effect: it applies to huge_pages = "tripleo" only'


def _changed(rules: Any, defaults: Any, keys: Iterable[str]) -> list[str]:
    return [key for key in keys if getattr(rules, key) != getattr(defaults, key)]
