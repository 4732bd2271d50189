# SPDX-License-Identifier: Apache-2.0
"""Test that every difference from the plan is found, without an OpenStack."""

from __future__ import annotations

from dataclasses import replace

from tests.cloud.comparison import COLUMNS, Row, rows
from tests.cloud.observed import Domain, Node, Port, Server
from tests.cloud.reasons import unexplained
from tests.cloud.simulated_host import address_of, document
from tests.support.examples import example_host, example_plan
from wirespeed.model.plan.plan import GuestPlan

PLAN = example_plan("s1-bng")
DOCUMENTS = {"s1-dppd": document(PLAN.hosts[0], example_host("s1-bng"))}
DEVICES = DOCUMENTS["s1-dppd"]["devices"]


def as_planned(guest: GuestPlan) -> Server:
    nodes = tuple(Node(n.node, dict(n.pins), n.memory_mib) for n in guest.nodes)
    ports = {}
    for port in guest.ports:
        assert port.device
        slot = address_of(port.device.value, DEVICES)
        ports[port.mac] = Port("hw_veb", "ACTIVE", "s1-dppd", slot, 50)
    assert guest.emulator_cpus
    domain = Domain(
        pins={vcpu: (cpu,) for node in nodes for vcpu, cpu in node.pins.items()},
        emulator=guest.emulator_cpus.value,
        nodes=tuple(node.host_node for node in nodes),
        page_kib=1048576,
        devices=frozenset(p.slot for p in ports.values() if p.slot)
        | {device.address for device in guest.devices},
        vhost_ports=0,
    )
    return Server(
        guest.name, "ACTIVE", "", "s1-dppd",
        {"PCPU": guest.vcpus, "MEMORY_MB": guest.memory_mib, "DISK_GB": 20},
        nodes, 1048576, ports, domain,
    )  # fmt: skip


SERVERS = {guest.name: as_planned(guest) for guest in PLAN.hosts[0].guests}


def row(changed: Server) -> Row:
    found = rows(PLAN, {**SERVERS, changed.name: changed}, DOCUMENTS)
    return next(row for row in found if row.guest == changed.name)


def test_all_as_planned() -> None:
    for each in rows(PLAN, SERVERS, DOCUMENTS):
        assert each == Row(each.guest, (True,) * len(COLUMNS), (), ())


def test_one_cpu_elsewhere() -> None:
    bng = SERVERS["bng"]
    node = bng.nodes[0]
    moved = replace(node, pins={**node.pins, 0: 12})
    found = row(replace(bng, nodes=(moved,)))
    assert found.cells == (True, True, False, True, True)
    assert any("libvirt has" in each for each in found.contradictions)
    assert list(unexplained({"way": [found]}, "free"))


def test_another_vf_of_the_same_port_has_a_reason() -> None:
    bng = SERVERS["bng"]
    mac, port = next(iter(bng.ports.items()))
    found = row(replace(bng, ports={**bng.ports, mac: replace(port, slot="0000:08:11.6")}))
    assert found.cells == (True, True, True, True, False)
    assert not list(unexplained({"way": [found]}, "free"))
    wrong = row(replace(bng, ports={**bng.ports, mac: replace(port, vlan=7)}))
    assert list(unexplained({"way": [wrong]}, "free"))


def test_a_guest_that_was_refused() -> None:
    found = row(replace(SERVERS["bng"], status="ERROR", fault="No valid host"))
    assert found.cells == (False,) * len(COLUMNS)
    assert found.differences == ("ERROR: No valid host",)


def test_another_allocation_is_a_contradiction() -> None:
    found = row(replace(SERVERS["bng"], allocated={"PCPU": 15}))
    assert any("Placement allocated" in each for each in found.contradictions)
