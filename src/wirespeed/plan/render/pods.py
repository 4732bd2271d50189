# SPDX-License-Identifier: Apache-2.0
"""Render pods, their networks and VFs for Kubernetes.

The targets `kubernetes` and `openshift` share VFs and pods. They differ in the owner of a node's
settings, and in what makes a NetworkAttachmentDefinition.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.model.plan.object_name import object_name, same_names
from wirespeed.model.plan.plan import (
    ContainerPlan,
    HostPlan,
    NicPlan,
    Plan,
    PodPlan,
    PoolPlan,
)
from wirespeed.model.plan.policy import NetworkType, NicUse
from wirespeed.model.plan.workload import ProviderNetwork
from wirespeed.plan.render.escape import RenderError
from wirespeed.plan.render.interface import fill

NAMESPACE = "default"
# The operator of VFs reads objects of its own namespace only. Sources: the chart of
# sriov-network-operator, OpenShift's documentation.
OPERATOR_NAMESPACES = {
    "kubernetes": "sriov-network-operator",
    "openshift": "openshift-sriov-network-operator",
}
MELLANOX = "15b3"
_UNITS = ((1 << 20, "Gi"), (1 << 10, "Mi"))


def object_names(names: Sequence[str]) -> dict[str, str]:
    """Return the name of each object in the API: lower case letters, digits and '-'.

    Raises RenderError if two become equal.
    """
    for short, same in same_names(dict.fromkeys(names)).items():
        raise RenderError(
            f"names {', '.join(same)} are all {short!r} in Kubernetes",
            "Rename one in the workload: names differ in letters, digits and '-'.",
        )
    return {name: object_name(name) for name in names}


def node_labels(plan: Plan, base: str) -> dict[str, str]:
    """Return a script for each pool that labels its nodes, as all other files select them."""
    object_names([pool.name for pool in plan.pools])
    return {
        f"{base}/{pool.name}/label-nodes.sh": fill(
            "label_nodes.sh.j2", pool=pool, label=f"{pool_label(pool)}=",
            nodes=[node_name(host) for host in pool.hosts],
        )
        for pool in plan.pools
    }  # fmt: skip


def node_name(host: str) -> str:
    """Return the name under which the kubelet of a host registers it: lower case."""
    return host.lower()


def pool_label(pool: PoolPlan) -> str:
    """Return the label of the pool's nodes; its value is empty."""
    return f"node-role.kubernetes.io/{object_name(pool.name)}"


def network_names(plan: Plan) -> dict[str, str]:
    return object_names([network.name for network in plan.networks])


def resources(plan: Plan) -> dict[str, str]:
    """Return the resource of each network's VFs that pods use, with its prefix."""
    return {port.network: port.resource for pod in plan.pods for port in pod.ports}


def sriov_policies(plan: Plan, base: str) -> dict[str, str]:
    """Return a SriovNetworkNodePolicy for each port of each pool that a pod uses."""
    files = {}
    used = resources(plan)
    ports = [
        (pool, nic, f"{pool.name}/{nic.network}/{nic.address}")
        for pool in plan.pools
        for nic in _first_host(plan, pool).nics
        if nic.use is NicUse.SRIOV and nic.network in used
    ]
    # The policies of all pools are in one namespace.
    names = object_names([name for _, _, name in ports])
    for pool, nic, name in ports:
        device_type, is_rdma, because = _device_type(plan, nic, pool)
        files[f"{base}/{pool.name}/sriov/{names[name]}.yaml"] = fill(
            "sriov_policy.yaml.j2", nic=nic, name=names[name], namespace=OPERATOR_NAMESPACES[base],
            label=pool_label(pool), resource=used[nic.network].partition("/")[2],
            mtu=plan.network(nic.network).mtu, device_type=device_type, is_rdma=is_rdma,
            device_because=because,
        )  # fmt: skip
    return files


def _first_host(plan: Plan, pool: PoolPlan) -> HostPlan:
    """Return one host of the pool; all are equal."""
    return next(host for host in plan.hosts if host.host in pool.hosts)


def _device_type(plan: Plan, nic: NicPlan, pool: PoolPlan) -> tuple[str, bool, str]:
    polls = any(
        pod.polls and pod.pool == pool.name and any(p.network == nic.network for p in pod.ports)
        for pod in plan.pods
    )
    if not polls:
        return "netdevice", False, "the pods use the kernel's driver"
    if nic.vendor == MELLANOX:
        return "netdevice", True, "DPDK drives Mellanox VFs through their kernel driver and RDMA"
    return "vfio-pci", False, "DPDK drives the VFs by vfio"


def vlan_of(network: ProviderNetwork) -> int:
    """Return the VLAN id that the PF adds and removes; 0 for none."""
    return network.segment or 0 if network.type is NetworkType.VLAN else 0


def filters_macs(plan: Plan, network: str) -> bool:
    """Return whether the NIC drops frames of addresses that are not the VF's."""
    return all(p.port_security for pod in plan.pods for p in pod.ports if p.network == network)


@dataclass(frozen=True, slots=True)
class Container:
    """One container as a Deployment names it."""

    name: str
    image: str
    because: str
    amounts: Mapping[str, str]
    capabilities: tuple[str, ...]
    mounts: tuple[tuple[str, str], ...]
    has_claim: bool


def deployment(
    plan: Plan,
    pod: PodPlan,
    annotations: Mapping[str, str],
    *,
    runtime_class: str = "",
    claim: str = "",
) -> str:
    """Return a Deployment of Guaranteed pods; claim: name of a template for the VFs."""
    pool = next(pool for pool in plan.pools if pool.name == pod.pool)
    names = object_names([other.name for other in plan.pods])
    attached = network_names(plan)
    notes = dict(annotations)
    if pod.ports and not claim:
        networks = [{"name": attached[port.network], "namespace": NAMESPACE} for port in pod.ports]
        notes["k8s.v1.cni.cncf.io/networks"] = json.dumps(networks)
    object_names([container.name for container in pod.containers])
    sizes = sorted({c.page_kib for c in pod.containers if c.huge_pages_mib})
    capabilities = _capabilities(plan, pod, pool)
    return fill(
        "deployment.yaml.j2", pod=pod, name=names[pod.name], namespace=NAMESPACE,
        annotations=notes, runtime_class=runtime_class, label=pool_label(pool), claim=claim,
        containers=[
            _container(
                container, pod, sizes, capabilities if number == 0 else (),
                has_vfs=number == 0, claim=bool(claim),
            )
            for number, container in enumerate(pod.containers)
        ],
        volumes=[(_volume(size), f"HugePages-{amount(size)}") for size in sizes],
    )  # fmt: skip


def _capabilities(plan: Plan, pod: PodPlan, pool: PoolPlan) -> tuple[str, ...]:
    """Return what DPDK needs: IPC_LOCK for its pages, NET_RAW for queues of Mellanox NICs.

    Source: DPDK, NVIDIA MLX5 Common Driver, "Required permissions".
    """
    if not pod.polls:
        return ()
    networks = {port.network for port in pod.ports}
    nics = [nic for nic in _first_host(plan, pool).nics if nic.network in networks]
    raw = any(nic.vendor == MELLANOX for nic in nics)
    return ("IPC_LOCK", "NET_RAW") if raw else ("IPC_LOCK",)


def _container(
    container: ContainerPlan,
    pod: PodPlan,
    sizes: Sequence[int],
    capabilities: tuple[str, ...],
    *,
    has_vfs: bool,
    claim: bool,
) -> Container:
    milli = container.cpu_m.value
    amounts = {
        "cpu": str(milli // 1000) if milli % 1000 == 0 else f"{milli}m",
        "memory": f"{container.memory_mib}Mi",
    }
    mounts: tuple[tuple[str, str], ...] = ()
    if container.huge_pages_mib:
        amounts[f"hugepages-{amount(container.page_kib)}"] = f"{container.huge_pages_mib}Mi"
        suffix = "" if len(sizes) == 1 else f"-{amount(container.page_kib)}"
        mounts = ((_volume(container.page_kib), f"/dev/hugepages{suffix}"),)
    if has_vfs and not claim:
        for resource, count in Counter(port.resource for port in pod.ports).items():
            amounts[resource] = str(count)
    return Container(
        name=object_name(container.name),
        image=container.image,
        because=container.cpu_m.because,
        amounts=amounts,
        capabilities=capabilities,
        mounts=mounts,
        has_claim=claim and has_vfs,
    )


def _volume(size_kib: int) -> str:
    return f"hugepages-{amount(size_kib).lower()}"


def amount(size_kib: int) -> str:
    """Return a size as Kubernetes writes it, e.g. 1Gi or 2Mi."""
    for unit, word in _UNITS:
        if size_kib % unit == 0:
            return f"{size_kib // unit}{word}"
    return f"{size_kib}Ki"
