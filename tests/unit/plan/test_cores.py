# SPDX-License-Identifier: Apache-2.0
"""Check that hosts are partitioned as in the papers, and that no CPU has two owners."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.plan.host_rules import CoreRules, HousekeepingPolicy, PmdSiblingPolicy
from wirespeed.model.plan.plan import Decision, NodeCores
from wirespeed.plan.errors import PlanError
from wirespeed.plan.host.cores import CoreSplit, split_cores

# S3: even CPUs on node 0, odd on node 1, siblings 36 apart. S0: 0-9 and 10-19, siblings 20 apart.
R740XD = tuple(
    NodeCores(node, tuple((cpu, cpu + 36) for cpu in range(node, 36, 2))) for node in (0, 1)
)
E5_2680 = tuple(
    NodeCores(node, tuple((cpu, cpu + 20) for cpu in range(node * 10, node * 10 + 10)))
    for node in (0, 1)
)
S0_RULES = CoreRules(
    housekeeping=HousekeepingPolicy.FIRST_NODE,
    vswitchd_own_core=True,
    pmd_siblings=PmdSiblingPolicy.IDLE,
    idle_cpus=(10, 30),
)
S3_RULES = CoreRules(pmd_core_order=(2, 12, 22, 32, 21))


def wanted(**cores: int) -> dict[int, Decision[int]]:
    return {int(node[4:]): Decision(count, "test") for node, count in cores.items()}


def test_s3() -> None:
    split = split_cores(
        "s3", R740XD, S3_RULES, {0}, wanted(node0=4, node1=1), control="ovs-vswitchd"
    )
    assert format_mask(split.vswitchd.value) == "0x3000000003"
    assert split.vswitchd.value == (0, 1, 36, 37)
    assert format_mask(split.pmds.value) == "0x100601004100601004"
    assert split.pmds.value == (2, 12, 21, 22, 32, 38, 48, 57, 58, 68)
    assert format_list(split.plan.isolated.value) == "2-35,38-71"
    assert split.plan.shared.value == (0, 1, 36, 37)
    assert len(split.plan.dedicated.value) == 72 - 4 - 10


def test_s0() -> None:
    split = split_cores("s0", E5_2680, S0_RULES, {0}, wanted(node0=2), control="ovs-vswitchd")
    assert split.plan.housekeeping.value == (0, 20)
    assert format_mask(split.vswitchd.value) == "0x2"
    assert format_mask(split.pmds.value) == "0xc"
    assert format_list(split.plan.dedicated.value) == "4-9,11-19,24-29,31-39"
    assert format_list(split.plan.isolated.value) == "1-19,21-39"


@pytest.mark.parametrize(
    ("policy", "cores", "mask"),
    [
        (PmdSiblingPolicy.IDLE, 2, "0xc"),
        (PmdSiblingPolicy.IDLE, 1, "0x4"),
        (PmdSiblingPolicy.PAIR, 1, "0x400004"),
    ],
)
def test_s0s_three_pmd_masks(policy: PmdSiblingPolicy, cores: int, mask: str) -> None:
    rules = CoreRules(
        housekeeping=HousekeepingPolicy.FIRST_NODE, vswitchd_own_core=True, pmd_siblings=policy
    )
    split = split_cores("s0", E5_2680, rules, {0}, wanted(node0=cores), control="ovs-vswitchd")
    assert format_mask(split.pmds.value) == mask


def test_without_an_order_the_next_cores_poll() -> None:
    split = split_cores(
        "s3", R740XD, CoreRules(), {0}, wanted(node0=2, node1=1), control="ovs-vswitchd"
    )
    assert split.pmds.value == (2, 3, 4, 38, 39, 40)


def test_too_few_cores_says_where_and_how_many() -> None:
    with pytest.raises(PlanError, match=r"host h, NUMA node 0: 20 .* PMD threads, 17 of 18"):
        split_cores("h", R740XD, CoreRules(), {0}, wanted(node0=20), control="ovs-vswitchd")


def test_a_mask_wider_than_the_host_is_refused() -> None:
    with pytest.raises(PlanError, match=r"cores\.pmd_core_order names CPU 99; host h has only"):
        split_cores(
            "h",
            R740XD,
            CoreRules(pmd_core_order=(2, 99)),
            {0},
            wanted(node0=1),
            control="ovs-vswitchd",
        )


def owners(split: CoreSplit, own_vswitchd_core: bool) -> list[tuple[int, ...]]:
    shared_only = set(split.plan.shared.value) - set(split.plan.housekeeping.value)
    return [
        split.plan.housekeeping.value,
        tuple(shared_only),
        split.vswitchd.value if own_vswitchd_core else (),
        split.pmds.value,
        split.plan.dedicated.value,
        split.plan.idle.value,
    ]


@given(
    cores=st.integers(5, 12),
    nodes=st.integers(1, 4),
    threads=st.integers(1, 2),
    pmds=st.integers(0, 2),
    housekeeping=st.sampled_from(HousekeepingPolicy),
    siblings=st.sampled_from(PmdSiblingPolicy),
    own=st.booleans(),
    shared=st.integers(0, 1),
)
def test_every_cpu_has_exactly_one_owner(  # noqa: PLR0917
    cores: int, nodes: int, threads: int, pmds: int, housekeeping: HousekeepingPolicy,
    siblings: PmdSiblingPolicy, own: bool, shared: int,
) -> None:  # fmt: skip
    layout = tuple(
        NodeCores(
            node,
            tuple(
                tuple(index * nodes + node + t * cores * nodes for t in range(threads))
                for index in range(cores)
            ),
        )
        for node in range(nodes)
    )
    rules = CoreRules(
        housekeeping=housekeeping, pmd_siblings=siblings, vswitchd_own_core=own, shared_cores=shared
    )
    counts = {node: Decision(pmds, "test") for node in range(nodes)}
    split = split_cores("h", layout, rules, {0}, counts, control="ovs-vswitchd")
    owned = sorted(cpu for cpus in owners(split, own) for cpu in cpus)
    assert owned == list(range(cores * nodes * threads))
    for node in layout:
        for core in node.cores:
            inside = set(core) & set(split.plan.isolated.value)
            assert inside in (set(), set(core)), "a core is split between host and isolated CPUs"
