# SPDX-License-Identifier: Apache-2.0
"""Render pools and pods for plain Kubernetes: kubelet, tuned profile, VFs, networks, Deployments.

The kernel line, huge pages, governors and interrupts are those of the target `kernel` and of
`wirespeed apply`: each setting has one owner.
"""

from __future__ import annotations

import json

from wirespeed.model.plan.object_name import object_name
from wirespeed.model.plan.plan import Plan, PoolPlan
from wirespeed.plan.pods.pool import ALPHA_OPTIONS
from wirespeed.plan.render import tuned
from wirespeed.plan.render.interface import Files, NewFiles, fill
from wirespeed.plan.render.pods import (
    NAMESPACE,
    deployment,
    filters_macs,
    network_names,
    node_labels,
    resources,
    sriov_policies,
    vlan_of,
)

# The kubelet evicts pods below this much free memory; part of what [memory] reserves.
EVICTION_MIB = 100


def render(plan: Plan) -> Files:
    """Return kubernetes/POOL/ for the nodes, kubernetes/networks and kubernetes/pods."""
    files = NewFiles()
    for pool in plan.pools:
        base = f"kubernetes/{pool.name}"
        profile = f"wirespeed-{object_name(pool.name)}"
        files[f"{base}/kubelet.yaml"] = kubelet(pool)
        files[f"{base}/tuned/{profile}/tuned.conf"] = tuned.profile(
            profile, f"hosts of pool {pool.name}", f"polling pods of pool {pool.name}"
        )
    files |= node_labels(plan, "kubernetes")
    files |= sriov_policies(plan, "kubernetes")
    names = network_names(plan)
    for network, resource in resources(plan).items():
        files[f"kubernetes/networks/{names[network]}.yaml"] = attachment(plan, network, resource)
    for pod in plan.pods:
        files[f"kubernetes/pods/{pod.name}.yaml"] = deployment(plan, pod, {})
    return files


def kube_reserved_mib(pool: PoolPlan) -> int:
    """Return the memory of kubeReserved: what is reserved, without the eviction threshold."""
    return sum(entry.bytes >> 20 for entry in pool.reserved_memory.value) - EVICTION_MIB


def kubelet(pool: PoolPlan) -> str:
    """Return the KubeletConfiguration of a pool's nodes."""
    reserved = [(entry.node, f"{entry.bytes >> 20}Mi") for entry in pool.reserved_memory.value]
    return fill(
        "kubelet.yaml.j2", pool=pool, reserved=reserved,
        alpha=bool(ALPHA_OPTIONS & set(pool.cpu_options.value)),
        kube_reserved=f"{kube_reserved_mib(pool)}Mi", eviction=f"{EVICTION_MIB}Mi",
    )  # fmt: skip


def attachment(plan: Plan, network: str, resource: str) -> str:
    """Return the NetworkAttachmentDefinition of a network, for Multus and the SR-IOV CNI."""
    name = network_names(plan)[network]
    checked = filters_macs(plan, network)
    config = {
        "cniVersion": "1.0.0",
        "name": name,
        "type": "sriov",
        "vlan": vlan_of(plan.network(network)),
        "spoofchk": "on" if checked else "off",
        "trust": "off" if checked else "on",
        "ipam": {},
    }
    return fill(
        "attachment.yaml.j2", name=name, namespace=NAMESPACE, resource=resource,
        config=json.dumps(config),
    )  # fmt: skip
