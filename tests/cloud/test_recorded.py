# SPDX-License-Identifier: Apache-2.0
"""Is a real control plane read as it answered?

s2-chains/ was recorded of Debian 12's Keystone, Placement, Glance, Neutron and Nova (26.2.2) with a
simulated host of the example, after its create.sh was run there: seven servers run, on other cores
than planned, and Nova found no host for the eighth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cloud.carried_out import replies
from tests.plan.lab import example_host, example_plan, example_text
from wirespeed.cloud.collect import collect
from wirespeed.cloud.host_facts import completed
from wirespeed.cloud.recording import RecordedApi, RecordingApi
from wirespeed.model.cloud import Cloud, CpuCounts, Inventory
from wirespeed.model.facts import PciDevice
from wirespeed.model.policy import NicUse
from wirespeed.plan.cloud_diff import diff_cloud
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload_file import parse_workload

FOLDER = Path(__file__).parent / "s2-chains"


@pytest.fixture(scope="module")
def cloud() -> Cloud:
    return collect(RecordedApi.open(FOLDER))


def test_the_host(cloud: Cloud) -> None:
    (host,) = cloud.hosts
    assert (host.name, host.up, host.enabled) == ("s2-r730", True, True)
    assert host.cpu_counts == CpuCounts(2, 1, 22, 2)
    assert host.inventory["PCPU"] == Inventory(total=78, reserved=0, claimed=21)
    assert "HW_CPU_HYPERTHREADING" in host.traits
    assert host.strangers == ()
    assert [(agent.kind, agent.alive) for agent in host.agents] == [
        ("NIC Switch agent", True),
        ("Open vSwitch agent", True),
    ]


def test_servers_with_their_ports(cloud: Cloud) -> None:
    servers = {server.name: server for server in cloud.servers}
    router, firewall = servers["router-1"], servers["firewall"]
    assert router.pins == ((0, 56), (1, 12), (2, 10))
    assert router.page_kib == 1048576
    (vf,) = router.ports
    assert (vf.vnic, vf.vif, vf.pci, vf.status) == ("direct", "hw_veb", "0000:04:02.7", "ACTIVE")
    (vhost,) = firewall.ports
    assert (vhost.vnic, vhost.vif) == ("normal", "vhostuser")
    assert str(vhost.socket).startswith("/var/lib/vhost_sockets/vhu")
    assert (servers["netperf"].status, servers["netperf"].host) == ("ERROR", None)


def test_what_differs_from_the_plan_is_where_servers_are_and_nothing_else(cloud: Cloud) -> None:
    found = diff_cloud(cloud, example_plan("s2-chains"))
    assert {d.where.partition(" ")[0] for d in found} == {"guest"}
    lost = {d.what: (d.old, d.new) for d in found if d.where == "guest netperf"}
    assert lost["status"] == ("ERROR", "ACTIVE")
    assert lost["host"] == (None, "s2-r730")
    others = {d.what for d in found if d.where != "guest netperf"}
    assert others == {"vCPU:CPU", "port data VF"}


def test_another_plan_for_that_host_leaves_the_servers_their_cpus_and_vfs(cloud: Cloud) -> None:
    example = example_host("s2-chains")
    nics = example_plan("s2-chains").hosts[0].nics
    parent = next(nic.address for nic in nics if nic.use is NicUse.SRIOV)
    made = tuple(
        PciDevice(f"0000:04:02.{number}", "8086", "154c", node=0, physical_function=parent)
        for number in range(8)
    )
    facts = completed(replace(example, guests=(), pci=(*example.pci, *made)), cloud)
    taken = {cpu for guest in facts.guests or () for pin in guest.pins for cpu in pin.cpus}
    assert len(taken) == 21
    text = example_text("s2-chains").replace("keep_running = false", "")
    plan = plan_workload(parse_workload(text, "w"), [facts])
    guests = plan.hosts[0].guests
    assert guests
    assert not taken & {cpu for g in guests for node in g.nodes for _, cpu in node.pins}
    vfs = {port.pci for guest in facts.guests or () for port in guest.ports if port.pci}
    assert len(vfs) == 3
    given = {port.device.value for g in guests for port in g.ports if port.device}
    assert given
    assert given < {vf.address for vf in made} - vfs


def test_the_made_up_cloud_answers_in_the_form_of_the_real_one() -> None:
    """Every key that both give has a value of the same type, and none is made up."""
    plan = example_plan("s2-chains")
    recording = RecordingApi(replies(plan, [example_host("s2-chains")]))
    collect(recording)
    made, real = _forms(recording), _forms_of(RecordedApi.open(FOLDER))
    assert made.keys() == real.keys()
    for path, keys in made.items():
        for key, kinds in keys.items():
            assert key in real[path] or key in OPTIONAL, (path, key)
            assert kinds & real[path].get(key, kinds), (path, key, kinds, real[path].get(key))


# This Neutron had no extension for transparent VLANs; properties of images depend on the plan.
OPTIONAL = {"vlan_transparent", "hw_vif_multiqueue_enabled"}


def _forms(recording: RecordingApi) -> dict[str, dict[str, set[type]]]:
    return _forms_of(RecordedApi(recording.text(), "made"))


def _forms_of(api: RecordedApi) -> dict[str, dict[str, set[type]]]:
    """Types of the values by path (without ids) and key."""
    found: dict[str, dict[str, set[type]]] = {}
    for name, reply in api.replies.items():
        words = name.partition("?")[0].split("/")
        path = "/".join(word for word in words if not any(c.isdigit() or c == "-" for c in word))
        for record in reply if isinstance(reply, list) else [reply]:
            for key, value in _flat(record):
                found.setdefault(path, {}).setdefault(key, set()).add(type(value))
    return found


def _flat(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from record.items()
    for inner in ("flavor", "service"):
        if isinstance(record.get(inner), dict):
            yield from ((f"{inner}.{key}", value) for key, value in record[inner].items())
