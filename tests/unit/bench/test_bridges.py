# SPDX-License-Identifier: Apache-2.0
"""Check that the rules of two bridges carry frames as those of one do, with the right tags.

A switch that knows only the rules passes each flow's frames from bridge to bridge.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.bench.test_topology import SWITCHED, spec_of
from wirespeed.bench.assembly.kinds import wiring_of
from wirespeed.bench.switch.ovs_dpdk.bridges import Bridge, add_bridges_command, bridges, rules
from wirespeed.bench.switch.ovs_dpdk.flows import dropped_by_port
from wirespeed.bench.switch.ovs_dpdk.ports import program_ports
from wirespeed.model.frame import Encapsulation
from wirespeed.model.plan.plan import Decision, VswitchPlan
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.ovs import Ovs, VlanTranslation
from wirespeed.model.study.spec import (
    Frames,
    Sut,
    Traffic,
    VnfMode,
    Vswitch,
)
from wirespeed.study.kinds.registry import Tables, broken_rules

PLAN = VswitchPlan(*(Decision((1,), ""),) * 3, *(Decision(1, ""),) * 3)
RULE = re.compile(
    r"priority=100,in_port=(\d+),dl_dst=([^,]+),(?P<tag>(?:vlan_tci|dl_vlan)=[^,]+,)?"
    r"actions=(.*?)output:(\d+)$",
    re.M,
)


def fitting(tag: int | None) -> tuple[str, ...]:
    """Return the matches that a frame with this tag meets."""
    if tag is None:
        return ("vlan_tci=0x0000/0x1fff,",)
    return ("vlan_tci=0x1000/0x1000,", f"dl_vlan={tag},")


def walk(
    made: tuple[Bridge, ...], texts: tuple[str, ...], start: tuple[int, int], dst: str,
    tag: int | None,
) -> tuple[int, int | None, int]:  # fmt: skip
    """Return where a frame leaves, its tag, and how often it passed the patch ports.

    The frame enters a bridge by a port.
    """
    at, port = start
    crossed = 0
    while True:
        found = [m for m in RULE.finditer(texts[at]) if (int(m[1]), m[2]) == (port, dst)]
        assert len(found) == 1, f"rules for {dst} from port {port}: {found}"
        [rule] = found
        assert rule["tag"] in (None, *fitting(tag)), f"{rule[0]} does not take tag {tag}"
        for action in filter(None, rule[4].split(",")):
            if action.startswith("push_vlan"):
                tag = 0
            elif action == "pop_vlan":
                assert tag is not None
                tag = None
            elif action.startswith("set_field"):
                tag = int(action.split(":")[1].split("-")[0]) & 0xFFF
        out = int(rule[5])
        if out != made[at].patch:
            assert out in {p.number for p in made[at].ports}
            return out, tag, crossed
        at, port, crossed = 1 - at, out, crossed + 1
        assert crossed == 1, "back and forth"


@given(
    spec=st.builds(
        spec_of,
        kind=st.sampled_from([kind for kind in SWITCHED if kind != "sriov"]),
        vnfs=st.integers(1, 4),
        bidirectional=st.booleans(),
        mode=st.sampled_from(VnfMode),
    ),
    vlan=st.sampled_from(VlanTranslation),
)
def test_two_bridges_forward_like_one(spec: Frames, vlan: VlanTranslation) -> None:
    wired = wiring_of(spec)
    ports = program_ports(wired, PLAN, PurePosixPath("/run"))
    number = {port.name: port.number for port in ports}
    made, ovs = bridges("br", ports, 2), Ovs(bridges=2, vlan=vlan)
    assert sorted(p.number for bridge in made for p in bridge.ports) == sorted(number.values())
    texts = rules(wired.flows, made, ovs, 100)
    inside = {VlanTranslation.NONE: 100, VlanTranslation.STRIP: None,
              VlanTranslation.REWRITE: 1000}[vlan]  # fmt: skip
    own = [{p.name for p in bridge.ports} for bridge in made]
    for flow in wired.flows:
        start, end = (0 if name in own[0] else 1 for name in (flow.in_port, flow.out_port))
        tag = 100 if start == 0 else inside
        out, left, crossed = walk(made, texts, (start, number[flow.in_port]), flow.dst_mac, tag)
        assert out == number[flow.out_port]
        assert crossed == (start != end)
        assert left == (100 if end == 0 else inside)


def test_physical_ports_are_on_the_first_bridge_and_functions_on_the_second() -> None:
    made = bridges("br", program_ports(wiring_of(spec_of("pvp")), PLAN, PurePosixPath("/run")), 2)
    assert [[port.name for port in bridge.ports] for bridge in made] == [
        ["east", "west"], ["vnf0a", "vnf0b"],
    ]  # fmt: skip
    words = add_bridges_command(made)
    assert "options:peer=brip" in words
    assert "options:peer=brp" in words
    dump = "n_packets=3, priority=1,in_port=5 actions=drop\n" * 2
    dump += "n_packets=4, priority=50,in_port=5,dl_dst=02:01:00:00:00:00 actions=drop\n"
    found = dropped_by_port(dump, [p for b in made for p in b.ports])
    assert found["patch", DropCause.NO_FLOW] == 6
    assert found["patch", DropCause.WRONG_VLAN] == 4


def test_frames_with_another_tag_have_a_drop_rule() -> None:
    spec = spec_of("pvp")
    made = bridges("br", program_ports(wiring_of(spec), PLAN, PurePosixPath("/run")), 2)
    ovs = Ovs(bridges=2, vlan=VlanTranslation.REWRITE)
    outer, inner = rules(wiring_of(spec).flows, made, ovs, 100)
    to_vnf = "priority=100,in_port=5,dl_dst=02:01:00:00:00:00,dl_vlan=1000,actions=output:3"
    assert to_vnf in inner
    assert "priority=50,in_port=5,dl_dst=02:01:00:00:00:00,actions=drop" in inner
    assert "dl_vlan=100,actions=output:2" in outer


def test_a_tag_is_taken_off_only_where_it_is_the_right_one() -> None:
    spec = spec_of("pvp")
    made = bridges("br", program_ports(wiring_of(spec), PLAN, PurePosixPath("/run")), 2)
    outer, inner = rules(
        wiring_of(spec).flows, made, Ovs(bridges=2, vlan=VlanTranslation.STRIP), 100
    )
    there = "in_port=1,dl_dst=02:01:00:00:00:00"
    assert f"priority=100,{there},dl_vlan=100,actions=pop_vlan,output:5" in outer
    assert f"priority=50,{there},actions=drop" in outer
    # A tagged frame of a function would get a second tag.
    back = "in_port=4,dl_dst=02:00:01:00:00:00"
    assert f"priority=100,{back},vlan_tci=0x0000/0x1fff,actions=push_vlan" in inner
    assert f"priority=50,{back},actions=drop" in inner


TAGGED = Traffic(encapsulation=Encapsulation.VLAN)


@pytest.mark.parametrize(
    ("ovs", "frames", "key"),
    [
        (Ovs(vlan=VlanTranslation.STRIP), Frames(traffic=TAGGED), "vlan"),
        (Ovs(bridges=2, vlan=VlanTranslation.STRIP), Frames(), "vlan"),
        (Ovs(bridges=2, vlan=VlanTranslation.REWRITE),
         replace(spec_of("p2p", bidirectional=True), traffic=TAGGED), "vlan"),
        (Ovs(bridges=2, local_vlan_id=7), Frames(), "local_vlan_id"),
    ],
)  # fmt: skip
def test_translations_that_cannot_be_are_refused(ovs: Ovs, frames: Frames, key: str) -> None:
    tables = Tables(frames.topology, frames.traffic, Sut(Vswitch(ovs=ovs)), frames.search)
    assert [fault.key for fault in broken_rules(tables)] == [f"sut.vswitch.ovs.{key}"]
