# SPDX-License-Identifier: Apache-2.0
"""Test the cloud in the recording of a real control plane.

s2-chains/ is a recording of Debian 12's Keystone, Placement, Glance, Neutron and Nova (26.2.2). The
host of the example was simulated, and its create.sh had run. Eight servers run where they were
planned; Nova took other VFs of the same port than planned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.carried_out import replies
from tests.support.examples import example_host, example_plan, example_text
from wirespeed.cloud.collect import collect
from wirespeed.cloud.host_facts import completed
from wirespeed.cloud.recording import RecordedApi, RecordingApi
from wirespeed.model.cloud import Cloud, CpuCounts, Inventory
from wirespeed.model.plan.host_rules import PlacementRules
from wirespeed.plan.cloud.diff import diff_cloud
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload

FOLDER = Path(__file__).parent / "s2-chains"


@pytest.fixture(scope="module")
def cloud() -> Cloud:
    return collect(RecordedApi.open(FOLDER))


def test_the_host(cloud: Cloud) -> None:
    (host,) = cloud.hosts
    assert (host.name, host.up, host.enabled) == ("s2-r730", True, True)
    assert host.cpu_counts == CpuCounts(2, 1, 22, 2)
    assert host.inventory["PCPU"] == Inventory(total=78, reserved=0, claimed=24)
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
    assert len(servers) == 8


def test_a_recorded_cloud_differs_from_its_plan_by_equal_vfs(cloud: Cloud) -> None:
    found = diff_cloud(cloud, example_plan("s2-chains"))
    assert {(d.where, d.what, d.old) for d in found} == {
        ("guest router-1", "port data VF", "0000:04:02.7"),
        ("guest router-2", "port data VF", "0000:04:02.6"),
        ("guest router-3", "port data VF", "0000:04:02.5"),
    }


def test_another_plan_for_that_host_leaves_the_servers_their_cpus_and_vfs(cloud: Cloud) -> None:
    facts = completed(replace(example_host("s2-chains"), guests=()), cloud)
    taken = {cpu for guest in facts.guests or () for pin in guest.pins for cpu in pin.cpus}
    assert len(taken) == 24
    asked = parse_workload(example_text("s2-chains"), "w")
    routers = tuple(vnf for vnf in asked.vnfs if vnf.name == "router")
    plan = plan_workload(replace(asked, vnfs=routers, placement=PlacementRules()), [facts])
    guests = plan.hosts[0].guests
    assert guests
    assert not taken & {cpu for g in guests for node in g.nodes for _, cpu in node.pins}
    vfs = {port.pci for guest in facts.guests or () for port in guest.ports if port.pci}
    assert len(vfs) == 3
    given = {port.device.value for g in guests for port in g.ports if port.device}
    assert len(given) == 3
    assert not given & vfs


def test_the_made_up_cloud_answers_in_the_form_of_the_real_one() -> None:
    # Every key of both has a value of the same type, and no simulated key is invented.
    plan = example_plan("s2-chains")
    recording = RecordingApi(replies(plan, [example_host("s2-chains")]))
    collect(recording)
    made, real = _forms(recording), _forms_of(RecordedApi.open(FOLDER))
    assert made.keys() == real.keys()
    for path, keys in made.items():
        for key, kinds in keys.items():
            assert key in real[path] or key in OPTIONAL, (path, key)
            assert kinds & real[path].get(key, kinds), (path, key, kinds, real[path].get(key))


# This Neutron had no extension for transparent VLANs; image properties depend on the plan.
OPTIONAL = {"vlan_transparent", "hw_vif_multiqueue_enabled"}


def _forms(recording: RecordingApi) -> dict[str, dict[str, set[type]]]:
    return _forms_of(RecordedApi(recording.text(), "made"))


def _forms_of(api: RecordedApi) -> dict[str, dict[str, set[type]]]:
    """Return the types of the values by path (without ids) and key."""
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
