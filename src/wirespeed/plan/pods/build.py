# SPDX-License-Identifier: Apache-2.0
"""Build the plan of pods on pools of Kubernetes nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.operating_system import family_of
from wirespeed.model.plan.kubelet import CpuOption, NodeMemory, TopologyPolicy
from wirespeed.model.plan.plan import (
    Decision,
    HostPlan,
    HugePages,
    NicPlan,
    PlacedContainer,
    PlacedPod,
    Plan,
    PodPlan,
    PoolPlan,
    Unplaced,
)
from wirespeed.model.plan.workload import Pool, Vnf, Workload
from wirespeed.plan.errors import PlanError
from wirespeed.plan.host.kernel import kernel_arguments
from wirespeed.plan.host.nics import matches, nic_plan, offered_vfs
from wirespeed.plan.host.offline_memory import offline_memory
from wirespeed.plan.host.pages import planned_pages
from wirespeed.plan.kubelet.admission import Admission, Given
from wirespeed.plan.pods.node import Node, partition, resource_names
from wirespeed.plan.pods.placement import PodHost, place, pod_host
from wirespeed.plan.pods.pool import PoolDraft, draft_pool
from wirespeed.plan.pods.requests import pod_plan, pod_request
from wirespeed.plan.sizing.huge_pages import SMALL_KIB
from wirespeed.plan.workload.ignored_settings import ignored_by_pods


def plan_pods(workload: Workload, hosts: Sequence[HostFacts]) -> Plan:
    """Return the plan of a workload of pods. Raises PlanError."""
    resources = resource_names([network.name for network in workload.networks])
    plans: list[HostPlan] = []
    pools: list[PoolPlan] = []
    lost: list[Unplaced] = []
    warnings: list[str] = []
    taken: dict[str, str] = {}
    for pool in workload.pools:
        mine = [facts for facts in hosts if matches(facts.host, pool.hosts)]
        for facts in mine:
            if facts.host in taken:
                raise PlanError(
                    f"host {facts.host} is in the pools {taken[facts.host]} and {pool.name}",
                    "Correct the hosts of one [[pool]].",
                )
            taken[facts.host] = pool.name
        vnfs = [vnf for vnf in workload.vnfs if pool_of(vnf, workload).name == pool.name]
        draft = draft_pool(pool, [partition(facts, workload) for facts in mine], vnfs)
        pages, placed, unplaced = _place(workload, draft, vnfs, resources)
        lost += unplaced
        made = _pool_plan(workload, draft, pages)
        pools.append(made)
        plans += [
            _host_plan(node, host, made) for node, host in zip(draft.nodes, placed, strict=True)
        ]
        warnings += _warnings(draft, vnfs, placed)
    return Plan(
        hosts=tuple(plans),
        workload=workload.name,
        networks=workload.networks,
        unplaced=tuple(lost),
        pools=tuple(pools),
        pods=tuple(_pod_plans(workload, resources, plans)),
        warnings=(*workload.warnings, *ignored_by_pods(workload), *warnings),
    )


def _pod_plans(
    workload: Workload, resources: Mapping[str, str], hosts: Sequence[HostPlan]
) -> Iterator[PodPlan]:
    """Yield the pods of which at least one replica fits."""
    placed = {pod.name for host in hosts for pod in host.pods}
    for vnf in workload.vnfs:
        count = sum(name in placed for name in vnf.instances)
        if count:
            yield pod_plan(vnf, pool_of(vnf, workload).name, workload, resources, count)


def pool_of(vnf: Vnf, workload: Workload) -> Pool:
    """Return the pool of a pod; the rules of the workload make sure that there is one."""
    return next(p for p in workload.pools if vnf.pool in (None, p.name))


def _place(
    workload: Workload, draft: PoolDraft, vnfs: Sequence[Vnf], resources: Mapping[str, str]
) -> tuple[Decision[tuple[HugePages, ...]], list[PodHost], list[Unplaced]]:
    """Place twice: with all pages that fit to learn how many are needed, then with these."""
    pods = [pod_request(vnf, name, workload, resources) for vnf in vnfs for name in vnf.instances]
    trial = [
        pod_host(
            node.facts, draft.settings, node.plugins(resources), _room(node), memory_counts=False
        )
        for node in draft.nodes
    ]
    place(trial, pods)
    used: dict[tuple[int, int], int] = {}
    for host in trial:
        for key, count in _used_pages(host).items():
            used[key] = max(used.get(key, 0), count)
    first = draft.nodes[0]
    pages = planned_pages(first.facts, workload.memory, first.pages, used)
    counts: dict[int, dict[int, int]] = {node.id: {} for node in first.facts.nodes}
    for page in pages.value:
        counts[page.node][page.size_kib] = page.count
    hosts = [
        pod_host(node.facts, draft.settings, node.plugins(resources), counts)
        for node in draft.nodes
    ]
    return pages, hosts, place(hosts, pods)


def _room(node: Node) -> dict[int, dict[int, int]]:
    return {
        pages.node: {size: n for size, n in pages.guest.items() if size != SMALL_KIB}
        for pages in node.pages
    }


def _used_pages(host: PodHost) -> dict[tuple[int, int], int]:
    """Return the pages of admitted pods by node and size; a block fills its nodes in order."""
    room = {
        (node.id, size): count for node in host.machine.nodes for size, count in node.huge_pages
    }
    used: dict[tuple[int, int], int] = {}
    for _, answer in host.admitted:
        for given in answer.containers:
            for block in given.memory:
                left = block.bytes // (block.page_kib * 1024) if block.page_kib else 0
                for node in block.nodes:
                    key = (node, block.page_kib)
                    count = min(left, room.get(key, 0) - used.get(key, 0))
                    if count:
                        used[key] = used.get(key, 0) + count
                    left -= count
    return used


def _pool_plan(
    workload: Workload, draft: PoolDraft, pages: Decision[tuple[HugePages, ...]]
) -> PoolPlan:
    node = draft.nodes[0]
    cores = node.cores
    isolated = cores.dedicated.value
    polling = node.pmds.value
    reserve = draft.settings.reserved_memory[0].bytes >> 20
    return PoolPlan(
        name=draft.pool.name,
        hosts=tuple(n.facts.host for n in draft.nodes),
        kubernetes=draft.pool.kubernetes,
        reserved_cpus=Decision(
            node.reserved_cpus,
            f"{cores.housekeeping.because}; "
            f"{'the kubelet also reserves those of PMD threads; ' if polling else ''}"
            "no pod runs on them",
        ),
        isolated_cpus=Decision(isolated, "all CPUs that are not reserved: pods run there"),
        cpu_options=draft.options,
        reserved_memory=Decision(
            draft.settings.reserved_memory,
            f"{reserve} MiB of each NUMA node for the host ([memory] host_reserve_mib); the sum "
            "equals kubeReserved and evictionHard, else the kubelet does not start",
        ),
        topology_policy=draft.policy,
        topology_scope=draft.scope,
        prefer_closest=draft.pool.prefer_closest,
        huge_pages=pages,
        default_page_kib=workload.memory.page_size_kib,
        kernel=_kernel(node.facts, sorted({*isolated, *polling}), pages.value, workload),
        ovs_cpus=node.pmds if polling else None,
    )


def _kernel(
    facts: HostFacts, isolated: Sequence[int], pages: Sequence[HugePages], workload: Workload
) -> tuple[Decision[str], ...]:
    """Return the kernel's words; the scheduler still balances pods of the shared pool."""
    words = kernel_arguments(
        facts, isolated, pages, workload.memory.page_size_kib, workload.kernel.extra
    )
    listed = format_list(isolated)
    return tuple(
        Decision(
            f"isolcpus=managed_irq,{listed}",
            "keeps managed interrupts away; not domain: containers of the shared pool run on these "
            "CPUs and need the scheduler's load balancing",
        )
        if word.value.startswith("isolcpus=")
        else word
        for word in words
    )


def _host_plan(node: Node, host: PodHost, pool: PoolPlan) -> HostPlan:
    return HostPlan(
        host=node.facts.host,
        huge_pages=pool.huge_pages,
        cores=node.cores,
        nics=tuple(_nic_plans(node)),
        kernel=pool.kernel,
        pods=tuple(_placed(answer, host) for _, answer in host.admitted),
        family=family_of(node.facts.operating_system),
    )


def _nic_plans(node: Node) -> Iterator[NicPlan]:
    for nic in node.nics:
        count = offered_vfs(node.facts.host, nic)
        because = (
            f"nic[{nic.settings.network}].vfs of the workload"
            if nic.settings.vfs is not None
            else "all that the port offers: the operator makes VFs for a whole pool"
        )
        yield nic_plan(nic, Decision(count, because))


def _placed(answer: Admission, host: PodHost) -> PlacedPod:
    return PlacedPod(answer.pod, tuple(_container(given, host) for given in answer.containers))


def _container(given: Given, host: PodHost) -> PlacedContainer:
    nodes = {host.machine.cpus[cpu].node for cpu in given.cpus}
    devices = tuple(device for _, found in given.devices for device in found)
    nodes |= {_node_of(device, host) for device in devices} - {-1}
    nodes |= {node for block in given.memory for node in block.nodes}
    return PlacedContainer(
        name=given.container,
        cpus=given.cpus,
        nodes=tuple(sorted(nodes)),
        memory=tuple(
            NodeMemory(block.nodes[0], block.bytes, block.page_kib) for block in given.memory
        ),
        devices=devices,
    )


def _node_of(device: str, host: PodHost) -> int:
    found = (d.node for devices in host.plugins.values() for d in devices if d.id == device)
    node = next(found, None)
    return -1 if node is None else node


def _warnings(draft: PoolDraft, vnfs: Sequence[Vnf], placed: Sequence[PodHost]) -> Iterator[str]:
    """Yield wrong placements that users of Kubernetes reported, and that these settings allow."""
    name = draft.pool.name
    options = draft.settings.cpu_options
    for node in draft.nodes:
        for words in offline_memory(node.facts):
            yield f"host {node.facts.host}: {words}"
    if {CpuOption.FULL_PCPUS_ONLY, CpuOption.DISTRIBUTE_ACROSS_NUMA} <= options:
        yield (
            f"pool {name}: full-pcpus-only with distribute-cpus-across-numa can make the kubelet "
            "loop without end (kubernetes issue 140730); leave distribute-cpus-across-numa out"
        )
    if {CpuOption.ALIGN_BY_SOCKET, CpuOption.DISTRIBUTE_ACROSS_CORES} <= options:
        yield (
            f"pool {name}: align-by-socket with distribute-cpus-across-cores gives CPUs of two "
            "sockets (kubernetes issue 141237); leave one out"
        )
    loose = draft.settings.topology in (TopologyPolicy.NONE, TopologyPolicy.BEST_EFFORT)
    if loose and any(vnf.ports for vnf in vnfs):
        yield (
            f"pool {name}: topology_policy {draft.settings.topology} also runs pods whose CPUs are "
            'not near their VFs (kubernetes issue 106270); "single-numa-node" refuses them'
        )
    for host in placed:
        for _, answer in host.admitted:
            for given in answer.containers:
                nodes = _container(given, host).nodes
                if given.cpus and len(nodes) > 1:
                    yield (
                        f"pod {answer.pod} on {host.facts.host}: container {given.container} is "
                        f"spread over NUMA nodes {', '.join(map(str, nodes))}"
                    )
