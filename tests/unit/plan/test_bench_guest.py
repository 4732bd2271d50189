# SPDX-License-Identifier: Apache-2.0
"""Check that a bench's guest gets the required vCPUs, CPUs, memory and ports, with reasons."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.nic import PF, with_nic
from tests.unit.plan.test_bench import host
from wirespeed.model.errors import BadInput
from wirespeed.model.plan.plan import GuestPlan, HostPlan
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.model.study.spec import (
    EmulatorThreads,
    Frames,
    Guest,
    GuestPages,
    Sut,
    Topology,
    Vnf,
    Vswitch,
)
from wirespeed.plan.render.libvirt import bench_domains
from wirespeed.session.rig import plan_of


def point(kind: str = "pvp", vnfs: int = 1, queues: int = 1, guest: Guest | None = None) -> Frames:
    sut = Sut(Vswitch(rx_queues=queues), Vnf(placement="guest"))
    return Frames(Topology(kind, vnfs), sut=sut, guest=guest)


def planned(frames: Frames, cores: int = 10) -> HostPlan:
    return plan_of(host(cores=cores), frames).hosts[0]


def only(plan: HostPlan) -> GuestPlan:
    [guest] = plan.guests
    return guest


def test_one_vcpu_polls_on_a_core_of_its_own_and_one_keeps_house() -> None:
    plan = planned(point())
    guest = only(plan)
    assert plan.vswitch is not None
    assert plan.generator is not None
    assert guest.vcpus == 2
    [node] = guest.nodes
    housekeeping, polling = node.pins
    assert housekeeping == (0, plan.generator.control_cpu.value)
    assert guest.cpus.value == (polling[1],)
    others = {*plan.generator.cpus.value, *plan.vswitch.pmd_cpus.value, housekeeping[1]}
    assert polling[1] not in others
    assert guest.emulator_cpus is not None
    assert guest.emulator_cpus.value == (housekeeping[1],)


def test_emulator_threads_take_turns_with_vcpus_where_a_study_says_so() -> None:
    shared = only(planned(point(guest=Guest(emulator=EmulatorThreads.ON_VCPUS))))
    assert shared.emulator_cpus is not None
    assert shared.emulator_cpus.value == shared.cpus.value
    assert shared.emulator_cpus.because == 'guest.emulator = "on-vcpus"'


def test_guest_ports_have_the_macs_of_the_traffic() -> None:
    ports = only(planned(point(queues=2))).ports
    assert [port.mac for port in ports] == ["02:01:00:00:00:00", "02:01:01:00:00:00"]
    assert {port.kind.value for port in ports} == {InterfaceKind.VHOST}
    assert {port.queues.value for port in ports} == {2}


@pytest.mark.parametrize(("queues", "vcpus"), [(1, 2), (2, 2), (4, 4), (8, 8)])
def test_a_guest_has_a_vcpu_for_each_queue(queues: int, vcpus: int) -> None:
    guest = only(planned(point(queues=queues), cores=16))
    assert guest.vcpus == vcpus
    assert len({cpu for _, cpu in guest.nodes[0].pins}) == vcpus


def test_all_that_was_decided_has_a_reason() -> None:
    guest = only(planned(point()))
    assert [each.value for each in guest.sizes] == ["2 vCPUs", "512 MiB", "pages of 2048 KiB"]
    told = [*guest.sizes, guest.cpus, guest.emulator_cpus, guest.process]
    assert all(each is not None and each.because for each in told)


def test_guest_memory_is_in_the_hosts_huge_pages_unless_pages_are_small() -> None:
    small = point(guest=Guest(pages=GuestPages.MEMFD))
    huge_mib, small_mib = (
        sum(p.count * p.size_kib // 1024 for p in planned(each).huge_pages.value)
        for each in (point(), small)
    )
    assert huge_mib - small_mib == only(planned(point())).memory_mib
    assert only(planned(small)).nodes[0].page_kib == 4


def test_a_virtual_function_is_planned_as_one_that_is_to_be_made() -> None:
    spec = Frames(Topology("sriov", 2), sut=Sut(vnf=Vnf(placement="guest"), ports=(PF,)))
    plan = plan_of(with_nic(host(cores=10)), spec)
    [first, second] = plan.hosts[0].guests
    [nic] = plan.hosts[0].nics
    assert (nic.address, nic.interface) == (PF, "ens1f0")
    assert [port.mac for port in second.ports] == ["02:01:02:00:00:00", "02:01:03:00:00:00"]
    told = [(port.device.value, plan.network(port.network).segment)
            for guest in (first, second) for port in guest.ports if port.device]  # fmt: skip
    # Numbers 0 and 5 belong to the generator.
    assert told == [(f"{PF}/vf1", 101), (f"{PF}/vf2", 102), (f"{PF}/vf3", 102), (f"{PF}/vf4", 103)]
    assert {port.kind.value for port in first.ports} == {InterfaceKind.SRIOV}


def test_a_nic_that_the_host_lacks_is_refused_before_anything_starts() -> None:
    ports = ("0000:7f:00.0",)
    spec = Frames(Topology("sriov"), sut=Sut(vnf=Vnf(placement="guest"), ports=ports))
    with pytest.raises(BadInput, match=r"0000:7f:00\.0: host server1 has no such NIC") as caught:
        plan_of(with_nic(host(cores=10)), spec)
    assert PF in caught.value.next_step


def test_with_one_vcpu_kernel_and_data_plane_share_it() -> None:
    guest = only(planned(point(guest=Guest(vcpus=1))))
    assert guest.nodes[0].pins == ((0, guest.cpus.value[0]),)


def test_each_guest_of_a_chain_has_its_own() -> None:
    plan = plan_of(host(cores=10), point("chain", 3))
    guests = plan.hosts[0].guests
    assert len({guest.cpus.value for guest in guests}) == 3
    assert set(bench_domains(plan)) == {"vnf0", "vnf1", "vnf2"}


def test_guests_on_two_cpus_take_turns_and_the_plan_says_so() -> None:
    plan = planned(point("chain", 2), cores=2)
    assert {cpu for guest in plan.guests for cpu in guest.cpus.value} <= {0, 1}
    assert all("no core is left" in guest.cpus.because for guest in plan.guests)


def test_too_little_memory_is_refused_before_anything_starts() -> None:
    facts = host(cores=10)
    small = replace(facts, nodes=tuple(replace(n, memory_kib=300 << 10) for n in facts.nodes))
    with pytest.raises(BadInput, match=r"vnf0 needs 512 MiB, and NUMA node 0 .* has 300"):
        plan_of(small, point())
    with pytest.raises(BadInput, match=r"guest\.memory_mib = 256: the guest needs"):
        plan_of(facts, point(guest=Guest(memory_mib=256)))
