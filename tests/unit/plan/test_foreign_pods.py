# SPDX-License-Identifier: Apache-2.0
"""Check which containers that no plan made are reported as refused by the nodes of a pool."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from wirespeed.model.plan.kubelet import CpuOption
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.cloud.foreign_pods import refused_pods
from wirespeed.plan.render.pods import pool_label

POOL: Any = SimpleNamespace(
    name="fast", hosts=("node-1",), cpu_options=SimpleNamespace(value=(CpuOption.FULL_PCPUS_ONLY,))
)
LIMITS = {"cpu": "3", "memory": "1Gi"}
DEPLOYMENT = {
    "spec": {"template": {"spec": {
        "nodeSelector": {pool_label(POOL): "true"},
        "containers": [{"name": "c", "resources": {"limits": LIMITS}}],
    }}}
}  # fmt: skip


def refused(host: str) -> list[str]:
    cores = SimpleNamespace(nodes=[SimpleNamespace(cores=[(0, 4), (1, 5)])])
    plan = SimpleNamespace(pods=(), pools=(POOL,), hosts=(SimpleNamespace(host=host, cores=cores),))
    return [each.where for each in refused_pods({"other": DEPLOYMENT}, cast(Plan, plan))]


def test_odd_cpus_on_nodes_with_two_threads_a_core_are_refused() -> None:
    assert refused("node-1") == ["Deployment other"]


def test_pool_whose_hosts_are_not_in_the_plan_refuses_nothing() -> None:
    assert refused("node-2") == []
