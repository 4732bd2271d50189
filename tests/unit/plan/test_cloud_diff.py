# SPDX-License-Identifier: Apache-2.0
"""Check that a cloud built by a plan has no differences, and that each difference is reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import yaml

from tests.support.carried_out import Replies, replies
from tests.support.examples import (
    EXAMPLES,
    example_host,
    example_plan,
    lab_hosts,
    lab_plan,
    plans,
)
from wirespeed.cloud.collect import collect
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.cloud.diff import diff_cloud
from wirespeed.plan.diff import Difference, Effort
from wirespeed.plan.render.targets import render


def test_a_plan_that_was_carried_out_differs_in_nothing() -> None:
    assert diff_cloud(collect(replies(lab_plan(), lab_hosts())), lab_plan()) == ()


@pytest.mark.parametrize("example", EXAMPLES)
def test_so_does_every_example(example: str) -> None:
    plan = example_plan(example)
    assert diff_cloud(collect(replies(plan, [example_host(example)])), plan) == ()


def made_by_stack(plan: Plan, hosts: Sequence[HostFacts]) -> Replies:
    """Return the cloud with the flavors and aggregates of the rendered Heat template."""
    given = replies(plan, hosts)
    resources = yaml.safe_load(render(plan)["openstack/stack.yaml"])["resources"]

    def properties(of: str) -> list[dict[str, Any]]:
        return [each["properties"] for each in resources.values() if each["type"] == of]

    given.replies["compute /flavors/detail"] = [
        {"extra_specs": {}} | each for each in properties("OS::Nova::Flavor")
    ]
    given.replies["compute /os-aggregates"] = [
        {"metadata": {}} | each for each in properties("OS::Nova::HostAggregate")
    ]
    for server in given.replies["compute /servers/detail"]:
        flavor = resources[f"server-{server['name']}"]["properties"]["flavor"]["get_resource"]
        server["flavor"]["original_name"] = resources[flavor]["properties"]["name"]
    return given


@pytest.mark.parametrize("name", ["lab", *EXAMPLES])
def test_nor_does_a_plan_that_heat_carried_out(name: str) -> None:
    plan = plans()[name]
    hosts = lab_hosts() if name == "lab" else [example_host(name)]
    assert diff_cloud(collect(made_by_stack(plan, hosts)), plan) == ()


def test_tie_of_a_stacks_guests_to_their_host_is_compared() -> None:
    given = made_by_stack(lab_plan(), lab_hosts())
    flavors = given.replies["compute /flavors/detail"]
    tied = next(f for f in flavors if f["name"] == "gateway@compute-1")
    key = "aggregate_instance_extra_specs:wirespeed_host"
    assert tied["extra_specs"].pop(key) == "compute-1"
    groups = given.replies["compute /os-aggregates"]
    groups.remove(next(group for group in groups if "@compute-2" in group["name"]))
    found = diff_cloud(collect(given), lab_plan())
    assert [(d.where, d.what, d.old, d.new) for d in found] == [
        ("flavor gateway@compute-1", key, None, "compute-1"),
        ("aggregate lab@compute-2", "aggregate", None, "defined"),
    ]


def test_flavor_of_the_plans_name_does_not_hide_those_of_the_stack() -> None:
    given = made_by_stack(lab_plan(), lab_hosts())
    flavors = given.replies["compute /flavors/detail"]
    flavors.append({"name": "gateway", "vcpus": 1, "ram": 1, "disk": 1, "extra_specs": {}})
    assert diff_cloud(collect(given), lab_plan()) == ()
    flavors.remove(next(f for f in flavors if f["name"] == "gateway@compute-1"))
    (found,) = diff_cloud(collect(given), lab_plan())
    assert (found.where, found.new) == ("flavor gateway@compute-1", "defined")


def test_guests_of_one_flavor_may_be_made_in_both_ways() -> None:
    given = made_by_stack(lab_plan(), lab_hosts())
    flavors = given.replies["compute /flavors/detail"]
    flavors.remove(next(f for f in flavors if f["name"] == "gateway@compute-1"))
    plain = replies(lab_plan(), lab_hosts()).replies["compute /flavors/detail"]
    flavors.append(next(f for f in plain if f["name"] == "gateway"))
    for server in given.replies["compute /servers/detail"]:
        if server["flavor"]["original_name"] == "gateway@compute-1":
            server["flavor"]["original_name"] = "gateway"
    assert diff_cloud(collect(given), lab_plan()) == ()


def test_server_with_the_flavor_of_another_host_differs() -> None:
    given = made_by_stack(lab_plan(), lab_hosts())
    server = given.replies["compute /servers/detail"][0]
    wanted = server["flavor"]["original_name"]
    server["flavor"]["original_name"] = f"{wanted.partition('@')[0]}@elsewhere"
    (found,) = diff_cloud(collect(given), lab_plan())
    assert (found.what, found.old, found.new) == (
        "flavor", server["flavor"]["original_name"], wanted,
    )  # fmt: skip


Change = Callable[[dict[str, Any]], Any]


def _of(collection: str, name: str, **values: Any) -> Change:
    """Return a change that sets keys of the resource with that name."""
    return lambda found: next(r for r in found[collection] if r["name"] == name).update(values)


def _without(collection: str, name: str) -> Change:
    def change(found: dict[str, Any]) -> None:
        found[collection] = [r for r in found[collection] if r["name"] != name]

    return change


def _spec(key: str, value: str) -> Change:
    def change(found: dict[str, Any]) -> None:
        flavor = next(f for f in found["compute /flavors/detail"] if f["name"] == "gateway")
        flavor["extra_specs"][key] = value

    return change


def _disabled(found: dict[str, Any]) -> None:
    host = found["compute /os-hypervisors/detail"][0]
    host["status"] = "disabled"
    host["service"]["disabled_reason"] = "new DIMMs"


def _inventory(name: str, **values: int) -> Change:
    path = "placement /resource_providers/rp-compute-1/inventories"
    return lambda found: found[path]["inventories"][name].update(values)


def _topology(key: str, value: Any) -> Change:
    return lambda found: found["compute /servers/id-ids/topology"]["nodes"][0].update({key: value})


def _agent(number: int, **values: Any) -> Change:
    def change(found: dict[str, Any]) -> None:
        agent = found["network /agents"][number]
        agent["configurations"].update(values.pop("configurations", {}))
        agent.update(values)

    return change


SERVERS, PORTS = "compute /servers/detail", "network /ports"
FLAVORS, NETWORKS = "compute /flavors/detail", "network /networks"


@pytest.mark.parametrize(
    ("change", "where", "what", "old", "new"),
    [
        (_disabled, "host compute-1", "compute service", "disabled: new DIMMs", "up"),
        (_inventory("PCPU", total=20), "host compute-1", "cpu_dedicated_set", "20 PCPU", ...),
        (
            _inventory("MEMORY_MB", reserved=512),
            "host compute-1", "reserved_host_memory_mb", "512", ...,
        ),
        (_agent(0, alive=False), "host compute-1", "Open vSwitch agent", "dead", "alive"),
        (
            _agent(0, configurations={"datapath_type": "system"}),
            "host compute-1", "datapath_type", "system", "netdev",
        ),
        (
            _agent(1, configurations={"device_mappings": {"physnet2": ["eth9"]}}),
            "host compute-1", "NIC Switch agent: mapping of physnet2", "eth9", "ens4f0",
        ),
        (_without(FLAVORS, "gateway"), "flavor gateway", "flavor", None, "defined"),
        (_of(FLAVORS, "gateway", ram=4096), "flavor gateway", "memory (MiB)", "4096", "8192"),
        (_spec("hw:numa_nodes", "1"), "flavor gateway", "hw:numa_nodes", "1", "2"),
        (_spec("hw:watchdog_action", "none"), "flavor gateway", "hw:watchdog_action", "none", None),
        (_without("image /images", "guest"), "image guest", "image", None, "there"),
        (
            lambda found: found["compute /os-aggregates"][0]["metadata"].update(nfv="false"),
            "aggregate nfv", "nfv", "false", "true",
        ),
        (
            lambda found: found["compute /os-aggregates"][0]["hosts"].remove("compute-2"),
            "aggregate nfv", "host compute-2", None, "member",
        ),
        (
            lambda found: found["compute /os-aggregates"][0]["hosts"].append("edge-1"),
            "aggregate nfv", "host edge-1", "member", None,
        ),
        (
            _of(NETWORKS, "access", **{"provider:segmentation_id": 101}),
            "network access", "segment", "101", "100",
        ),
        (_of(NETWORKS, "access", mtu=1500), "network access", "MTU", "1500", "9000"),
        (
            _of("compute /os-server-groups", "gateways apart", policy="affinity"),
            "server group gateways apart", "policy", "affinity", "anti-affinity",
        ),
        (_without(SERVERS, "ids"), "guest ids", "host", None, ...),
        (_of(SERVERS, "ids", status="ERROR"), "guest ids", "status", "ERROR", "ACTIVE"),
        (
            _of(SERVERS, "ids", **{"OS-EXT-SRV-ATTR:host": "edge-1"}),
            "guest ids", "host", "edge-1", ...,
        ),
        (
            _topology("cpu_pinning", {"0": 70, "1": 71, "2": 34, "3": 35}),
            "guest ids", "vCPU:CPU", "0:70 1:71 2:34 3:35", ...,
        ),
        (_topology("host_node", 7), "guest ids", "memory by NUMA node", "4096 MiB on 7", ...),
        (
            lambda found: found["compute /servers/id-ids/topology"].update(pagesize_kb=1048576),
            "guest ids", "pages", "1048576 KiB", "2048 KiB",
        ),
        (
            _of(PORTS, "ids-in", **{"binding:vif_type": "binding_failed"}),
            "guest ids", "port in vif type", "binding_failed", "vhostuser",
        ),
        (
            _of(PORTS, "ids-in", network_id="id-core"),
            "guest ids", "port in network", "core", "service",
        ),
        (_without(PORTS, "ids-in"), "guest ids", "port in", None, ...),
        (
            _of(PORTS, "gateway-1-core", **{"binding:vif_details": {"vlan": 7}}),
            "guest gateway-1", "port core VLAN", "7", None,
        ),
    ],
)  # fmt: skip
def test_each_difference_is_reported(
    change: Change, where: str, what: str, old: str | None, new: Any
) -> None:
    given = replies(lab_plan(), lab_hosts())
    change(given.replies)
    found = diff_cloud(collect(given), lab_plan())
    mine = [d for d in found if (d.where, d.what) == (where, what)]
    assert len(mine) == 1, found
    assert mine[0].old == old
    assert mine[0].new == new or new is ...
    assert len(found) == 1, "nothing else differs"


def test_objects_that_the_plan_does_not_name_are_no_difference() -> None:
    given = replies(lab_plan(), lab_hosts())
    more = {"name": "other", "vcpus": 1, "ram": 1, "disk": 1, "extra_specs": {}}
    given.replies["compute /flavors/detail"].append(more)
    given.replies["compute /os-aggregates"][0]["hosts"].append("far-away")
    given.replies["compute /os-aggregates"][0]["metadata"]["availability_zone"] = "az1"
    assert diff_cloud(collect(given), lab_plan()) == ()


def test_two_servers_of_one_name_cannot_be_distinguished() -> None:
    given = replies(lab_plan(), lab_hosts())
    servers = given.replies["compute /servers/detail"]
    servers.append(dict(next(s for s in servers if s["name"] == "ids")))
    (found,) = diff_cloud(collect(given), lab_plan())
    host = next(h.host for h in lab_plan().hosts if any(g.name == "ids" for g in h.guests))
    assert found == Difference("guest ids", "host", "2 servers of that name", host, Effort.REBUILD)
