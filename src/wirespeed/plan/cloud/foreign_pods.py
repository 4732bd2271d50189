# SPDX-License-Identifier: Apache-2.0
"""Find Deployments that no plan made and whose pods a planned node will refuse.

A container with whole CPUs of a Guaranteed pod gets whole cores under full-pcpus-only. The kubelet
refuses any other number (SMTAlignmentError).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wirespeed.model.plan.kubelet import CpuOption
from wirespeed.model.plan.plan import Plan, PoolPlan
from wirespeed.model.plan.quantity import milli
from wirespeed.plan.cloud.cluster_file import named
from wirespeed.plan.diff import Difference, Effort
from wirespeed.plan.render.pods import pool_label


def refused_pods(deployments: Mapping[str, Any], plan: Plan) -> Iterator[Difference]:
    """Yield each container that the nodes of a pool refuse.

    deployments: by name, those that the plan did not make. Raises ValueError for a damaged one.
    """
    for pool in plan.pools:
        threads = _threads(plan, pool)
        if CpuOption.FULL_PCPUS_ONLY not in pool.cpu_options.value or threads == 1:
            continue
        for name, deployment in deployments.items():
            where = f"Deployment {name}"
            with named(where):
                spec = deployment["spec"]["template"]["spec"]
                if pool_label(pool) in (spec.get("nodeSelector") or {}):
                    yield from _odd(where, spec["containers"], pool, threads)


def _odd(
    where: str, containers: list[Mapping[str, Any]], pool: PoolPlan, threads: int
) -> Iterator[Difference]:
    asked = [(c["name"], c.get("resources") or {}) for c in containers]
    if not all(_is_guaranteed(resources) for _, resources in asked):
        return
    for name, resources in asked:
        cpus = milli(resources["limits"]["cpu"])
        if cpus % 1000 == 0 and cpus // 1000 % threads:
            yield Difference(
                where, f"{name}: cpu", str(cpus // 1000), f"a multiple of {threads}",
                Effort.REBUILD,
                f"nodes of pool {pool.name} give whole cores only (full-pcpus-only) and refuse "
                "the pod with SMTAlignmentError",
            )  # fmt: skip


def _is_guaranteed(resources: Mapping[str, Any]) -> bool:
    limits = resources.get("limits") or {}
    # The API server takes a limit for the request that is not given.
    requests = limits | (resources.get("requests") or {})
    return {"cpu", "memory"} <= limits.keys() and requests == limits


def _threads(plan: Plan, pool: PoolPlan) -> int:
    """Return the threads of a core on the pool's nodes; 1 where the plan knows none of them."""
    cores = next((host.cores for host in plan.hosts if host.host in pool.hosts), None)
    return (
        max((len(core) for node in cores.nodes for core in node.cores), default=1) if cores else 1
    )
