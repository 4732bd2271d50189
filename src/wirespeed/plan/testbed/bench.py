# SPDX-License-Identifier: Apache-2.0
"""Plan the cores, memory and queues of a bench on one host, each with a reason.

Topologies, switches and functions state their needs (model/plan/needs.py); this module does not
distinguish between kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.needs import Forwarding, FunctionNeeds, Needs, SwitchNeeds
from wirespeed.model.plan.plan import (
    Decision,
    GeneratorPlan,
    GuestPlan,
    HostPlan,
    HugePages,
    Plan,
    ProcessMemory,
    VswitchPlan,
)
from wirespeed.model.study.spec import Frames
from wirespeed.model.units import mtu_for
from wirespeed.plan.sizing.eal_memory import process_memory
from wirespeed.plan.testbed.cpus import (
    BenchCpus,
    Demand,
    dpdk_nodes,
    nodes_of,
    physical_cores,
    place,
)
from wirespeed.plan.testbed.functions import function_plans
from wirespeed.plan.testbed.guest import NETWORK, PAGE_KIB, data_plane_vcpus, guest_pages
from wirespeed.plan.testbed.memory import (
    SHARED_POOL,
    huge_pages,
    port_pools,
    socket_memory,
)
from wirespeed.plan.testbed.vfs import vf_networks, vf_nics

_ETHERNET_MTU = 1500
_WHY_CONTROL = "control threads sleep most of the time"


def plan_bench(facts: HostFacts, frames: Frames, needs: Needs) -> Plan:
    """Return the plan of one point of a study on one host.

    Raises BadInput if the host has too few CPUs, or if the study names CPUs or devices that it
    lacks.
    """
    if needs.one_process:
        return Plan((_one_process(facts, frames, needs),))
    cpus = place(facts, _demand(facts, frames, len(frames.directions), needs))
    vswitch = _vswitch(facts, frames, needs, cpus)
    guests = function_plans(facts, frames, needs, cpus)
    generator = _generator(facts, frames, needs, cpus, guests)
    partner = _partner(needs, vswitch, cpus)
    pages = _huge_pages(facts, needs.switch, vswitch, generator, guests, partner=partner)
    nics, networks = vf_nics(facts, needs.functions), vf_networks(needs.functions)
    if any(port.network == NETWORK.name for guest in guests for port in guest.ports):
        networks = (*networks, NETWORK)
    host = HostPlan(facts.host, pages, vswitch, guests, generator, nics=nics, partner=partner)
    return Plan((host,), networks=networks)


def plan_between(
    generator: HostFacts,
    sut: HostFacts,
    frames: Frames,
    needs: Needs,
    *,
    generator_ports: tuple[str, ...] = (),
    sut_ports: tuple[str, ...] = (),
) -> Plan:
    """Return the plan of one point with the generator on one host and the SUT on another.

    generator_ports, sut_ports: PCI addresses that each side should be near. Raises BadInput as
    plan_bench does.
    """
    alone = replace(needs, switch=None, functions=(), devices=generator_ports)
    apart = replace(needs, devices=sut_ports)
    return Plan((_generator_host(generator, frames, alone), _sut_host(sut, frames, apart)))


def _generator_host(facts: HostFacts, frames: Frames, needs: Needs) -> HostPlan:
    cpus = place(facts, _demand(facts, frames, len(frames.directions), needs))
    generator = _generator(facts, frames, needs, cpus, ())
    pages = _huge_pages(facts, None, None, generator, ())
    return HostPlan(facts.host, pages, generator=generator)


def _sut_host(facts: HostFacts, frames: Frames, needs: Needs) -> HostPlan:
    """Plan the host of switch and functions; it generates no direction."""
    cpus = place(facts, _demand(facts, frames, 0, needs))
    vswitch = _vswitch(facts, frames, needs, cpus)
    guests = function_plans(facts, frames, needs, cpus)
    pages = _huge_pages(facts, needs.switch, vswitch, None, guests)
    control = Decision(cpus.control, _WHY_CONTROL)
    return HostPlan(facts.host, pages, vswitch, guests, control_cpu=control)


def _demand(facts: HostFacts, frames: Frames, directions: int, needs: Needs) -> Demand:
    beside = [function for function in needs.functions if not function.is_sut]
    sut = next((function for function in needs.functions if function.is_sut), None)
    if sut is not None:
        return Demand(
            directions,
            len(beside),
            _sut_cores(facts, sut, directions),
            own_process=None,
            node=_node_of(facts, needs.devices),
        )
    shares = {each.shares_generator for function in beside for each in function.placements}
    own = not shares.pop() if len(shares) == 1 else None
    switch = needs.switch
    return Demand(
        directions,
        sum(data_plane_vcpus(frames) if each.in_guest else 1 for each in beside),
        sut=0 if switch is None else 1,
        own_process=own,
        pinned_sut=None if switch is None else switch.forwards_on,
        node=_node_of(facts, needs.devices),
        partner=switch is not None and switch.bonded,
    )


def _sut_cores(facts: HostFacts, sut: FunctionNeeds, directions: int) -> int:
    """Return the number of cores of a function that is the SUT.

    A function with one worker gets one core. With several workers it gets one core for load
    balancers, one for aggregation, and one for every two workers. It does so only if each
    direction's generator keeps a core.
    """
    wanted = 2 + -(-sut.workers // 2)
    others = 1 + directions
    return wanted if sut.workers > 1 and physical_cores(facts) >= wanted + others else 1


def _node_of(facts: HostFacts, devices: tuple[str, ...]) -> int | None:
    """Return the NUMA node of the first device that is a PCI device of this host."""
    nodes = {d.address: d.node for d in facts.pci}
    return next((nodes[device] for device in devices if device in nodes), None)


def _one_process(facts: HostFacts, frames: Frames, needs: Needs) -> HostPlan:
    cpus = [c.id for c in facts.cpus if c.online and c.allowed]
    poller = cpus[-1]
    turns = "a task next to the generator's"
    memory = process_memory(frames, needs, ports=2, nodes=nodes_of(facts, (poller,)), huge=False)
    return HostPlan(
        facts.host,
        Decision((), "one process exchanges frames over rings in ordinary memory"),
        guests=tuple(
            GuestPlan(
                each.name,
                Decision((poller,), turns),
                placement=each.placement(shares_generator=True).name,
            )
            for each in needs.functions
        ),
        generator=GeneratorPlan(
            Decision(
                (poller,),
                "generator, reference SUT and receiver take turns on one core, so that nothing "
                "but the reference SUT's own limits can lose a frame",
            ),
            Decision(cpus[0], _WHY_CONTROL),
            memory,
            shared=tuple(function.name for function in needs.functions),
        ),
    )


def _vswitch(facts: HostFacts, frames: Frames, needs: Needs, cpus: BenchCpus) -> VswitchPlan | None:
    switch, wanted = needs.switch, frames.sut.vswitch
    if switch is None:
        return None
    mtu = _mtu(frames)
    buffers = SHARED_POOL
    if switch.port_pools:
        buffers = port_pools(wanted, mtu.value, 2 + 2 * len(needs.functions), len(cpus.sut))
    nodes = (n.id for n in facts.nodes)
    memory = socket_memory(wanted, mtu.value, nodes, buffers, switch.page_kib)
    if not switch.packet_memory:
        kept = (
            "has the memory of its process" if switch.own_process else "keeps no frames of its own"
        )
        memory = Decision(tuple(0 for _ in facts.nodes), f"{switch.name} {kept}")
    return VswitchPlan(
        main_cpus=_main_cpus(switch, cpus),
        pmd_cpus=Decision(cpus.sut, cpus.why_sut),
        socket_memory_mib=memory,
        rx_queues=Decision(wanted.rx_queues, "sut.vswitch.rx_queues"),
        descriptors=Decision(wanted.descriptors, "sut.vswitch.descriptors"),
        mtu=mtu,
        process=_switch_process(facts, frames, needs, cpus) if switch.own_process else None,
    )


def _switch_process(
    facts: HostFacts, frames: Frames, needs: Needs, cpus: BenchCpus
) -> Decision[ProcessMemory]:
    """Size the process of a switch of this project, which has two ports."""
    tables = 0 if needs.switch is None else needs.switch.tables_bytes
    nodes = dpdk_nodes(facts, cpus) | nodes_of(facts, cpus.sut)
    own = replace(needs, tables_bytes=tables)
    return process_memory(frames, own, 2, nodes, lcores=len(cpus.sut))


def _main_cpus(switch: SwitchNeeds, cpus: BenchCpus) -> Decision[tuple[int, ...]]:
    if switch.forwarding is Forwarding.MAIN_THREAD:
        return Decision(cpus.sut, "its main thread is what forwards: a CPU of its own")
    return Decision((cpus.control,), "its main thread polls nothing")


def _partner(needs: Needs, vswitch: VswitchPlan | None, cpus: BenchCpus) -> VswitchPlan | None:
    """Return the plan of the link partner: that of the switch, on another CPU."""
    if vswitch is None or needs.switch is None or not needs.switch.bonded:
        return None
    return replace(vswitch, pmd_cpus=Decision(cpus.partner, cpus.why_partner))


def _mtu(frames: Frames) -> Decision[int]:
    if frames.sut.vswitch.mtu is not None:
        return Decision(frames.sut.vswitch.mtu, "chosen in sut.vswitch.mtu")
    largest = max(frames.wire_bytes)
    # Open vSwitch reserves room for one VLAN tag in addition to the MTU (lib/netdev-dpdk.c).
    needed = mtu_for(largest, min(1, frames.traffic.encapsulation.tags))
    if needed <= _ETHERNET_MTU:
        return Decision(_ETHERNET_MTU, "Ethernet's usual MTU holds the largest frame")
    return Decision(needed, f"a frame of {largest} octets needs it")


def _generator(
    facts: HostFacts,
    frames: Frames,
    needs: Needs,
    chosen: BenchCpus,
    guests: tuple[GuestPlan, ...],
) -> GeneratorPlan:
    shared = tuple(g.name for g in guests if g.process is None)
    cpus = chosen.generator
    # Tables of functions are in their own processes; a gateway's are the generator's, too.
    if not shared and frames.bng is None:
        needs = replace(needs, tables_bytes=0)
    return GeneratorPlan(
        Decision(cpus, chosen.why_generator),
        Decision(chosen.control, _WHY_CONTROL),
        process_memory(
            frames,
            needs,
            2 + 2 * len(shared),
            dpdk_nodes(facts, chosen) | nodes_of(facts, cpus),
            lcores=len(cpus),
        ),
        shared,
    )


def _huge_pages(
    facts: HostFacts,
    switch: SwitchNeeds | None,
    vswitch: VswitchPlan | None,
    generator: GeneratorPlan | None,
    guests: tuple[GuestPlan, ...],
    *,
    partner: VswitchPlan | None = None,
) -> Decision[tuple[HugePages, ...]]:
    need = {node.id: 0 for node in facts.nodes}
    other: tuple[HugePages, ...] = ()
    parts: list[str] = []
    if switch is not None and vswitch is not None and switch.packet_memory:
        nodes = sorted(need)
        of_each = 1 if partner is None else 2
        memory = (mib * of_each for mib in vswitch.socket_memory_mib.value)
        switch_mib = dict(zip(nodes, memory, strict=True))
        if switch.page_kib == PAGE_KIB:
            need = switch_mib
        else:
            other = huge_pages(switch_mib, switch.page_kib)
        parts.append(f"{switch.name} {sum(vswitch.socket_memory_mib.value)} MiB")
        if partner is not None:
            parts.append(f"the partner of its bonds {sum(partner.socket_memory_mib.value)} MiB")
    users = [(guest.name, _pages_of(guest)) for guest in guests]
    if switch is not None and vswitch is not None and vswitch.process is not None:
        users.insert(0, (switch.name, _pages_of_process(vswitch.process)))
    if generator is not None:
        users.insert(0, ("generator", _pages_of_process(generator.process)))
    for name, taken in users:
        for node, mib in taken.items():
            need[node] += mib
            parts.append(f"{name} {mib} MiB")
    return Decision((*huge_pages(need, PAGE_KIB), *other), ", ".join(parts))


def _pages_of(guest: GuestPlan) -> Mapping[int, int]:
    """Return the MiB in the host's huge pages, by NUMA node."""
    if guest.nodes:
        return guest_pages(guest)
    return _pages_of_process(guest.process)


def _pages_of_process(process: Decision[ProcessMemory] | None) -> Mapping[int, int]:
    if process is None or not process.value.huge_pages:
        return {}
    return dict.fromkeys(process.value.nodes, process.value.memory_mib)
