# SPDX-License-Identifier: Apache-2.0
"""Check that guests of a TCP test get fitting vCPUs, memory and ports, each with a reason."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import pytest

from tests.unit.plan.test_bench import host
from wirespeed.model.errors import BadInput
from wirespeed.model.plan.plan import GuestPlan, HostPlan
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.model.study.spec import EmulatorThreads, Guest, GuestPages, TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpGuests, TcpPinning
from wirespeed.plan.render.libvirt import bench_domains
from wirespeed.session.rig import plan_of

OUTSIDE = Tcp(path="vhost-user", clients=3)
ALL = Tcp(path="vhost-user", clients=2, guests=TcpGuests.ALL)


def planned(tcp: Tcp, guest: Guest | None = None, cores: int = 10) -> HostPlan:
    return plan_of(host(cores=cores), TcpStreams(tcp, guest=guest)).hosts[0]


def pins(guest: GuestPlan) -> list[int]:
    return [cpu for _, cpu in guest.nodes[0].pins]


def test_server_clients_and_pmd_thread_have_cpus_of_their_own() -> None:
    plan = planned(OUTSIDE, Guest(vcpus=4))
    server, clients = plan.guests
    assert plan.vswitch is not None
    assert (server.name, server.vcpus, clients.name, clients.vcpus) == ("server", 4, "clients", 0)
    assert len(set(pins(server))) == 4
    assert server.cpus.value == tuple(sorted(pins(server)))
    taken = [*pins(server), *clients.cpus.value, *plan.vswitch.pmd_cpus.value]
    assert len(set(taken)) == len(taken)


def test_on_two_cpus_guest_and_client_share_what_the_pmd_thread_leaves() -> None:
    plan = planned(OUTSIDE, cores=2)
    assert plan.vswitch is not None
    assert plan.vswitch.pmd_cpus.value == (1,)
    assert pins(plan.guests[0]) == [0, 0]
    assert plan.guests[1].cpus.value == (0,)


@pytest.mark.parametrize("cores", [2, 10])
def test_pinning_on_the_pmds_cpus_is_what_the_point_asks_for(cores: int) -> None:
    tcp = Tcp(path="vhost-user", pinning=TcpPinning.ON_PMD)
    plan = planned(tcp, Guest(vcpus=2), cores)
    assert plan.vswitch is not None
    [pmd] = plan.vswitch.pmd_cpus.value
    assert pins(plan.guests[0]) == [pmd, pmd]
    assert "on-pmd" in plan.guests[0].cpus.because
    assert pmd not in plan.guests[1].cpus.value


def test_each_guest_of_a_tcp_test_has_its_own_vcpus_and_port() -> None:
    plan = planned(ALL, Guest(vcpus=2))
    assert [guest.name for guest in plan.guests] == ["server", "client0", "client1"]
    every = [cpu for guest in plan.guests for cpu in pins(guest)]
    assert len(set(every)) == 6
    ports = [port for guest in plan.guests for port in guest.ports]
    assert len({port.mac for port in ports}) == 3
    assert {port.kind.value for port in ports} == {InterfaceKind.VHOST}


def test_emulator_threads_of_each_are_on_its_own_vcpus_where_a_study_says_so() -> None:
    for guest in planned(ALL, Guest(vcpus=2, emulator=EmulatorThreads.ON_VCPUS)).guests:
        assert guest.emulator_cpus is not None
        assert set(guest.emulator_cpus.value) == set(pins(guest))


def test_on_a_bridge_guests_have_taps_and_the_kernel_forwards() -> None:
    plan = planned(Tcp(path="tap"))
    assert plan.vswitch is not None
    assert plan.vswitch.pmd_cpus.value == ()
    [port] = plan.guests[0].ports
    assert port.kind.value is InterfaceKind.VIRTIO


@pytest.mark.parametrize(("queues", "vcpus"), [(1, 2), (2, 2), (4, 4)])
def test_a_guest_has_a_vcpu_for_each_queue(queues: int, vcpus: int) -> None:
    [server, _] = planned(Tcp(path="vhost-user", queues=queues)).guests
    assert server.vcpus == vcpus
    assert server.ports[0].queues.value == queues


def test_huge_pages_are_the_vswitchs_and_the_guests() -> None:
    def pages(guest: Guest) -> int:
        return sum(each.count for each in planned(ALL, guest).huge_pages.value)

    memfd = pages(Guest(pages=GuestPages.MEMFD, memory_mib=1024))
    assert pages(Guest(memory_mib=1024)) == memfd + 3 * 1024 // 2


def test_the_template_of_deployments_renders_them() -> None:
    plan = plan_of(host(cores=10), TcpStreams(Tcp(path="vhost-user", queues=2), guest=Guest(2)))
    [(name, xml)] = bench_domains(plan).items()
    domain = Xml.fromstring(xml)  # noqa: S314  written by us
    assert name == domain.findtext("name") == "server"
    [interface] = domain.findall("devices/interface")
    driver = interface.find("driver")
    assert interface.get("type") == "vhostuser"
    assert driver is not None
    assert driver.get("queues") == "2"
    pinned = [int(pin.get("cpuset", "")) for pin in domain.findall("cputune/vcpupin")]
    assert pinned == pins(plan.hosts[0].guests[0])


@pytest.mark.parametrize(
    ("mib", "says"), [(256, "guest.memory_mib = 256: the guest needs 512 MiB"),
                      (65_536, "guest client0 needs 131072 MiB, and NUMA node 0")],
)  # fmt: skip
def test_memory_that_cannot_be_is_refused(mib: int, says: str) -> None:
    with pytest.raises(BadInput) as error:
        planned(ALL, Guest(memory_mib=mib))
    assert says in error.value.what
