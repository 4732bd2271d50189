# SPDX-License-Identifier: Apache-2.0
"""Check that only page sizes that a host supports are planned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.examples import empty
from wirespeed.model.host.facts import HostFacts, HugePagePool
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.errors import PlanError
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload

VNF = """
name = "t"
[[vnf]]
name = "v"
vcpus = 4
memory_mib = 4096
page_size = "{size}"
cpu_policy = "dedicated"
"""


def host(sizes_kib: tuple[int, ...], flags: tuple[str, ...]) -> HostFacts:
    """Return a host whose kernel lists these sizes of huge pages, none reserved."""
    facts = empty("s3-r740xd", "a")
    pools = tuple(HugePagePool(size, 0, 0) for size in sizes_kib)
    nodes = tuple(replace(node, huge_pages=pools) for node in facts.nodes)
    return replace(facts, nodes=nodes, cpu_flags=flags)


def plan(facts: HostFacts, text: str) -> Plan:
    return plan_workload(parse_workload(text, "t.toml"), [facts])


def test_a_size_that_the_kernel_does_not_list_is_no_fit() -> None:
    made = plan(host((2048, 1048576), ()), VNF.format(size="16MiB"))
    (lost,) = made.unplaced
    assert {(lack.resource, lack.needed) for lack in lost.shortages} == {("page size", "16 MiB")}
    assert not made.hosts[0].huge_pages.value


@pytest.mark.parametrize(
    ("flags", "placed"),
    [(("lm", "pdpe1gb"), True), (("lm",), False), ((), True)],
    ids=["CPU has them", "CPU has none", "unknown"],
)
def test_without_a_list_the_cpu_decides(flags: tuple[str, ...], *, placed: bool) -> None:
    made = plan(host((), flags), VNF.format(size="1GiB"))
    assert bool(made.hosts[0].guests) is placed


def test_dpdk_on_pages_that_the_host_does_not_have_is_refused() -> None:
    switched = """
[[network]]
name = "n"
physical_network = "physnet1"
[[nic]]
network = "n"
use = "dpdk"
ports = ["0000:5e:00.0"]
[[vnf.port]]
name = "p"
network = "n"
"""
    small = VNF.format(size="2MiB")
    with pytest.raises(PlanError, match="1048576 KiB, but host a has no pages"):
        plan(host((2048,), ()), small + switched)
    plan(host((2048,), ()), small + switched + '[memory]\npage_size = "2MiB"\n')
