# SPDX-License-Identifier: Apache-2.0
"""Which cores, memory and queues does a bench on this host get, and why?"""

from __future__ import annotations

from wirespeed.model.errors import BadInput
from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import (
    Decision,
    GeneratorPlan,
    GuestPlan,
    HostPlan,
    HugePages,
    Plan,
    VswitchPlan,
)
from wirespeed.model.spec import PointSpec, TopologyKind, VnfKind, VnfTuning
from wirespeed.model.units import mtu_for
from wirespeed.plan.bench_cpus import Demand, Placement, physical_cores, place
from wirespeed.plan.bench_memory import huge_pages, process_memory, socket_memory
from wirespeed.plan.bench_tcp import plan_tcp

_PAGE_KIB = 2048
_ETHERNET_MTU = 1500


def plan_bench(facts: HostFacts, spec: PointSpec) -> Plan:
    """The plan of one point of a study on one host.

    Raises BadInput when the host has too few CPUs, or the study names CPUs or devices that it does
    not have.
    """
    if spec.tcp is not None:
        return Plan((plan_tcp(facts, spec, spec.tcp),))
    if spec.topology.kind is TopologyKind.WIRE:
        return Plan((_wire(facts, spec),))
    placement = place(facts, _demand(facts, spec))
    vswitch = _vswitch(facts, spec, placement) if spec.topology.kind.has_vswitch else None
    guests = _guests(facts, spec, placement)
    generator = _generator(facts, spec, placement, guests)
    return Plan(
        (
            HostPlan(
                facts.host,
                _huge_pages(facts, vswitch, generator, guests),
                vswitch,
                guests,
                generator,
            ),
        )
    )


def _demand(facts: HostFacts, spec: PointSpec) -> Demand:
    kind, vnf = spec.topology.kind, spec.sut.vnf
    own = True if vnf.kind is VnfKind.TESTPMD else vnf.own_process
    directions = len(spec.directions)
    if kind is TopologyKind.HOST:
        if vnf.own_process is False:
            raise BadInput(
                'sut.vnf.own_process = false cannot go with topology.kind = "host"',
                "There the forwarder is the SUT and always a process of its own; drop the key.",
            )
        return Demand(directions, vnfs=0, sut=_forwarder_cores(facts, spec), own_process=None)
    if kind is TopologyKind.EXTERNAL:
        return Demand(directions, vnfs=0, sut=0, own_process=None, node=_node_of_ports(facts, spec))
    pinned = spec.sut.vswitch.pmd_cpus
    return Demand(directions, _vnfs(spec), sut=1, own_process=own, pinned_sut=pinned)


def _forwarder_cores(facts: HostFacts, spec: PointSpec) -> int:
    """One; for a gateway of several workers one for load balancers, one for aggregation and one for
    two workers each, if that leaves each direction's generator a core."""
    workers = spec.sut.vnf.workers
    wanted = 2 + -(-workers // 2)
    others = 1 + len(spec.directions)
    return wanted if workers > 1 and physical_cores(facts) >= wanted + others else 1


def _vnfs(spec: PointSpec) -> int:
    kind = spec.topology.kind
    if kind is TopologyKind.PVP:
        return 1
    return spec.topology.vnfs if kind in (TopologyKind.CHAIN, TopologyKind.PARALLEL) else 0


def _node_of_ports(facts: HostFacts, spec: PointSpec) -> int | None:
    """The NUMA node of the first port that is a PCI device of this host."""
    nodes = {d.address: d.node for d in facts.pci}
    return next((nodes[p] for p in spec.sut.ports if p in nodes), None)


def _wire(facts: HostFacts, spec: PointSpec) -> HostPlan:
    cpus = [c.id for c in facts.cpus if c.online and c.allowed]
    poller = cpus[-1]
    return HostPlan(
        facts.host,
        Decision((), "one process exchanges frames over rings in ordinary memory"),
        generator=GeneratorPlan(
            Decision(
                (poller,),
                "generator, reference SUT and receiver take turns on one core, so that nothing "
                "but the reference SUT's own limits can lose a frame",
            ),
            Decision(cpus[0], "control threads sleep most of the time"),
            process_memory(spec, ports=2, nodes=_nodes(facts, (poller,)), huge=False),
            shared=("impair",),
        ),
    )


def _vswitch(facts: HostFacts, spec: PointSpec, placement: Placement) -> VswitchPlan:
    wanted = spec.sut.vswitch
    mtu = _mtu(spec)
    return VswitchPlan(
        main_cpus=Decision((placement.control,), "its main thread polls nothing"),
        pmd_cpus=Decision(placement.sut, placement.why_sut),
        socket_memory_mib=socket_memory(spec, mtu.value, (n.id for n in facts.nodes)),
        rx_queues=Decision(wanted.rx_queues, "sut.vswitch.rx_queues"),
        descriptors=Decision(wanted.descriptors, "sut.vswitch.descriptors"),
        mtu=mtu,
    )


def _mtu(spec: PointSpec) -> Decision[int]:
    if spec.sut.vswitch.mtu is not None:
        return Decision(spec.sut.vswitch.mtu, "chosen in sut.vswitch.mtu")
    largest = max(spec.wire_bytes)
    # Open vSwitch leaves room for one VLAN tag besides the MTU (lib/netdev-dpdk.c).
    needed = mtu_for(largest, min(1, spec.traffic.encapsulation.tags))
    if needed <= _ETHERNET_MTU:
        return Decision(_ETHERNET_MTU, "Ethernet's usual MTU holds the largest frame")
    return Decision(needed, f"a frame of {largest} octets needs it")


def _guests(facts: HostFacts, spec: PointSpec, placement: Placement) -> tuple[GuestPlan, ...]:
    if spec.topology.kind is TopologyKind.HOST:
        return (_own_process(facts, spec, "vnf0", *_forwarder_cpus(facts, spec, placement)),)
    if not placement.vnfs:
        cpus = Decision(placement.generator[:1], placement.why_vnfs)
        return tuple(GuestPlan(f"vnf{i}", cpus) for i in range(_vnfs(spec)))
    return tuple(
        _own_process(facts, spec, f"vnf{i}", (cpu,), placement.why_vnfs)
        for i, cpu in enumerate(placement.vnfs)
    )


def _forwarder_cpus(
    facts: HostFacts, spec: PointSpec, placement: Placement
) -> tuple[tuple[int, ...], str]:
    """The CPUs of the forwarder of the host topology. Workers use all threads of their cores."""
    cpus, why, workers = placement.sut, placement.why_sut, spec.sut.vnf.workers
    if workers == 1:
        return cpus, why
    if len(cpus) == 1:
        return cpus, f"{why}; no cores are left for {workers} workers: they take turns on it"
    threads = [cpu for core in cpus[2:] for cpu in facts.siblings(core)]
    return (
        (*cpus[:2], *threads[:workers]),
        f"load balancers, aggregation, then {workers} workers, two to a physical core, on NUMA "
        f"node {placement.node}",
    )


def _own_process(
    facts: HostFacts, spec: PointSpec, name: str, cpus: tuple[int, ...], why: str
) -> GuestPlan:
    """A function in a process of its own, tuned as far as the point says."""
    tuning = spec.sut.vnf.tuning
    nodes = _nodes(facts, cpus)
    return GuestPlan(
        name,
        Decision(cpus, why),
        process=process_memory(
            spec, ports=2, nodes=nodes, lcores=len(cpus), huge=tuning.huge_pages
        ),
        floats_over=_floats_over(facts, tuning, nodes),
    )


def _floats_over(
    facts: HostFacts, tuning: VnfTuning, nodes: set[int]
) -> Decision[tuple[int, ...]] | None:
    """Where the scheduler may move a function's threads; None: nowhere."""
    if tuning is VnfTuning.CORES:
        return None
    usable = [cpu for cpu in facts.cpus if cpu.online and cpu.allowed]
    if tuning is VnfTuning.NODE:
        here = tuple(cpu.id for cpu in usable if (facts.node_of(cpu.id) or 0) in nodes)
        return Decision(here, 'sut.vnf.tuning = "node"')
    return Decision(tuple(cpu.id for cpu in usable), f'sut.vnf.tuning = "{tuning}"')


def _generator(
    facts: HostFacts, spec: PointSpec, placement: Placement, guests: tuple[GuestPlan, ...]
) -> GeneratorPlan:
    shared = tuple(g.name for g in guests if g.process is None)
    cpus = placement.generator
    return GeneratorPlan(
        Decision(cpus, placement.why_generator),
        Decision(placement.control, "control threads sleep most of the time"),
        process_memory(spec, 2 + 2 * len(shared), _nodes(facts, cpus), lcores=len(cpus)),
        shared,
    )


def _nodes(facts: HostFacts, cpus: tuple[int, ...]) -> set[int]:
    """DPDK allocates on the nodes it polls on."""
    return {facts.node_of(cpu) or 0 for cpu in cpus}


def _huge_pages(
    facts: HostFacts,
    vswitch: VswitchPlan | None,
    generator: GeneratorPlan,
    guests: tuple[GuestPlan, ...],
) -> Decision[tuple[HugePages, ...]]:
    need = {node.id: 0 for node in facts.nodes}
    parts: list[str] = []
    if vswitch is not None:
        for node, mib in zip(sorted(need), vswitch.socket_memory_mib.value, strict=True):
            need[node] += mib
        parts.append(f"Open vSwitch {sum(vswitch.socket_memory_mib.value)} MiB")
    processes = [("generator", generator.process), *((g.name, g.process) for g in guests)]
    for name, process in processes:
        if process is None or not process.value.huge_pages:
            continue
        for node in process.value.nodes:
            need[node] += process.value.memory_mib
        parts.append(f"{name} {process.value.memory_mib} MiB")
    return Decision(huge_pages(need, _PAGE_KIB), ", ".join(parts))
