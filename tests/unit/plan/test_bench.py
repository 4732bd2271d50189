# SPDX-License-Identifier: Apache-2.0
"""Check that a bench gets its own cores if possible, and otherwise shares the right ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.bench.assembly.kinds import needs_of
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.model.errors import BadInput
from wirespeed.model.frame import Encapsulation, FrameSizes
from wirespeed.model.host.facts import Cpu, HostFacts, Kernel, NumaNode, PciDevice
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import (
    Frames,
    Impair,
    Roles,
    Sut,
    Topology,
    Traffic,
    Vnf,
    Vswitch,
    Workload,
)
from wirespeed.plan.testbed.bench import plan_between
from wirespeed.session.rig import plan_of


def host(nodes: int = 1, cores: int = 2, smt: bool = False) -> HostFacts:
    """Return a host with CPUs numbered as by Linux: first threads of all cores, node by node."""
    total = nodes * cores
    cpus = []
    for thread in range(2 if smt else 1):
        for core in range(total):
            siblings = (core, core + total) if smt else (core,)
            cpus.append(Cpu(core + thread * total, node=core // cores, siblings=siblings))
    found = tuple(
        NumaNode(n, tuple(c.id for c in cpus if c.node == n), 64 << 20, 60 << 20)
        for n in range(nodes)
    )
    return HostFacts("server1", Kernel("6.1", ""), tuple(cpus), found)


def spec_of(
    kind: str, vnfs: int = 1, bidirectional: bool = False, sut: Sut | None = None
) -> Frames:
    return Frames(Topology(kind, vnfs, bidirectional), sut=sut or Sut())


def planned(facts: HostFacts, spec: Workload) -> HostPlan:
    return plan_of(facts, spec).hosts[0]


def test_on_two_cpus_only_the_pmd_thread_has_one_to_itself() -> None:
    plan = planned(host(cores=2), spec_of("chain", 3))
    assert plan.vswitch is not None
    assert plan.generator is not None
    assert plan.vswitch.pmd_cpus.value == (1,)
    assert plan.generator.cpus.value == (0,)
    assert plan.generator.shared == ("vnf0", "vnf1", "vnf2")
    assert [g.cpus.value for g in plan.guests] == [(0,), (0,), (0,)]
    assert [g.process for g in plan.guests] == [None, None, None]
    assert "tasks of the generator's process" in plan.guests[0].cpus.because


def test_with_enough_cores_everything_that_polls_has_its_own() -> None:
    plan = planned(host(cores=10), spec_of("chain", 3, bidirectional=True))
    assert plan.vswitch is not None
    assert plan.generator is not None
    assert plan.generator.control_cpu.value == 0
    assert plan.generator.cpus.value == (1, 2, 3, 4)
    assert [g.cpus.value for g in plan.guests] == [(5,), (6,), (7,)]
    assert all(g.process is not None for g in plan.guests)
    assert plan.vswitch.pmd_cpus.value == (8,)
    assert plan.generator.shared == ()


def test_siblings_of_a_core_are_not_given_to_two_pollers() -> None:
    plan = planned(host(cores=4, smt=True), spec_of("p2p", bidirectional=True))
    assert plan.vswitch is not None
    assert plan.generator is not None
    used = (*plan.generator.cpus.value, *plan.vswitch.pmd_cpus.value)
    assert set(used) == {1, 2, 3}


def test_one_core_with_two_threads_is_better_than_nothing() -> None:
    plan = planned(host(cores=1, smt=True), spec_of("p2p"))
    assert plan.vswitch is not None
    assert plan.generator is not None
    assert (plan.generator.cpus.value, plan.vswitch.pmd_cpus.value) == ((0,), (1,))


def test_a_chosen_pmd_cpu_keeps_its_sibling_free() -> None:
    facts = host(cores=4, smt=True)
    plan = planned(facts, spec_of("p2p", sut=Sut(vswitch=Vswitch(pmd_cpus=(2,)))))
    assert plan.vswitch is not None
    assert plan.generator is not None
    assert plan.vswitch.pmd_cpus.value == (2,)
    assert not {2, 6} & {*plan.generator.cpus.value, plan.generator.control_cpu.value}
    assert plan.vswitch.pmd_cpus.because == "chosen in sut.vswitch.pmd_cpus"


def test_a_bench_stays_on_one_numa_node() -> None:
    facts = host(nodes=2, cores=6)
    plan = planned(facts, spec_of("pvp", sut=Sut(vswitch=Vswitch(pmd_cpus=(8,)))))
    assert plan.generator is not None
    cpus = [*plan.generator.cpus.value, *plan.guests[0].cpus.value]
    assert {facts.node_of(c) for c in cpus} == {1}
    assert plan.generator.process.value.nodes == (1,)


def test_a_program_over_two_nodes_has_memory_on_both() -> None:
    """Check memory on both nodes, also if only the main lcore is on one of them.

    Without memory of its own there, the program would take that of others.
    """
    facts = host(nodes=2, cores=2)
    plan = planned(facts, spec_of("pvp"))
    assert plan.generator is not None
    process = plan.guests[0].process
    assert process is not None
    cpus = {plan.generator.control_cpu.value, *plan.guests[0].cpus.value}
    assert {facts.node_of(cpu) for cpu in cpus} == {0, 1}
    assert process.value.nodes == (0, 1)


def test_a_program_has_memory_on_the_node_of_its_nic() -> None:
    port = PciDevice("0000:81:00.0", "8086", "1572", node=1)
    facts = replace(host(nodes=2, cores=2), pci=(port,))
    frames = Frames(Topology("sriov", 2), hosts=Roles("g", "s"))
    needs = needs_of(frames)
    plan = plan_between(facts, facts, frames, needs, sut_ports=(port.address,))
    first, second = plan.sut_host.guests
    assert {facts.node_of(first.cpus.value[0]), facts.node_of(second.cpus.value[0])} == {0, 1}
    for guest in (first, second):
        assert guest.process is not None
        assert guest.process.value.nodes == (0, 1)


def test_external_ports_choose_the_node() -> None:
    facts = replace(
        host(nodes=2, cores=6), pci=(PciDevice("0000:81:00.0", "8086", "1572", node=1),)
    )
    plan = planned(facts, spec_of("external", sut=Sut(ports=("0000:81:00.0", "0000:81:00.1"))))
    assert plan.generator is not None
    assert {facts.node_of(c) for c in plan.generator.cpus.value} == {1}
    assert [(p.node, p.count > 0) for p in plan.huge_pages.value] == [(1, True)]


def test_without_a_switch_functions_share_the_cores_there_are() -> None:
    facts = host(cores=4)
    frames = Frames(Topology("sriov", 4), hosts=Roles("g", "s"))
    plan = plan_between(facts, facts, frames, needs_of(frames))
    shared = [guest.cpus.value for guest in plan.sut_host.guests]
    assert shared == [(1,), (2,), (3,), (1,)]
    assert plan.sut_host.guests[0].cpus.because.endswith("share 3")


def test_wire_runs_on_one_cpu_without_huge_pages() -> None:
    plan = planned(host(cores=1), spec_of("wire"))
    assert plan.huge_pages.value == ()
    assert plan.generator is not None
    assert plan.generator.process.value.huge_pages is False
    assert plan.generator.shared == ("impair",)


def test_the_reference_sut_has_buffers_for_what_it_holds_back() -> None:
    plan = planned(
        host(),
        spec_of("wire", sut=Sut(impair=Impair(rate_fps=1e6, delay_ns=50_000_000))),
    )
    assert plan.generator is not None
    assert plan.generator.process.value.mbufs >= 50_000


def test_the_forwarder_of_the_host_topology_is_the_sut() -> None:
    plan = planned(host(cores=2), spec_of("host"))
    assert plan.vswitch is None
    assert plan.generator is not None
    assert (plan.generator.cpus.value, plan.guests[0].cpus.value) == ((0,), (1,))
    assert plan.guests[0].process is not None


def test_testpmd_is_always_a_process_of_its_own() -> None:
    plan = planned(host(cores=2), spec_of("pvp", sut=Sut(vnf=Vnf("testpmd"))))
    assert plan.generator is not None
    assert plan.generator.shared == ()
    assert plan.guests[0].process is not None
    assert plan.guests[0].cpus.value == (1,)
    assert "takes turns" in plan.guests[0].cpus.because


def test_functions_may_be_kept_in_the_generators_process() -> None:
    spec = spec_of("pvp", sut=Sut(vnf=Vnf(placement="shared")))
    plan = planned(host(cores=16), spec)
    assert plan.generator is not None
    assert plan.generator.shared == ("vnf0",)


@pytest.mark.parametrize(
    ("cpus", "says"),
    [((7,), "CPU 7 does not exist"), ((1, 1), "CPU 1 is named twice"), ((3,), "CPU 3 is offline"),
     ((2,), "CPU 2 is not among the CPUs this process may use")],
)  # fmt: skip
def test_a_pmd_cpu_that_cannot_be_is_refused(cpus: tuple[int, ...], says: str) -> None:
    facts = host(cores=4)
    cut = replace(facts, cpus=(*facts.cpus[:2], replace(facts.cpus[2], allowed=False),
                               replace(facts.cpus[3], online=False)))  # fmt: skip
    with pytest.raises(BadInput, match=says):
        planned(cut, spec_of("p2p", sut=Sut(vswitch=Vswitch(pmd_cpus=cpus))))


@pytest.mark.parametrize("kind", [k.name for k in TOPOLOGIES if k.name != "wire"])
def test_too_few_cpus_are_reported_with_numbers(kind: str) -> None:
    if kind in ("external", "sriov"):  # only one process polls on this host
        assert (
            planned(host(cores=1), spec_of(kind, sut=Sut(ports=("a", "b")))).generator is not None
        )
        return
    with pytest.raises(BadInput, match=r"has 1 usable CPUs; .* need 2"):
        planned(host(cores=1), spec_of(kind))
    with pytest.raises(BadInput, match=r"has 0 usable CPUs apart from the PMD CPUs 0-1"):
        planned(host(), spec_of("p2p", sut=Sut(vswitch=Vswitch(pmd_cpus=(0, 1)))))


@pytest.mark.parametrize(
    ("frame", "tags", "mtu"),
    [("64", Encapsulation.NONE, 1500), ("1518", Encapsulation.NONE, 1500),
     ("1522", Encapsulation.VLAN, 1500), ("1526", Encapsulation.QINQ, 1504),
     ("9000", Encapsulation.NONE, 8982), ("ag", Encapsulation.NONE, 1500)],
)  # fmt: skip
def test_the_mtu_holds_the_largest_frame(frame: str, tags: Encapsulation, mtu: int) -> None:
    spec = replace(spec_of("p2p"), traffic=Traffic(FrameSizes.parse(frame), encapsulation=tags))
    vswitch = planned(host(), spec).vswitch
    assert vswitch is not None
    assert vswitch.mtu.value == mtu


def test_huge_pages_are_the_sum_of_what_the_processes_take() -> None:
    plan = planned(host(cores=8), spec_of("pvp"))
    assert plan.vswitch is not None
    assert plan.generator is not None
    assert plan.guests[0].process is not None
    mib = (
        sum(plan.vswitch.socket_memory_mib.value)
        + plan.generator.process.value.memory_mib
        + plan.guests[0].process.value.memory_mib
    )
    assert sum(p.count * p.size_kib for p in plan.huge_pages.value) == mib * 1024
    assert "Open vSwitch" in plan.huge_pages.because


@given(
    nodes=st.integers(1, 2),
    cores=st.integers(1, 20),
    smt=st.booleans(),
    kind=st.sampled_from([k.name for k in TOPOLOGIES if k.has_switch]),
    bidirectional=st.booleans(),
    placement=st.sampled_from([None, "shared", "process"]),
    vnfs=st.integers(1, 8),
)
def test_no_cpu_is_given_twice_except_where_the_plan_says_so(  # noqa: PLR0917
    nodes: int,
    cores: int,
    smt: bool,
    kind: str,
    bidirectional: bool,
    placement: str | None,
    vnfs: int,
) -> None:
    spec = spec_of(kind, vnfs, bidirectional, sut=Sut(vnf=Vnf(placement=placement)))
    facts = host(nodes, cores, smt)
    try:
        plan = planned(facts, spec)
    except BadInput:
        assert len(facts.cpus) < 2
        return
    assert plan.vswitch is not None
    assert plan.generator is not None
    pollers = [*plan.vswitch.pmd_cpus.value, *plan.generator.cpus.value]
    assert len(set(pollers)) == len(pollers)
    for guest in plan.guests:
        [cpu] = guest.cpus.value
        if guest.name in plan.generator.shared:
            assert cpu in plan.generator.cpus.value
            assert guest.process is None
        elif "takes turns" not in guest.cpus.because:
            assert cpu not in pollers
            pollers.append(cpu)
    assert len(plan.vswitch.socket_memory_mib.value) == nodes
