# SPDX-License-Identifier: Apache-2.0
"""Plan the placement and memory of each network function of a bench."""

from __future__ import annotations

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.needs import FunctionNeeds, Needs
from wirespeed.model.plan.plan import Decision, GuestPlan
from wirespeed.model.study.spec import Frames, Vnf, VnfPages, VnfThreads
from wirespeed.plan.sizing.eal_memory import process_memory
from wirespeed.plan.testbed.cpus import BenchCpus, dpdk_nodes, nodes_of
from wirespeed.plan.testbed.guest import data_plane_vcpus, guest_plan


def function_plans(
    facts: HostFacts, frames: Frames, needs: Needs, cpus: BenchCpus
) -> tuple[GuestPlan, ...]:
    """Return the plan of every function, in the order of the needs."""
    found = []
    apart = iter(cpus.vnfs)
    dpdk = dpdk_nodes(facts, cpus)
    for function in needs.functions:
        if function.in_guest:
            own = tuple(next(apart) for _ in range(data_plane_vcpus(frames)))
            polling = (own, cpus.why_vnfs)
            found.append(
                guest_plan(
                    facts, frames, needs, function, polling=polling, housekeeping=cpus.control
                )
            )
            continue
        if function.is_sut:
            chosen = _sut_cpus(facts, function, cpus)
        elif cpus.vnfs:
            chosen = ((next(apart),), cpus.why_vnfs)
        else:
            decided = Decision(cpus.generator[:1], cpus.why_vnfs)
            placed = function.placement(shares_generator=True).name
            found.append(GuestPlan(function.name, decided, placement=placed))
            continue
        found.append(_own_process(facts, frames, needs, function, chosen, dpdk=dpdk))
    return tuple(found)


def _sut_cpus(
    facts: HostFacts, sut: FunctionNeeds, chosen: BenchCpus
) -> tuple[tuple[int, ...], str]:
    """Return the CPUs of a function that is the SUT. Workers use all threads of their cores."""
    cpus, why, workers = chosen.sut, chosen.why_sut, sut.workers
    if workers == 1:
        return cpus, why
    if len(cpus) == 1:
        return cpus, f"{why}; no cores are left for {workers} workers: they take turns on it"
    threads = [cpu for core in cpus[2:] for cpu in facts.siblings(core)]
    return (
        (*cpus[:2], *threads[:workers]),
        f"load balancers, aggregation, then {workers} workers, two to a physical core, on NUMA "
        f"node {chosen.node}",
    )


def _own_process(
    facts: HostFacts,
    frames: Frames,
    needs: Needs,
    function: FunctionNeeds,
    chosen: tuple[tuple[int, ...], str],
    *,
    dpdk: set[int],
) -> GuestPlan:
    """Plan a function in its own process, tuned as the point specifies.

    chosen: CPUs, and the reason. dpdk: NUMA nodes on which DPDK allocates in any case.
    """
    cpus, why = chosen
    vnf = frames.sut.vnf
    return GuestPlan(
        function.name,
        Decision(cpus, why),
        process=process_memory(
            frames,
            needs,
            2,
            dpdk | nodes_of(facts, cpus),
            lcores=len(cpus),
            huge=vnf.pages is VnfPages.HUGE,
        ),
        floats_over=_floats_over(facts, vnf, nodes_of(facts, cpus)),
        placement=function.placement(shares_generator=False).name,
    )


def _floats_over(facts: HostFacts, vnf: Vnf, nodes: set[int]) -> Decision[tuple[int, ...]] | None:
    """Return the CPUs that the scheduler may move a function's threads over; None: pinned."""
    if vnf.threads is VnfThreads.PINNED:
        return None
    usable = [cpu for cpu in facts.cpus if cpu.online and cpu.allowed]
    if vnf.threads is VnfThreads.NODE:
        here = tuple(cpu.id for cpu in usable if (facts.node_of(cpu.id) or 0) in nodes)
        return Decision(here, 'sut.vnf.threads = "node"')
    return Decision(tuple(cpu.id for cpu in usable), 'sut.vnf.threads = "anywhere"')
