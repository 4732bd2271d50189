# SPDX-License-Identifier: Apache-2.0
"""Generate random machines, kubelet settings and pods, small enough that refusals are frequent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from tests.unit.plan.kubelet.case import Case
from wirespeed.model.plan.kubelet import (
    ContainerRequest,
    ContainerRole,
    CpuOption,
    KubeletSettings,
    NodeMemory,
    PodRequest,
    TopologyPolicy,
    TopologyScope,
)
from wirespeed.plan.kubelet.devices import PluginDevice
from wirespeed.plan.kubelet.machine import CpuPlace, Machine, MachineNode

GIB = 1 << 30
PAGES_1G, PAGES_2M = 1 << 20, 1 << 11
# The oracle tries every combination of hints: machines of many nodes get pods of few resources.
MANY_NODES = 5


def random_case(random: Random) -> Case:
    """Return a case with one of the policies and scopes."""
    case = random_machine(random)
    policies = list(every_policy(case))
    return random.choice(policies)


def every_policy(case: Case) -> Iterator[Case]:
    """Yield the case with each Topology Manager policy in each scope."""
    yield replace(case, settings=replace(case.settings, topology=TopologyPolicy.NONE))
    for policy in list(TopologyPolicy)[1:]:
        for scope in TopologyScope:
            yield replace(case, settings=replace(case.settings, topology=policy, scope=scope))


def random_machine(random: Random) -> Case:
    """Return a machine of 1 to 8 nodes, settings and pods, without a topology policy."""
    nodes = random.choice((1, 2, 2, 2, 2, 3, 4, 4, 6, 8))
    cpus = _cpus(random, nodes)
    machine = Machine(cpus, tuple(_node(random, node, nodes) for node in range(nodes)))
    plugins = _plugins(random, nodes)
    settings = _settings(random, machine)
    names = range(random.choice((1, 2, 3, 4, 6)))
    pods = tuple(_pod(random, f"pod{n}", machine, tuple(plugins)) for n in names)
    return Case(machine, settings, plugins, pods)


def _cpus(random: Random, nodes: int) -> dict[int, CpuPlace]:
    """Return CPUs numbered as Intel's or AMD's servers number them, some of them offline."""
    threads = random.choice((1, 2, 2, 2, 4) if random.random() < 0.1 else (1, 2, 2))
    per_node = random.choice((1, 2, 2, 3, 4, 6, 8))
    sockets_per_node = 2 if random.random() < 0.1 and per_node > 1 else 1
    nodes_per_socket = random.choice([n for n in (1, 2, 4, nodes) if nodes % n == 0])
    cache_size = random.choice((0, 0, 2, 4))
    adjacent = random.random() < 0.4
    interleaved = random.random() < 0.3
    cores = nodes * per_node
    found: dict[int, CpuPlace] = {}
    for core in range(cores):
        node = core % nodes if interleaved else core // per_node
        inside = core // nodes if interleaved else core % per_node
        socket = node // nodes_per_socket
        if sockets_per_node == 2:
            socket = 2 * node + 2 * inside // per_node
        ids = [core * threads + t if adjacent else core + t * cores for t in range(threads)]
        cache = 1000 + 100 * node + inside // cache_size if cache_size else socket
        for cpu in ids:
            found[cpu] = CpuPlace(ids[0], node, socket, cache)
    if random.random() < 0.25:
        found = _offline(random, found)
    return found


def _offline(random: Random, cpus: dict[int, CpuPlace]) -> dict[int, CpuPlace]:
    """Return the CPUs without some that are offline; a core is named by its lowest online CPU."""
    gone = set(random.sample(sorted(cpus), k=min(len(cpus) - 1, random.choice((1, 1, 2, 3)))))
    cores: dict[int, list[int]] = {}
    for cpu, place in cpus.items():
        if cpu not in gone:
            cores.setdefault(place.core, []).append(cpu)
    return {
        cpu: replace(cpus[cpu], core=min(online)) for online in cores.values() for cpu in online
    }


def _node(random: Random, node: int, nodes: int) -> MachineNode:
    pages = ((PAGES_2M, random.choice((0, 0, 1024))), (PAGES_1G, random.choice((0, 2, 4, 8))))
    distances = tuple(
        10 if other == node else random.choice((11, 12, 20, 21)) for other in range(nodes)
    )
    return MachineNode(node, random.choice((16, 24, 32)) * GIB, pages, distances)


def _plugins(random: Random, nodes: int) -> dict[str, tuple[PluginDevice, ...]]:
    found: dict[str, tuple[PluginDevice, ...]] = {}
    for name in ("example.com/left", "example.com/right")[: random.choice((0, 0, 1, 2))]:
        has_nodes = random.random() < 0.85
        found[name] = tuple(
            PluginDevice(f"{name[12]}{n:02}", random.randrange(nodes) if has_nodes else None)
            for n in range(random.randint(1, 6))
        )
    return found


def _settings(random: Random, machine: Machine) -> KubeletSettings:
    reserved = random.sample(sorted(machine.cpus), k=min(len(machine.cpus), random.choice((1, 2))))
    if random.random() < 0.7:
        reserved = sorted(machine.whole_cores(reserved))
    every = list(CpuOption)
    options = frozenset(option for option in every if random.random() < 0.25)
    if random.random() < 0.4:
        options = frozenset({CpuOption.FULL_PCPUS_ONLY, CpuOption.STRICT_CPU_RESERVATION})
    static = random.random() < 0.92
    memory = [NodeMemory(node.id, GIB) for node in machine.nodes if random.random() < 0.7]
    if random.random() < 0.1:
        memory.append(NodeMemory(0, 0 * GIB, PAGES_1G))
    return KubeletSettings(
        reserved_cpus=tuple(sorted(reserved)),
        static_cpus=static,
        cpu_options=options if static else frozenset(),
        static_memory=random.random() < 0.6,
        reserved_memory=tuple(memory),
        prefer_closest=random.random() < 0.3,
    )


def _pod(random: Random, name: str, machine: Machine, resources: Sequence[str]) -> PodRequest:
    guaranteed = random.random() < 0.85
    few = len(machine.nodes) > MANY_NODES
    roles = [ContainerRole.APP] * random.choice((1, 1, 1, 2, 3))
    if random.random() < 0.25:
        roles.insert(0, random.choice((ContainerRole.INIT, ContainerRole.SIDECAR)))
    containers = tuple(
        _container(random, f"c{n}", role, machine, guaranteed=guaranteed, few=few)
        for n, role in enumerate(roles)
    )
    if resources and random.random() < 0.6 and not few:
        devices = tuple((resource, random.choice((1, 1, 2, 3))) for resource in resources)
        containers = (*containers[:-1], replace(containers[-1], devices=devices))
    return PodRequest(name, containers)


def _container(
    random: Random, name: str, role: ContainerRole, machine: Machine, *, guaranteed: bool, few: bool
) -> ContainerRequest:
    most = max(2, len(machine.cpus) // random.choice((1, 2, 4)))
    cpus = 1000 * random.randint(1, most)
    if random.random() < 0.6:
        cpus += cpus % 2000
    if random.random() < 0.08:
        cpus = random.choice((500, 1500))
    memory = random.choice((1, 1, 2, 4, 12, 20)) * GIB
    pages = ()
    if random.random() < 0.35 and not few:
        pages = ((PAGES_1G, random.choice((1, 2, 4, 6)) * GIB),)
    elif random.random() < 0.1 and not few:
        pages = ((PAGES_2M, random.choice((1, 2)) * GIB),)
    limited = guaranteed or random.random() < 0.5
    return ContainerRequest(
        name=name,
        cpu_m=cpus,
        cpu_limit_m=cpus if limited else None,
        memory=memory,
        memory_limit=memory if limited else memory * 2,
        huge_pages=pages,
        role=role,
    )
