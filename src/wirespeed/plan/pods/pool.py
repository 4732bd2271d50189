# SPDX-License-Identifier: Apache-2.0
"""Decide the kubelet configuration of a pool, and check that its hosts can share one.

A pool's nodes get one profile, so reserved CPUs, memory and NICs must be equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.model.plan.kubelet import (
    CpuOption,
    KubeletSettings,
    TopologyPolicy,
    TopologyScope,
)
from wirespeed.model.plan.plan import Decision
from wirespeed.model.plan.policy import DataPlane
from wirespeed.model.plan.workload import Pool, Vnf
from wirespeed.plan.errors import PlanError
from wirespeed.plan.kubelet.errors import KubeletStartError
from wirespeed.plan.kubelet.machine import Machine, machine_of
from wirespeed.plan.kubelet.settings import check
from wirespeed.plan.pods.equal import differences
from wirespeed.plan.pods.node import Node

DEFAULT_OPTIONS = (CpuOption.FULL_PCPUS_ONLY, CpuOption.STRICT_CPU_RESERVATION)
ALPHA_OPTIONS = frozenset({CpuOption.ALIGN_BY_SOCKET, CpuOption.DISTRIBUTE_ACROSS_CORES})


@dataclass(frozen=True, slots=True)
class PoolDraft:
    """Nodes of a pool and the settings of their kubelets."""

    pool: Pool
    nodes: tuple[Node, ...]
    settings: KubeletSettings
    options: Decision[tuple[CpuOption, ...]]
    policy: Decision[TopologyPolicy]
    scope: Decision[TopologyScope]


def draft_pool(pool: Pool, nodes: Sequence[Node], vnfs: Sequence[Vnf]) -> PoolDraft:
    """Return the settings of a pool. Raises PlanError if its nodes differ or none would start."""
    _check_equal(pool, nodes)
    first = nodes[0]
    policy = _policy(pool)
    scope = _scope(pool)
    options = _options(pool)
    settings = KubeletSettings(
        reserved_cpus=first.reserved_cpus,
        static_cpus=True,
        cpu_options=frozenset(options.value),
        static_memory=True,
        reserved_memory=first.reserved_memory,
        topology=policy.value,
        scope=scope.value,
        prefer_closest=pool.prefer_closest,
    )
    machine = machine_of(first.facts)
    _check_whole_cores(pool, first, machine, settings, vnfs)
    try:
        check(settings, machine)
    except KubeletStartError as error:
        raise PlanError(
            f"pool[{pool.name}]: a kubelet on {first.facts.host} does not start: {error}",
            "Change cpu_options or topology_policy of the pool, or [cores].",
        ) from error
    return PoolDraft(pool, tuple(nodes), settings, options, policy, scope)


def _policy(pool: Pool) -> Decision[TopologyPolicy]:
    if pool.topology_policy is not None:
        return Decision(pool.topology_policy, f"pool[{pool.name}].topology_policy of the workload")
    return Decision(
        TopologyPolicy.SINGLE_NUMA_NODE,
        "a pod whose CPUs, pages and VFs are not on one NUMA node is refused; best-effort would "
        "run it across nodes (kubernetes issue 106270)",
    )


def _scope(pool: Pool) -> Decision[TopologyScope]:
    if pool.topology_scope is not None:
        return Decision(pool.topology_scope, f"pool[{pool.name}].topology_scope of the workload")
    return Decision(
        TopologyScope.POD,
        "all containers of a pod on the NUMA node of its VFs; scope container aligns each alone",
    )


def _options(pool: Pool) -> Decision[tuple[CpuOption, ...]]:
    if pool.cpu_options is not None:
        return Decision(
            tuple(dict.fromkeys(pool.cpu_options)), f"pool[{pool.name}].cpu_options of the workload"
        )
    return Decision(
        DEFAULT_OPTIONS,
        "full-pcpus-only: no other container polls on the sibling thread; strict-cpu-reservation: "
        "no container runs on the reserved CPUs",
    )


def _check_equal(pool: Pool, nodes: Sequence[Node]) -> None:
    first = nodes[0]
    for node in nodes[1:]:
        found = list(differences(first, node))
        if found:
            raise PlanError(
                f"pool[{pool.name}].hosts: {first.facts.host} and {node.facts.host} differ: "
                f"{'; '.join(found)}",
                "A pool has one profile: write a [[pool]] for each kind of host.",
            )


def _check_whole_cores(
    pool: Pool, node: Node, machine: Machine, settings: KubeletSettings, vnfs: Sequence[Vnf]
) -> None:
    if CpuOption.FULL_PCPUS_ONLY not in settings.cpu_options:
        return
    per_core = machine.cpus_per_core
    threads = max(len(core) for core in machine.by_core.values())
    if per_core != threads:
        raise PlanError(
            f"host {node.facts.host}: a core has {threads} threads, but some CPUs are offline, so "
            f"the kubelet counts {per_core} a core and full-pcpus-only does not hold",
            "Bring all CPUs online, or switch SMT off as a whole.",
        )
    for vnf in vnfs:
        for container in vnf.containers:
            if vnf.data_plane is DataPlane.DPDK and int(container.cpus) % per_core:
                raise PlanError(
                    f"vnf[{vnf.name}].container[{container.name}].cpus = {container.cpus:g}: hosts "
                    f"of pool {pool.name} have {per_core} threads a core and full-pcpus-only, so "
                    "the kubelet refuses the pod (SMTAlignmentError)",
                    f"Write a multiple of {per_core}, or set cpu_options of the pool without "
                    "full-pcpus-only.",
                )
