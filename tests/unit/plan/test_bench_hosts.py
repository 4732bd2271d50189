# SPDX-License-Identifier: Apache-2.0
"""Check plans of a bench whose generator and SUT are on two hosts."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.plan.test_bench import host, spec_of
from wirespeed.bench.assembly.kinds import needs_of
from wirespeed.model.host.facts import PciDevice
from wirespeed.model.study.spec import Roles
from wirespeed.plan.testbed.bench import plan_between


def test_between_two_hosts_each_side_has_its_own_cores_and_memory() -> None:
    frames = spec_of("chain", 2)
    plan = plan_between(
        replace(host(cores=2), host="tester"), replace(host(cores=6), host="dut"), frames,
        needs_of(frames),
    )  # fmt: skip
    tester, dut = plan.generator_host, plan.sut_host
    assert (tester.host, dut.host) == ("tester", "dut")
    assert tester.generator is not None
    assert (tester.vswitch, tester.guests, dut.generator) == (None, (), None)
    assert tester.generator.cpus.value == (1,)
    assert dut.vswitch is not None
    assert dut.control_cpu is not None
    cpus = [dut.control_cpu.value, *(g.cpus.value[0] for g in dut.guests),
            *dut.vswitch.pmd_cpus.value]  # fmt: skip
    assert cpus == [0, 1, 2, 3]
    assert all(guest.process is not None for guest in dut.guests)
    assert "vSwitch" not in tester.huge_pages.because
    assert "generator" not in dut.huge_pages.because


def test_between_two_hosts_each_side_is_near_its_ports() -> None:
    facts = replace(
        host(nodes=2, cores=6), pci=(PciDevice("0000:81:00.0", "8086", "1572", node=1),)
    )
    frames = spec_of("p2p")
    needs, ports = needs_of(frames), ("0000:81:00.0",)
    plan = plan_between(facts, facts, frames, needs, generator_ports=ports, sut_ports=ports)
    assert plan.generator_host.generator is not None
    assert plan.sut_host.vswitch is not None
    cpus = (*plan.generator_host.generator.cpus.value, *plan.sut_host.vswitch.pmd_cpus.value)
    assert {facts.node_of(cpu) for cpu in cpus} == {1}


def test_a_function_is_a_process_of_its_own_where_the_generator_is_elsewhere() -> None:
    frames = replace(spec_of("pvp"), hosts=Roles("tester", "dut"))
    plan = plan_between(host(cores=2), host(cores=2), frames, needs_of(frames))
    [guest] = plan.sut_host.guests
    assert guest.process is not None
    assert plan.sut_host.vswitch is not None
    assert guest.cpus.value == plan.sut_host.vswitch.pmd_cpus.value
    assert "takes turns" in guest.cpus.because
