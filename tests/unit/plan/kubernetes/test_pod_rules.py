# SPDX-License-Identifier: Apache-2.0
"""Refuse pods and pools that no kubelet runs as wanted: one sentence with key and next step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.examples import example_host
from tests.unit.plan.kubernetes.pod_examples import planned, twin, workload_text
from wirespeed.plan.errors import PlanError

GOOD = workload_text("s1-bng-pods")
POOL = '[[pool]]\nname = "nfv"'


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("cpus = 14", "cpus = 13", "vnf[bng].container[dppd].cpus = 13: hosts of pool nfv have 2"),
        ("cpus = 14", "cpus = 13.5", "a polling container needs whole CPUs"),
        ("cpus = 14", "cpus = inf", "vnf[bng].container[dppd].cpus = inf"),
        ("cpus = 14", "cpus = nan", "vnf[bng].container[dppd].cpus = nan"),
        ('name = "nfv"', 'name = "nfv"\nhosts = []', "pool[nfv].hosts = []: must name a host"),
        ("cpus = 14", "cpus = 14\ncpus_limit = 16", "differs from the request of 14"),
        (
            "huge_pages_mib = 4096",
            "huge_pages_mib = 4096\nmemory_limit_mib = 1",
            "vnf[bng].container[dppd].memory_limit_mib = 1: differs from the request",
        ),
        ("vfs = 8", "vfs = 80", "vfs = 80, but 0000:08:00.0 offers 63 VFs"),
        (
            "huge_pages_mib = 4096",
            'huge_pages_mib = 4096\npage_size = "64KiB"',
            "has no huge pages of 64 KiB",
        ),
        (
            "huge_pages_mib = 4096",
            'huge_pages_mib = 4096\npage_size = "4KiB"',
            'container[dppd].page_size = "4KiB": is no huge page',
        ),
        (
            "huge_pages_mib = 4096",
            'page_size = "1GiB"',
            "container[dppd].page_size: does nothing without huge_pages_mib",
        ),
        (
            POOL,
            '[memory]\npage_size = "4KiB"\n' + POOL,
            'memory.page_size = "4KiB": is no huge page',
        ),
        (
            POOL,
            "[memory]\nhost_reserve_mib = 1000000\n" + POOL,
            "NUMA node 0: the node has 32768 MiB, of which the host keeps 500000 MiB",
        ),
        (POOL, f"{POOL}\nkubernetes = 1.34", 'kubernetes = 1.34: write it in quotes, as "1.34"'),
        ("huge_pages_mib = 4096", "huge_pages_mib = 100", "must be a multiple of the page size"),
        (
            'name = "nfv"',
            'name = "nfv"\nkubernetes = "1.99"',
            'pool[nfv].kubernetes = "1.99": the options of its kubelet are not known',
        ),
        (
            'name = "nfv"',
            'name = "nfv"\ncpu_options = ["full-pcpus-only", "distribute-cpus-across-cores"]',
            "the kubelet does not start with both",
        ),
        (
            'name = "nfv"',
            'name = "nfv"\ncpu_options = ["align-by-socket"]',
            "Topolgy manager single-numa-node policy is incompatible",
        ),
        ('use = "sriov"', 'use = "dpdk"', "a Kubernetes node has no vSwitch of the plan"),
        ('name = "cpe"', 'name = "cpe"\nkind = "vhost"', "the userspace CNI is unmaintained"),
        ('kind = "pod"', 'kind = "pod"\ncpu_policy = "dedicated"', 'goes with kind = "vm" only'),
        ('kind = "pod"', 'kind = "pod"\npool = "edge"', "there is no such [[pool]]"),
        ('kind = "pod"', 'kind = "pod"\nvcpus = 4', "follows from the containers"),
        ('kind = "pod"', "vcpus = 4\nmemory_mib = 64", 'goes with kind = "pod" only'),
        ('"registry.example/dppd:1"', '"x\\"; rm -rf /"', "must be a container image"),
        ('name = "nfv"', 'name = "nfv; reboot"', 'name = "nfv; reboot": must be a name'),
        ('name = "dppd"', 'name = "$(reboot)"', 'name = "$(reboot)": must be a name'),
        ('name = "nfv"', 'name = "nfv"\nhosts = ["x"]', "no host matches pool[nfv].hosts = 'x'"),
        ('kind = "pod"', 'kind = "pod"\ncount = 0', "count"),
    ],
)  # fmt: skip
def test_pod_workload_with_an_error_is_refused(old: str, new: str, expected: str) -> None:
    assert old in GOOD
    with pytest.raises(PlanError) as error:
        planned(GOOD.replace(old, new, 1))
    assert expected in str(error.value)


def test_pool_of_unequal_hosts_names_both_and_the_difference() -> None:
    one = example_host("s1-bng")
    nics = tuple(replace(d, node=1) if d.address == "0000:08:00.0" else d for d in one.pci)
    other = replace(twin(one, "s1-other"), pci=nics)
    with pytest.raises(PlanError) as error:
        planned(GOOD, one, other)
    assert "pool[nfv].hosts: s1-dppd and s1-other differ: ports of networks" in str(error.value)
    assert "on node 1" in str(error.value)


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (
            {"vendor": "15b3"},
            "8086 with 63 VFs on node 0 and 0000:08:00.0 of vendor 15b3",
        ),
        ({"sriov_total": 16}, "with 63 VFs on node 0 and 0000:08:00.0 of vendor 8086 with 16 VFs"),
    ],
)
def test_pool_of_hosts_with_other_nics_names_what_differs(
    change: dict[str, Any], difference: str
) -> None:
    """One policy of VFs names vendor and number for all nodes."""
    one = example_host("s1-bng")
    nics = tuple(replace(d, **change) if d.address == "0000:08:00.0" else d for d in one.pci)
    with pytest.raises(PlanError) as error:
        planned(GOOD.replace("vfs = 8\n", ""), one, replace(twin(one, "s1-other"), pci=nics))
    assert difference in str(error.value)


def test_pool_of_hosts_with_other_cpus_names_the_first_that_differs() -> None:
    one = example_host("s1-bng")
    moved = tuple(replace(c, package=0) if c.id == 12 else c for c in one.cpus)
    fewer = tuple(replace(c, online=False) if c.id in (19, 39) else c for c in one.cpus)
    for cpus, difference in (
        (moved, "CPU 12: core of CPUs 12,32 on NUMA node 1, socket 1"),
        (fewer, "CPUs: 40 on 20 cores of 2 sockets and 38 on 19 cores of 2 sockets"),
    ):
        with pytest.raises(PlanError) as error:
            planned(GOOD, one, replace(twin(one, "s1-other"), cpus=cpus))
        assert difference in str(error.value)


def test_host_with_an_offline_sibling_is_refused_for_whole_cores() -> None:
    """The kubelet counts 39 CPUs / 20 cores = 1 thread a core, and full-pcpus-only does nothing."""
    facts = example_host("s1-bng")
    offline = facts.cpus[-1].id
    cpus = tuple(
        replace(c, online=False, node=None, package=None, core=None, siblings=(c.id,))
        if c.id == offline
        else replace(c, siblings=tuple(s for s in c.siblings if s != offline))
        for c in facts.cpus
    )
    with pytest.raises(PlanError) as error:
        planned(GOOD, replace(facts, cpus=cpus))
    assert "the kubelet counts 1 a core and full-pcpus-only does not hold" in str(error.value)


@pytest.mark.parametrize(
    ("keys", "issue"),
    [
        ('topology_policy = "best-effort"', "106270"),
        ('cpu_options = ["full-pcpus-only", "distribute-cpus-across-numa"]', "140730"),
        (
            'topology_policy = "restricted"\n'
            'cpu_options = ["align-by-socket", "distribute-cpus-across-cores"]',
            "141237",
        ),
    ],
)
def test_pool_with_settings_of_a_reported_wrong_placement_warns(keys: str, issue: str) -> None:
    plan = planned(GOOD.replace('name = "nfv"', f'name = "nfv"\n{keys}', 1))
    assert any(issue in warning for warning in plan.warnings)


def test_pod_that_no_node_aligns_is_unplaced_with_a_policy_that_admits_it() -> None:
    """16 + 4 CPUs of one pod exceed the 18 of a NUMA node."""
    plan = planned(GOOD.replace("cpus = 14", "cpus = 18", 1))
    (lost,) = plan.unplaced
    assert [s.resource for s in lost.shortages] == ["TopologyAffinityError"]
    assert lost.change
    assert 'topology_policy = "single-numa-node", topology_scope = "container"' in lost.change
    assert not plan.pods


def test_two_hosts_share_the_replicas() -> None:
    facts = example_host("s1-bng")
    text = GOOD.replace('kind = "pod"', 'kind = "pod"\ncount = 2', 1)
    plan = planned(text, facts, twin(facts, "s1-other"))
    assert [[pod.name for pod in host.pods] for host in plan.hosts] == [["bng-1"], ["bng-2"]]
