# SPDX-License-Identifier: Apache-2.0
"""Check what the kernel reports of IP drops, and which points cannot use it as their router."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wirespeed.bench.switch.linux.counters import parse_ip_drops
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, Sut, Topology, Traffic, Vswitch
from wirespeed.study.kinds.registry import Tables, broken_rules

# /proc/net/snmp, netstat and snmp6, shortened.
COUNTERS = """\
Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams
Ip: 1 64 5484 7 0 5000
Icmp: InMsgs InErrors
Icmp: 12 0
IpExt: InNoRoutes InTruncatedPkts
IpExt: 30 0
Ip6InReceives                   	64
Ip6InHdrErrors                  	2
Ip6InNoRoutes                   	400
"""


def test_drops_of_both_versions_are_one_figure() -> None:
    expected = {DropCause.BAD_HEADER: 9, DropCause.NO_ROUTE: 430}
    assert parse_ip_drops(COUNTERS) == expected


@pytest.mark.parametrize(
    ("key", "frames"),
    [
        ("topology.kind", Frames(Topology("pvp"))),
        ("traffic.encapsulation", Frames(traffic=Traffic(encapsulation=Encapsulation.VLAN))),
        ("traffic.flow_field", Frames(traffic=Traffic(flow_field=FlowField.DST_MAC))),
        ("traffic.flows", Frames(Topology(bidirectional=True),
                                 Traffic(flows=257, flow_field=FlowField.DST_IP))),
    ],
)  # fmt: skip
def test_frames_that_a_kernel_router_cannot_route_are_refused(key: str, frames: Frames) -> None:
    frames = replace(frames, sut=Sut(Vswitch(kind="linux-router")))
    tables = Tables(frames.topology, frames.traffic, frames.sut, frames.search)
    assert [fault.key for fault in broken_rules(tables)] == [key]
