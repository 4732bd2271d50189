# SPDX-License-Identifier: Apache-2.0
"""Check the settings of pods and of their pools.

A workload has virtual machines or pods: a host is a compute node of one of the two.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator

from wirespeed.model.input.fault import ABSENT, Fault
from wirespeed.model.plan.host_rules import PmdSiblingPolicy
from wirespeed.model.plan.kubelet import CpuOption
from wirespeed.model.plan.policy import DataPlane, InterfaceKind, NicUse, VnfKind
from wirespeed.model.plan.workload import PodContainer, Vnf, VnfPort, Workload
from wirespeed.plan.kubelet.settings import CONFLICTS
from wirespeed.plan.sizing.huge_pages import SMALL_KIB
from wirespeed.plan.workload.pod_names import equal_names

# Releases whose kubelet the prediction was compared with.
KNOWN_RELEASES = ("1.34",)
# Keys of [[vnf]] that a pod has, too.
_POD_KEYS = {
    "name", "vcpus", "memory_mib", "count", "data_plane", "ports", "kind", "pool", "containers",
}  # fmt: skip


def broken_pod_rules(workload: Workload) -> Iterator[Fault]:
    """Yield every contradiction of pods and pools."""
    kinds = {vnf.kind for vnf in workload.vnfs}
    if len(kinds) > 1:
        yield Fault("vnf.kind", ["vm", "pod"], "a host runs one of them; write a workload for each")
    for vnf in workload.vnfs:
        where = f"vnf[{vnf.name}]"
        if vnf.kind is VnfKind.POD:
            yield from _pod_rules(vnf, workload, where)
        else:
            for key, value in (("pool", vnf.pool), ("container", vnf.containers)):
                if value:
                    yield Fault(f"{where}.{key}", ABSENT, 'goes with kind = "pod" only')
    if VnfKind.POD in kinds:
        for nic in workload.nics:
            if nic.use is NicUse.DPDK:
                yield Fault(
                    f"nic[{nic.network}].use", "dpdk",
                    'a Kubernetes node has no vSwitch of the plan; write use = "sriov"',
                )  # fmt: skip
        yield from _pmd_rules(workload)
        yield from equal_names(workload)
    yield from _pool_rules(workload, has_pods=VnfKind.POD in kinds)


def _pod_rules(vnf: Vnf, workload: Workload, where: str) -> Iterator[Fault]:
    for field in dataclasses.fields(vnf):
        if field.name in _POD_KEYS:
            continue
        default = (
            field.default_factory()
            if field.default_factory is not dataclasses.MISSING
            else field.default
        )
        if getattr(vnf, field.name) != default:
            yield Fault(f"{where}.{field.name}", ABSENT, 'goes with kind = "vm" only')
    pools = [pool.name for pool in workload.pools]
    if vnf.pool is not None and vnf.pool not in pools:
        listed = ", ".join(pools) or "none"
        yield Fault(f"{where}.pool", vnf.pool, f"there is no such [[pool]]; there are: {listed}")
    if vnf.pool is None and len(pools) > 1:
        yield Fault(f"{where}.pool", ABSENT, f"name one of the pools {', '.join(pools)}")
    if not vnf.containers:
        yield Fault(f"{where}.container", ABSENT, "a pod has at least one [[vnf.container]]")
    for name, times in Counter(c.name for c in vnf.containers).items():
        if times > 1:
            yield Fault(f"{where}.container.name", name, f"is used {times} times; must be unique")
    for container in vnf.containers:
        yield from _container_rules(
            container, vnf, workload, f"{where}.container[{container.name}]"
        )
    for port in vnf.ports:
        yield from _port_rules(port, workload, f"{where}.port[{port.name}]")


def _container_rules(
    container: PodContainer, vnf: Vnf, workload: Workload, where: str
) -> Iterator[Fault]:
    polls = vnf.data_plane is DataPlane.DPDK
    if polls and container.cpus != int(container.cpus):
        yield Fault(
            f"{where}.cpus", container.cpus,
            "a polling container needs whole CPUs: the kubelet gives exclusive CPUs to whole "
            'numbers only; write a whole number, or data_plane = "kernel"',
        )  # fmt: skip
    if round(container.cpus * 1000, 6) % 1:
        yield Fault(f"{where}.cpus", container.cpus, "must be a multiple of 0.001")
    for key, limit, request in (
        ("cpus_limit", container.cpus_limit, container.cpus),
        ("memory_limit_mib", container.memory_limit_mib, container.memory_mib),
    ):
        if limit is not None and limit != request:
            yield Fault(
                f"{where}.{key}", limit,
                f"differs from the request of {request}: the pod is not Guaranteed and gets no "
                "exclusive CPUs and no memory of one NUMA node; leave the limit out",
            )  # fmt: skip
    size = page_kib(container, workload.memory.page_size_kib)
    if container.huge_pages_mib * 1024 % size:
        yield Fault(
            f"{where}.huge_pages_mib", container.huge_pages_mib,
            f"must be a multiple of the page size, {size} KiB",
        )  # fmt: skip
    if container.page_size in ("small", "large", "any"):
        yield Fault(f"{where}.page_size", container.page_size, 'must be a size as "1GiB" or "2MiB"')
    elif container.page_size is not None and not container.huge_pages_mib:
        yield Fault(f"{where}.page_size", ABSENT, "does nothing without huge_pages_mib")
    elif container.huge_pages_mib and size == SMALL_KIB:
        own = "memory" if container.page_size is None else where
        yield Fault(f"{own}.page_size", "4KiB", 'is no huge page; write "1GiB" or "2MiB"')


def page_kib(container: PodContainer, default_kib: int) -> int:
    """Return the size of the container's huge pages in KiB."""
    size = container.page_size
    return int(size) if size is not None and size.isdecimal() else default_kib


def _port_rules(port: VnfPort, workload: Workload, where: str) -> Iterator[Fault]:
    if port.kind not in (InterfaceKind.AUTO, InterfaceKind.SRIOV):
        yield Fault(
            f"{where}.kind", port.kind,
            "no maintained program gives a pod such a port (the userspace CNI is unmaintained, "
            'sriov-network-device-plugin issue 400); write kind = "sriov"',
        )  # fmt: skip
    elif port.kind is InterfaceKind.AUTO and not any(
        nic.network == port.network and nic.use is NicUse.SRIOV for nic in workload.nics
    ):
        yield Fault(f"{where}.network", port.network, 'no [[nic]] of it has use = "sriov"')


def _pmd_rules(workload: Workload) -> Iterator[Fault]:
    """Yield rules that keep pods and daemons off the cores of PMD threads."""
    if not any((workload.cores.pmd_cores or {}).values()):
        return
    siblings = workload.cores.pmd_siblings
    if siblings is not PmdSiblingPolicy.PAIR:
        yield Fault(
            "cores.pmd_siblings", siblings,
            "a Kubernetes node gives the sibling of a PMD thread to pods or daemons; write "
            '"pair", so that both threads belong to Open vSwitch',
        )  # fmt: skip
    for pool in workload.pools:
        options = pool.cpu_options
        if options is not None and CpuOption.STRICT_CPU_RESERVATION not in options:
            yield Fault(
                f"pool[{pool.name}].cpu_options", list(options),
                "with cores.pmd_cores, Burstable pods would run on the CPUs of PMD threads, and "
                "OpenShift refuses ovsDpdk; add strict-cpu-reservation",
            )  # fmt: skip


def _pool_rules(workload: Workload, *, has_pods: bool) -> Iterator[Fault]:
    if workload.pools and not has_pods:
        yield Fault("pool", ABSENT, 'goes with vnf.kind = "pod" only')
    if has_pods and not workload.pools:
        yield Fault("pool", ABSENT, "pods need a [[pool]] of nodes")
    for pool in workload.pools:
        where = f"pool[{pool.name}]"
        if not pool.hosts:
            yield Fault(f"{where}.hosts", [], "must name a host or a pattern; leave it out for all")
        if pool.kubernetes not in KNOWN_RELEASES:
            yield Fault(
                f"{where}.kubernetes", pool.kubernetes,
                "the options of its kubelet are not known; known are: "
                f"{', '.join(KNOWN_RELEASES)}",
            )  # fmt: skip
        options = set(pool.cpu_options or ())
        for one, other in CONFLICTS:
            if {one, other} <= options:
                yield Fault(
                    f"{where}.cpu_options", [one, other],
                    "the kubelet does not start with both; leave one out",
                )  # fmt: skip
