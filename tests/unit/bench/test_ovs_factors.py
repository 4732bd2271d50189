# SPDX-License-Identifier: Apache-2.0
"""Check that factors become settings of Open vSwitch, and that ignored ones are reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from tests.unit.plan.test_bench import host
from wirespeed.bench.assembly.kinds import needs_of, wiring_of
from wirespeed.bench.switch.ovs_dpdk import routes
from wirespeed.bench.switch.ovs_dpdk.factors import affinities, lacking, other_config
from wirespeed.bench.switch.ovs_dpdk.ports import add_ports_command, program_ports
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.plan.plan import Decision, VswitchPlan
from wirespeed.model.study.ovs import (
    Ovs,
    PageSize,
    PortMemory,
    RxqAssign,
)
from wirespeed.model.study.spec import (
    Frames,
    Sut,
    Topology,
    Traffic,
    Vswitch,
)
from wirespeed.plan.testbed.bench import plan_bench
from wirespeed.study.kinds.registry import Tables, broken_rules

PLAN = VswitchPlan(
    Decision((0,), ""), Decision((1, 3), ""), Decision((256,), ""), Decision(3, ""),
    Decision(512, ""), Decision(1500, ""),
)  # fmt: skip
PORTS = program_ports(wiring_of(Frames(Topology("pvp"))), PLAN, PurePosixPath("/run/x"))


def test_factors_at_their_defaults_set_nothing() -> None:
    assert other_config(Ovs()) == {}
    assert affinities(Ovs(), PORTS, (1,), 1) == {}


def test_every_factor_has_its_setting() -> None:
    ovs = Ovs(
        emc=False, smc=True, rxq_assign=RxqAssign.GROUP, auto_lb=True, pmd_max_sleep_us=50,
        memory=PortMemory.PER_PORT,
    )  # fmt: skip
    assert other_config(ovs) == {
        "emc-insert-inv-prob": "0",
        "smc-enable": "true",
        "pmd-rxq-assign": "group",
        "pmd-auto-lb": "true",
        "pmd-maxsleep": "50",
        "pmd-sleep-max": "50",
        "per-port-memory": "true",
    }


ROUTED = Frames(sut=Sut(vswitch=Vswitch(ovs=Ovs(routes=True))))


@pytest.mark.parametrize(
    ("version", "match"), [(4, "ip,nw_dst=198.19."), (6, "ipv6,ipv6_dst=2001:")]
)
def test_a_router_s_rules_are_by_address_and_change_what_a_router_changes(
    version: int, match: str
) -> None:
    frames = replace(
        ROUTED, topology=Topology(bidirectional=True), traffic=Traffic(ip_version=version)
    )
    wired = wiring_of(frames)
    told = routes.rules(wired, program_ports(wired, PLAN, PurePosixPath("/run")))
    routed = [line for line in told.splitlines() if line.startswith("priority=100")]
    assert [line.partition(",dl_dst")[0] for line in routed] == [
        "priority=100,in_port=1", "priority=100,in_port=2",
    ]  # fmt: skip
    assert all(match in line and ",actions=dec_ttl,set_field:" in line for line in routed)
    assert routed[0].endswith("->eth_dst,output:2")


@pytest.mark.parametrize(
    "frames",
    [
        replace(ROUTED, topology=Topology("pvp")),
        replace(ROUTED, traffic=Traffic(encapsulation=Encapsulation.VLAN)),
        replace(ROUTED, traffic=Traffic(flow_field=FlowField.DST_MAC)),
    ],
)
def test_frames_that_cannot_be_routed_are_refused(frames: Frames) -> None:
    assert broken_rules(Tables(frames.topology, frames.traffic, frames.sut)) != []
    assert broken_rules(Tables(sut=ROUTED.sut)) == []


def test_pinned_queues_go_to_the_pmd_threads_in_turn() -> None:
    pinned = affinities(Ovs(rxq_assign=RxqAssign.PINNED), PORTS, (1, 3), 3)
    assert list(pinned.values()) == ["0:1,1:3,2:1", "0:3,1:1,2:3", "0:1,1:3,2:1", "0:3,1:1,2:3"]
    words = add_ports_command("br", PORTS, 1500, pinned)
    assert words.count('other_config:pmd-rxq-affinity="0:1,1:3,2:1"') == 2
    assert other_config(Ovs(rxq_assign=RxqAssign.PINNED)) == {}


@pytest.mark.parametrize(
    ("ovs", "version", "says"),
    [
        (Ovs(), "2.5.0", None),
        (Ovs(smc=True), "2.9.1", "smc = True needs Open vSwitch 2.10; here is 2.9"),
        (Ovs(pmd_max_sleep_us=1), "3.0.3", "needs Open vSwitch 3.1; here is 3.0"),
        (Ovs(pmd_max_sleep_us=1, smc=True), "3.1.0", None),
        (Ovs(rxq_assign=RxqAssign.GROUP), "2.15.0", "rxq_assign = group needs Open vSwitch 2.16"),
    ],
)
def test_an_open_vswitch_without_the_factor_is_reported(
    ovs: Ovs, version: str, says: str | None
) -> None:
    told = lacking(ovs, f"ovs-vswitchd (Open vSwitch) {version}", ["afxdp", "dpdk"])
    assert (told is None) if says is None else says in (told or "")


def test_contradictions_are_refused() -> None:
    for vswitch, key in (
        (Vswitch(ovs=Ovs(auto_lb=True, rxq_assign=RxqAssign.PINNED)), "sut.vswitch.ovs.auto_lb"),
        (Vswitch(ovs=Ovs(smc=True), kind="linux-bridge"), "sut.vswitch.ovs"),
    ):
        assert [fault.key for fault in broken_rules(Tables(sut=Sut(vswitch)))] == [key]


def test_the_plan_has_room_for_pools_and_whole_pages_of_the_size_asked_for() -> None:
    def planned(ovs: Ovs) -> tuple[int, list[tuple[int, int]]]:
        frames = Frames(Topology("parallel", 4), sut=Sut(Vswitch(ovs=ovs)))
        [plan] = plan_bench(host(cores=8), frames, needs_of(frames)).hosts
        assert plan.vswitch is not None
        [memory] = plan.vswitch.socket_memory_mib.value
        return memory, [(pages.size_kib, pages.count) for pages in plan.huge_pages.value]

    shared, [(size, _)] = planned(Ovs())
    assert size == 2048
    apart, _ = planned(Ovs(memory=PortMemory.PER_PORT))
    # 10 pools with more than half as many buffers each.
    assert apart - 128 > 5 * (shared - 128)
    whole, sizes = planned(Ovs(pages=PageSize.GIB_1))
    assert whole == 1024
    assert (1024 * 1024, 1) in sizes
