# SPDX-License-Identifier: Apache-2.0
"""Compare an existing Kubernetes cluster with a plan, as `kubectl get -o json` prints it.

`old` is the cluster's value, `new` the plan's. Objects that the plan does not name are not
compared, but Deployments whose pods a planned node will refuse are named. A node's API tells how
many CPUs, pages and VFs pods can have, not which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wirespeed.model.cpuset import format_list, parse_list
from wirespeed.model.input.text import printable
from wirespeed.model.plan.object_name import object_name
from wirespeed.model.plan.plan import HostPlan, Plan, PodPlan, PoolPlan
from wirespeed.model.plan.policy import NicUse
from wirespeed.model.plan.quantity import milli, whole
from wirespeed.plan.cloud.cluster_file import NEXT, named
from wirespeed.plan.cloud.foreign_pods import refused_pods
from wirespeed.plan.diff import Difference, Effort, changed
from wirespeed.plan.errors import PlanError
from wirespeed.plan.render.openshift import profile_name, system_cpus
from wirespeed.plan.render.pods import amount, node_name, pool_label, resources

Objects = Mapping[str, Mapping[str, Any]]


def diff_cluster(objects: Objects, plan: Plan, source: str) -> tuple[Difference, ...]:
    """Return all objects and values of the plan that the cluster lacks or has differently.

    Raises PlanError for an object that is not as its API defines it.
    """
    if not plan.pools:
        raise PlanError(
            "the plan has no pods to compare with a cluster",
            "Give a plan of a workload with [[pool]].",
        )
    try:
        return tuple(_differences(objects, plan))
    except ValueError as error:
        shown = printable(str(error), 200)
        raise PlanError(f"cluster file {source}: {shown}", NEXT) from None


def _differences(objects: Objects, plan: Plan) -> Iterator[Difference]:
    nodes = objects.get("Node", {})
    for pool in plan.pools:
        for host in plan.hosts:
            if host.host in pool.hosts:
                name = node_name(host.host)
                with named(f"Node {name}"):
                    yield from _node(plan, pool, host, nodes.get(name))
        profiles = objects.get("PerformanceProfile")
        if profiles is not None:
            name = profile_name(pool.name)
            with named(f"PerformanceProfile {name}"):
                yield from _profile(pool, profiles.get(name))
    policies = objects.get("SriovNetworkNodePolicy", {})
    for host in _one_host_per_pool(plan):
        yield from _policies(plan, host, policies)
    deployments = dict(objects.get("Deployment", {}))
    for pod in plan.pods:
        key = _deployed(pod, deployments)
        with named(f"Deployment {key}"):
            yield from _deployment(pod, deployments.pop(key, None))
    yield from refused_pods(deployments, plan)


def _deployed(pod: PodPlan, deployments: Mapping[str, Any]) -> str:
    """Return the key of its Deployment: of the plan's namespace, else the only one of its name."""
    name = object_name(pod.name)
    elsewhere = [key for key in deployments if key.endswith(f"/{name}")]
    return elsewhere[0] if name not in deployments and len(elsewhere) == 1 else name


def _one_host_per_pool(plan: Plan) -> list[HostPlan]:
    return [next(h for h in plan.hosts if h.host in pool.hosts) for pool in plan.pools]


def _node(
    plan: Plan, pool: PoolPlan, host: HostPlan, node: Mapping[str, Any] | None
) -> Iterator[Difference]:
    where = f"node {host.host}"
    if node is None:
        yield Difference(where, "node", None, "Ready", Effort.LIVE)
        return
    label = pool_label(pool)
    if label not in (node["metadata"].get("labels") or {}):
        yield Difference(where, "label", None, label, Effort.LIVE)
    can = node["status"]["allocatable"]
    cpus = len(pool.isolated_cpus.value)
    yield from changed(
        where, "allocatable cpu", milli(can["cpu"]) / 1000, float(cpus), Effort.REBUILD,
        because=pool.reserved_cpus.because,
    )  # fmt: skip
    sizes = sorted({page.size_kib for page in pool.huge_pages.value})
    for size in sizes:
        wanted = sum(p.count for p in pool.huge_pages.value if p.size_kib == size)
        name = f"hugepages-{amount(size)}"
        found = whole(can.get(name, "0")) // (size << 10)
        yield from changed(
            where, f"{name} pages", found, wanted, Effort.REBOOT, because=pool.huge_pages.because
        )
    for network, resource in resources(plan).items():
        wanted = sum(nic.vfs.value for nic in host.nics if nic.network == network)
        found = whole(can.get(resource, "0"))
        yield from changed(where, resource, found, wanted, Effort.RESET_VFS)


def _profile(pool: PoolPlan, profile: Mapping[str, Any] | None) -> Iterator[Difference]:
    where = f"PerformanceProfile {profile_name(pool.name)}"
    if profile is None:
        yield Difference(where, "object", None, "present", Effort.REBOOT)
        return
    spec = profile["spec"]
    ovs = pool.ovs_cpus
    for what, cpus, because in (
        ("reserved", system_cpus(pool), pool.reserved_cpus.because),
        ("isolated", pool.isolated_cpus.value, pool.isolated_cpus.because),
        ("ovsDpdk", ovs.value if ovs else (), ovs.because if ovs else ""),
    ):
        found = format_list(parse_list(spec["cpu"].get(what, "")))
        yield from changed(
            where, f"cpu.{what}", found, format_list(cpus), Effort.REBOOT, because=because
        )
    policy = (spec.get("numa") or {}).get("topologyPolicy", "best-effort")
    yield from changed(
        where, "numa.topologyPolicy", str(policy), str(pool.topology_policy.value), Effort.REBUILD,
        because=pool.topology_policy.because,
    )  # fmt: skip


def _policies(plan: Plan, host: HostPlan, policies: Mapping[str, Any]) -> Iterator[Difference]:
    used = resources(plan)
    for nic in host.nics:
        if nic.use is not NicUse.SRIOV or nic.network not in used:
            continue
        resource = used[nic.network].partition("/")[2]
        where = f"SriovNetworkNodePolicy of {resource} on {nic.address}"
        found = []
        for name, policy in policies.items():
            with named(f"SriovNetworkNodePolicy {name}"):
                spec = policy["spec"]
                devices = spec["nicSelector"].get("rootDevices") or ()
                if spec["resourceName"] == resource and nic.address in devices:
                    found.append(spec)
        if not found:
            yield Difference(where, "object", None, "present", Effort.RESET_VFS)
            continue
        yield from changed(
            where, "numVfs", found[0]["numVfs"], nic.vfs.value, Effort.RESET_VFS,
            because=nic.vfs.because,
        )  # fmt: skip
        if found[0].get("excludeTopology"):
            yield Difference(
                where, "excludeTopology", "true", "false", Effort.RESET_VFS,
                "the kubelet cannot align CPUs with VFs whose NUMA node it does not know",
            )  # fmt: skip


def _deployment(pod: PodPlan, found: Mapping[str, Any] | None) -> Iterator[Difference]:
    where = f"Deployment {pod.name}"
    if found is None:
        yield Difference(where, "object", None, "present", Effort.LIVE)
        return
    yield from changed(where, "replicas", found["spec"]["replicas"], pod.replicas, Effort.LIVE)
    spec = found["spec"]["template"]["spec"]
    containers = {container["name"]: container for container in spec["containers"]}
    for wanted in pod.containers:
        name = object_name(wanted.name)
        container = containers.get(name)
        if container is None:
            yield Difference(where, f"container {name}", None, "present", Effort.REBUILD)
            continue
        requests = container["resources"].get("requests") or {}
        limits = container["resources"].get("limits") or {}
        if requests != limits:
            yield Difference(
                where, f"{name}: requests", "differ from limits", "equal", Effort.REBUILD,
                "only Guaranteed pods get exclusive CPUs",
            )  # fmt: skip
        yield from changed(
            where, f"{name}: cpu in 1/1000", milli(limits.get("cpu", "0")), wanted.cpu_m.value,
            Effort.REBUILD, because=wanted.cpu_m.because,
        )  # fmt: skip
        if wanted.page_kib:
            size = f"hugepages-{amount(wanted.page_kib)}"
            mib = whole(limits.get(size, "0")) >> 20
            what = f"{name}: {size} MiB"
            yield from changed(where, what, mib, wanted.huge_pages_mib, Effort.REBUILD)
    if spec.get("resourceClaims") and any("/" in r for c in containers.values() for r in _names(c)):
        yield Difference(
            where, "devices", "claims and a device plugin", "one of them", Effort.REBUILD,
            "devices of claims take no part in the Topology Manager's alignment "
            "(kubernetes/website 56232)",
        )  # fmt: skip


def _names(container: Mapping[str, Any]) -> list[str]:
    return list(container["resources"].get("limits") or ())
