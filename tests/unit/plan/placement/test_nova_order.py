# SPDX-License-Identifier: Apache-2.0
"""Check the order of cores and threads against a running Nova."""

from __future__ import annotations

from tests.support.examples import example_plan, recorded
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.placement.nova_order import cores_in_order, threads_in_order
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload


def pins(plan: Plan, guest: str) -> list[int]:
    found = next(g for host in plan.hosts for g in host.guests if g.name == guest)
    return [cpu for node in found.nodes for _, cpu in node.pins]


def test_nova_26_pinned_s1s_guests_so() -> None:
    """Compare with pins of Nova 26.2.2, whose compute had the rendered nova.conf.

    Source: `GET /servers/ID/topology`.
    """
    plan = example_plan("s1-bng")
    assert pins(plan, "bng") == [24, 4, 9, 29, 1, 21, 3, 23, 27, 7, 25, 5, 2, 22, 26, 6]
    assert pins(plan, "ipsec-gw") == [16, 36, 33, 13, 19, 39, 18, 38]


def test_every_core_and_thread_once() -> None:
    cores = [(n, n + 20) for n in range(10)]
    ordered = cores_in_order(cores)
    assert sorted(map(tuple, map(sorted, ordered))) == cores
    assert sorted(threads_in_order(1 << 4 | 1 << 24, 1 << 4 | 1 << 24)) == [4, 24]


def test_the_order_in_which_cores_are_listed_does_not_matter() -> None:
    cores = [(n, n + 20) for n in range(10)]
    assert cores_in_order(reversed(cores)) == cores_in_order(cores)


def test_a_virtio_port_keeps_its_guest_on_the_networks_node() -> None:
    """Check that all guests are on node 0, as Nova refused one on node 1.

    [neutron_physnet_p]numa_nodes applies to every normal port.
    """
    text = (
        'name="w"\n[[network]]\nname="n"\nphysical_network="p"\n'
        '[[nic]]\nnetwork="n"\nuse="dpdk"\nports=["0000:5e:00.0"]\n'
        '[[vnf]]\nname="v"\nvcpus=4\nmemory_mib=2048\npage_size="1GiB"\ncpu_policy="dedicated"\n'
        'data_plane="kernel"\ncount=9\n'
        '[[vnf.port]]\nname="e"\nnetwork="n"\nkind="virtio"\n'
    )
    plan = plan_workload(parse_workload(text, "w.toml"), [recorded("s3-r740xd")])
    placed = {node.node for host in plan.hosts for g in host.guests for node in g.nodes}
    assert placed == {0}
