# SPDX-License-Identifier: Apache-2.0
"""Check that a workload is planned as requested, and that impossible requests are reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.examples import LAB, empty, lab_hosts, lab_plan, recorded
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.switch_cost import CycleModel, PassCost
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.plan.errors import PlanError
from wirespeed.plan.plan_file import PLAN_FILE, write_plan
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload

HEAD = """
name = "t"
[[network]]
name = "n"
physical_network = "physnet1"
mtu = 1500
[[nic]]
network = "n"
use = "dpdk"
ports = ["0000:5e:00.0"]
"""
VNF = """
[[vnf]]
name = "v"
vcpus = 4
memory_mib = 4096
page_size = "1GiB"
cpu_policy = "dedicated"
"""
PORT = """
[[vnf.port]]
name = "p"
network = "n"
"""


def plan(text: str, hosts: Sequence[HostFacts] | None = None, **options: object) -> Plan:
    hosts = hosts if hosts is not None else [empty("s3-r740xd", "a")]
    return plan_workload(parse_workload(text, "t.toml"), hosts, **options)  # type: ignore[arg-type]


def placed(made: Plan) -> dict[str, str]:
    return {guest.name: host.host for host in made.hosts for guest in host.guests}


def only(made: Plan) -> HostPlan:
    assert len(made.hosts) == 1
    return made.hosts[0]


def test_the_same_input_gives_the_same_bytes() -> None:
    again = plan_workload(parse_workload(LAB, "lab.toml"), lab_hosts())
    assert write_plan(again) == write_plan(lab_plan())


def test_a_plan_survives_its_file() -> None:
    assert PLAN_FILE.parse(write_plan(lab_plan()), "lab") == lab_plan()


def test_pmd_cores_follow_from_the_frame_rate() -> None:
    """Check PMD cores for several frame rates of 64 B frames.

    5 Mpps in and out need 5e6 x 2 x 154 = 1.54 Gcycles/s; a core of 2.3 GHz at 80% has 1.84.
    """
    for rate, cores in ((5e6, 1), (6e6, 2), (12e6, 3)):
        made = only(plan(f"{HEAD}{VNF}{PORT}rate_fps = {rate}\n"))
        assert made.vswitch
        node0 = [cpu for cpu in made.vswitch.pmd_cpus.value if cpu % 2 == 0]
        assert len(node0) == 2 * cores, "both threads of each core poll"
        assert "Gcycles/s demanded" in made.vswitch.pmd_cpus.because


def test_measured_cycles_replace_the_papers() -> None:
    costs = CycleModel(PassCost(308.0, 0.0), PassCost(400.0, 0.0), "measured here")
    text = f"{HEAD}{VNF}{PORT}rate_fps = 5e6\n"
    made = only(plan(text, cycles=costs))
    assert made.vswitch
    assert len([cpu for cpu in made.vswitch.pmd_cpus.value if cpu % 2 == 0]) == 4


def test_guests_stay_near_the_nic_of_their_network() -> None:
    made = only(plan(f"{HEAD}{VNF}count = 3\n{PORT}"))
    assert {node.node for guest in made.guests for node in guest.nodes} == {0}


def test_more_pmds_where_only_cycles_lack() -> None:
    """Place two guests of 9 Mpps on two hosts, of which one is too small.

    The other host needs the cycles of both guests.
    """
    small = empty("s3-r740xd", "small")
    nodes = tuple(replace(node, memory_kib=5 * 1048576) for node in small.nodes)
    hosts = [replace(small, nodes=nodes), empty("s3-r740xd", "large")]
    text = f"{HEAD}{VNF}count = 2\n{PORT}rate_fps = 9e6\n"
    made = plan(text, hosts)
    assert placed(made) == {"v-1": "large", "v-2": "large"}
    large = next(host for host in made.hosts if host.host == "large")
    assert large.vswitch
    assert "so that more guests fit" in large.vswitch.pmd_cpus.because


def test_hosts_are_filled_together_not_one_guest_at_a_time() -> None:
    """Request small guests that, if placed first, would take the only node for the large ones."""
    text = (
        "name = 't'\n[memory]\nhuge_pages = 'maximum'\n"
        + VNF.replace('"v"', '"small"').replace("vcpus = 4", "count = 8\nvcpus = 4")
        + VNF.replace('"v"', '"large"').replace("vcpus = 4", "count = 2\nvcpus = 34")
    )
    made = plan(text, [empty("s3-r740xd", "a"), empty("s3-r740xd", "b")])
    assert not made.unplaced


def test_affinity_and_anti_affinity() -> None:
    text = (
        "name = 't'\n"
        + VNF.replace('"v"', '"a"').replace("vcpus", "count = 2\nvcpus")
        + VNF.replace('"v"', '"b"')
        + VNF.replace('"v"', '"c"')
        + "[[group]]\nname = 'apart'\npolicy = 'anti-affinity'\nmembers = ['a']\n"
        + "[[group]]\nname = 'together'\npolicy = 'affinity'\nmembers = ['b', 'c']\n"
    )
    where = placed(plan(text, [empty("s3-r740xd", "x"), empty("s3-r740xd", "y")]))
    assert where["a-1"] != where["a-2"]
    assert where["b"] == where["c"]


def test_anti_affinity_that_cannot_be_met_is_explained() -> None:
    text = (
        "name = 't'\n" + VNF.replace("vcpus", "count = 2\nvcpus", 1)
        + "[[group]]\nname = 'apart'\npolicy = 'anti-affinity'\nmembers = ['v']\n"
    )  # fmt: skip
    made = plan(text)
    assert [lost.guest for lost in made.unplaced] == ["v-2"]
    assert made.unplaced[0].shortages[0].resource == "anti-affinity group"


def test_unplaced_guests_name_host_node_and_shortage() -> None:
    made = plan("name = 't'\n" + VNF.replace("vcpus = 4", "vcpus = 40"), lab_hosts()[:2])
    lost = made.unplaced[0]
    lacks = {(s.hosts, s.node, s.resource, s.needed, s.available) for s in lost.shortages}
    assert (("compute-1", "compute-2"), 0, "free dedicated CPUs", "40", "34") in lacks
    assert lost.change == "vcpus = 34 instead of 40"


def test_running_guests_keep_their_cpus_pages_and_vfs() -> None:
    facts = recorded("s1-dppd")
    text = (
        """
name = "t"
[[network]]
name = "n"
physical_network = "p"
[[nic]]
network = "n"
use = "sriov"
ports = ["0000:08:00.0"]
vfs = 2
"""
        + VNF
        + PORT
    )
    kept = plan(text, [facts])
    assert [lost.guest for lost in kept.unplaced] == ["v"], "the running guest holds both VFs"
    gone = plan(
        text.replace('name = "t"', 'name = "t"\n[placement]\nkeep_running = false'), [facts]
    )
    assert not gone.unplaced


def test_a_running_guest_on_pmd_cpus_is_warned_about() -> None:
    """Plan two PMD cores on CPUs 4 and 40, while S3's guest runs on 4, 6, 40 and 42."""
    text = HEAD + "[cores]\npmd_cores = { 0 = 2 }\n" + VNF
    warnings = plan(text, [recorded("s3-r740xd")]).warnings
    assert any("guest spirent is pinned to CPUs 4,40, which the plan uses" in w for w in warnings)


def test_isolate_goes_to_hosts_without_smt() -> None:
    smt = empty("s3-r740xd", "smt")
    cpus = tuple(replace(cpu, siblings=(cpu.id,), online=cpu.id < 36) for cpu in smt.cpus)
    nodes = tuple(
        replace(node, cpus=tuple(cpu for cpu in node.cpus if cpu < 36)) for node in smt.nodes
    )
    plain = replace(smt, host="plain", cpus=cpus, nodes=nodes)
    for policy in ("isolate", "avoid"):
        made = plan(f"name = 't'\n{VNF}thread_policy = '{policy}'\n", [smt, plain])
        assert placed(made) == {"v": "plain"}


def test_separate_takes_distinct_cores() -> None:
    made = only(plan(f"name = 't'\n{VNF}thread_policy = 'separate'\n"))
    cpus = made.guests[0].cpus.value
    assert len({cpu % 36 for cpu in cpus}) == 4
    assert any('"separate" never shipped' in text for text in plan(
        f"name = 't'\n{VNF}thread_policy = 'separate'\n").warnings)  # fmt: skip


def test_east_west_ports_cost_pmds_and_prefer_vhost() -> None:
    text = (
        HEAD
        + VNF.replace('"v"', '"a"')
        + PORT
        + "pattern = 'east-west'\nchain = 'c'\nrate_fps = 2e6\n"
        + "[[chain]]\nname = 'c'\norder = ['a']\n"
    )
    made = plan(text)
    assert only(made).guests[0].ports[0].kind.value is InterfaceKind.VHOST
    assert "vhost-user only crosses memory" in only(made).guests[0].ports[0].kind.because


@pytest.mark.parametrize(
    ("text", "hosts", "expected"),
    [
        (VNF, [], "there is no host to plan for"),
        (VNF, ["a", "a"], "host a is given more than once"),
        (
            "[[aggregate]]\nname='x'\nhosts=['b*']\n" + VNF,
            ["a"],
            r"no host matches aggregate\[x\].hosts = 'b\*'",
        ),
        (HEAD.removeprefix("\nname = \"t\"\n").replace("5e:00.0", "ff:00.0") + VNF, ["a"],
         "names '0000:ff:00.0', which host a does not have"),
        (HEAD.removeprefix("\nname = \"t\"\n").replace("0000:5e:00.0", "eno3") + VNF, ["a"],
         "carries the default route"),
        ("[cores]\npmd_cores = {5=1}\n" + VNF, ["a"], "names NUMA node 5, which host a does not"),
        ("[vswitch]\nsocket_memory_mib=[1024]\n" + HEAD.removeprefix("\nname = \"t\"\n") + VNF,
         ["a"], "has 1 entries, host a has 2 NUMA nodes"),
        ("[memory]\ncount = 1\n" + HEAD.removeprefix("\nname = \"t\"\n") + VNF, ["a"],
         "DPDK needs 2 huge pages of 1048576 KiB, the node gets 1"),
    ],
)  # fmt: skip
def test_input_that_allows_no_plan(text: str, hosts: list[str], expected: str) -> None:
    facts = [empty("s3-r740xd", name) for name in hosts]
    with pytest.raises(PlanError, match=expected):
        plan("name = 't'\n" + text, facts)


def test_a_plan_file_of_another_version_or_with_faults() -> None:
    with pytest.raises(BadInput, match=r'schema_version "9\.0"; this wirespeed reads 1\.x'):
        PLAN_FILE.parse('{"schema_version": "9.0"}', "p.json")
    with pytest.raises(BadInput, match="is not JSON"):
        PLAN_FILE.parse("{", "p.json")
    with pytest.raises(BadInput) as caught:
        PLAN_FILE.parse('{"schema_version": "1.0", "hosts": [{"host": 5}], "colour": 1}', "p.json")
    text = str(caught.value)
    assert "hosts.0.host = 5: must be a host name" in text
    assert "colour = 1: unknown key" in text
    assert "hosts.0.huge_pages: is missing" in text
