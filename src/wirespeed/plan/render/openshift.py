# SPDX-License-Identifier: Apache-2.0
"""Render pools and pods for OpenShift: PerformanceProfile, VFs, networks, Deployments.

The Node Tuning Operator owns kernel line, huge pages, tuned profile and kubelet configuration; what
its API lacks is in the annotation kubeletconfig.experimental. Source: cluster-node-tuning-operator
d2394aa8, components/kubeletconfig/kubeletconfig.go.
"""

from __future__ import annotations

import json
from typing import Any

from wirespeed.model.plan.kubelet import CpuOption, TopologyPolicy
from wirespeed.model.plan.object_name import object_name
from wirespeed.model.plan.plan import Plan, PodPlan, PoolPlan
from wirespeed.plan.host.kernel import size_word
from wirespeed.plan.pods.pool import ALPHA_OPTIONS
from wirespeed.plan.render.interface import Files, NewFiles, fill
from wirespeed.plan.render.kubernetes import EVICTION_MIB, kube_reserved_mib
from wirespeed.plan.render.pods import (
    NAMESPACE,
    OPERATOR_NAMESPACES,
    deployment,
    filters_macs,
    network_names,
    node_labels,
    pool_label,
    resources,
    sriov_policies,
    vlan_of,
)

# Pools that every cluster has.
EXISTING_POOLS = ("worker", "master")


def render(plan: Plan) -> Files:
    """Return openshift/POOL/ for the nodes, openshift/networks and openshift/pods."""
    files = NewFiles()
    for pool in plan.pools:
        files[f"openshift/{pool.name}/performance-profile.yaml"] = _profile(pool)
        if profile_name(pool.name) not in EXISTING_POOLS:
            files[f"openshift/{pool.name}/machine-config-pool.yaml"] = _machine_pool(pool)
    files |= node_labels(plan, "openshift")
    files |= sriov_policies(plan, "openshift")
    names = network_names(plan)
    for network, resource in resources(plan).items():
        checked = filters_macs(plan, network)
        files[f"openshift/networks/{names[network]}.yaml"] = fill(
            "sriov_network.yaml.j2", name=names[network], namespace=NAMESPACE,
            operator=OPERATOR_NAMESPACES["openshift"], resource=resource.partition("/")[2],
            vlan=vlan_of(plan.network(network)), spoofchk="on" if checked else "off",
            trust="off" if checked else "on",
        )  # fmt: skip
    for pod in plan.pods:
        files[f"openshift/pods/{pod.name}.yaml"] = deployment(
            plan, pod, _annotations(pod), runtime_class=f"performance-{profile_name(pod.pool)}"
        )
    return files


def _machine_pool(pool: PoolPlan) -> str:
    name = profile_name(pool.name)
    return fill(
        "machine_config_pool.yaml.j2", pool=pool, name=name, roles=["worker", name],
        label=pool_label(pool),
    )  # fmt: skip


def system_cpus(pool: PoolPlan) -> tuple[int, ...]:
    """Return cpu.reserved of the profile; the operator reserves cpu.ovsDpdk in addition."""
    polling = set(pool.ovs_cpus.value) if pool.ovs_cpus else set()
    return tuple(cpu for cpu in pool.reserved_cpus.value if cpu not in polling)


def profile_name(pool: str) -> str:
    return object_name(pool)


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
        reserved=system_cpus(pool), uncore=CpuOption.PREFER_UNCORE_CACHE in pool.cpu_options.value,
        snippet=json.dumps(_snippet(pool)), sizes=sizes, default_size=size_word(default),
        extra=[w.value for w in pool.kernel if w.because == "kernel.extra of the workload"],
        label=pool_label(pool),
    )  # fmt: skip


def _snippet(pool: PoolPlan) -> dict[str, Any]:
    """Return the part of the KubeletConfiguration that a PerformanceProfile has no field for."""
    options = dict.fromkeys(pool.cpu_options.value, "true")
    if pool.topology_policy.value is TopologyPolicy.SINGLE_NUMA_NODE:
        # The operator switches it on where the profile does not name it.
        options.setdefault(CpuOption.FULL_PCPUS_ONLY, "false")
    snippet: dict[str, Any] = {
        "topologyManagerScope": pool.topology_scope.value,
        "cpuManagerPolicyOptions": options,
        # The operator adds 500Mi of its own where systemReserved has no memory.
        "systemReserved": {"memory": "0"},
        "kubeReserved": {"memory": f"{kube_reserved_mib(pool)}Mi"},
        "evictionHard": {"memory.available": f"{EVICTION_MIB}Mi"},
        "reservedMemory": [
            {"numaNode": entry.node, "limits": {"memory": f"{entry.bytes >> 20}Mi"}}
            for entry in pool.reserved_memory.value
        ],
    }
    if pool.topology_policy.value in (TopologyPolicy.NONE, TopologyPolicy.BEST_EFFORT):
        # The operator sets it under the stricter policies only.
        snippet["memoryManagerPolicy"] = "Static"
    if pool.prefer_closest:
        snippet["topologyManagerPolicyOptions"] = {"prefer-closest-numa-nodes": "true"}
    if ALPHA_OPTIONS & set(pool.cpu_options.value):
        snippet["featureGates"] = {"CPUManagerPolicyAlphaOptions": True}
    return snippet
