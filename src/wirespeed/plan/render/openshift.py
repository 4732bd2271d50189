# SPDX-License-Identifier: Apache-2.0
"""Render pools and pods for OpenShift: PerformanceProfile, VFs, networks, Deployments.

The Node Tuning Operator owns kernel line, huge pages, tuned profile and kubelet configuration; what
its API lacks is in the annotation kubeletconfig.experimental. Source: cluster-node-tuning-operator
d2394aa8, components/kubeletconfig/kubeletconfig.go.
"""

from __future__ import annotations

import json
from typing import Any

from wirespeed.model.plan.plan import Plan, PodPlan, PoolPlan
from wirespeed.plan.host.kernel import size_word
from wirespeed.plan.pods.pool import ALPHA_OPTIONS
from wirespeed.plan.render.interface import Files, fill
from wirespeed.plan.render.kubernetes import EVICTION_MIB
from wirespeed.plan.render.pods import (
    NAMESPACE,
    OPERATOR_NAMESPACE,
    deployment,
    filters_macs,
    network_names,
    object_names,
    pool_label,
    resources,
    sriov_policies,
    vlan_of,
)


def render(plan: Plan) -> Files:
    """Return openshift/POOL/ for the nodes, openshift/networks and openshift/pods."""
    files: dict[str, str] = {}
    for pool in plan.pools:
        files[f"openshift/{pool.name}/performance-profile.yaml"] = _profile(pool)
    files |= sriov_policies(plan, "openshift")
    names = network_names(plan)
    for network, resource in resources(plan).items():
        checked = filters_macs(plan, network)
        files[f"openshift/networks/{names[network]}.yaml"] = fill(
            "sriov_network.yaml.j2", name=names[network], namespace=NAMESPACE,
            operator=OPERATOR_NAMESPACE, resource=resource.partition("/")[2],
            vlan=vlan_of(plan.network(network)), spoofchk="on" if checked else "off",
            trust="off" if checked else "on",
        )  # fmt: skip
    for pod in plan.pods:
        files[f"openshift/pods/{pod.name}.yaml"] = deployment(
            plan, pod, _annotations(pod), runtime_class=f"performance-{profile_name(pod.pool)}"
        )
    return files


def profile_name(pool: str) -> str:
    return object_names([pool])[pool]


def _annotations(pod: PodPlan) -> dict[str, str]:
    """Return what keeps the scheduler, quotas and interrupts off the CPUs of a polling pod."""
    if not pod.polls:
        return {}
    return {
        "cpu-load-balancing.crio.io": "disable",
        "cpu-quota.crio.io": "disable",
        "irq-load-balancing.crio.io": "disable",
    }


def _profile(pool: PoolPlan) -> str:
    sizes = [
        (size_word(page.size_kib), page.count, page.node)
        for page in pool.huge_pages.value
        if page.count
    ]
    largest = max((page.size_kib for page in pool.huge_pages.value if page.count), default=0)
    planned = {page.size_kib for page in pool.huge_pages.value if page.count}
    default = pool.default_page_kib if pool.default_page_kib in planned else largest
    return fill(
        "performance_profile.yaml.j2", pool=pool, name=profile_name(pool.name),
        snippet=json.dumps(_snippet(pool)), sizes=sizes, default_size=size_word(default),
        extra=[w.value for w in pool.kernel if w.because == "kernel.extra of the workload"],
        label=pool_label(pool),
    )  # fmt: skip


def _snippet(pool: PoolPlan) -> dict[str, Any]:
    """Return the part of the KubeletConfiguration that a PerformanceProfile has no field for."""
    total = sum(entry.bytes >> 20 for entry in pool.reserved_memory.value)
    snippet: dict[str, Any] = {
        "topologyManagerScope": pool.topology_scope.value,
        "cpuManagerPolicyOptions": dict.fromkeys(pool.cpu_options.value, "true"),
        # The operator adds 500Mi of its own where systemReserved has no memory.
        "systemReserved": {"memory": "0"},
        "kubeReserved": {"memory": f"{total - EVICTION_MIB}Mi"},
        "evictionHard": {"memory.available": f"{EVICTION_MIB}Mi"},
        "reservedMemory": [
            {"numaNode": entry.node, "limits": {"memory": f"{entry.bytes >> 20}Mi"}}
            for entry in pool.reserved_memory.value
        ],
    }
    if pool.prefer_closest:
        snippet["topologyManagerPolicyOptions"] = {"prefer-closest-numa-nodes": "true"}
    if ALPHA_OPTIONS & set(pool.cpu_options.value):
        snippet["featureGates"] = {"CPUManagerPolicyAlphaOptions": True}
    return snippet
