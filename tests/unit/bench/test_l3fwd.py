# SPDX-License-Identifier: Apache-2.0
"""Check that routers have a route to every address of their streams, in the right direction."""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.bench.assembly.kinds import wiring_of
from wirespeed.bench.function.counts import TaskCounts, TaskRole
from wirespeed.bench.function.interface import Setup
from wirespeed.bench.function.l3fwd import StaticRouter
from wirespeed.bench.function.router import Router
from wirespeed.bench.program.attachment import Attachment
from wirespeed.bench.topology.addresses import flows_of_each, stream_ips
from wirespeed.bench.topology.wiring import SIDES
from wirespeed.model.frame import FlowField, FrameSizes
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, Routing, Sut, Topology, Traffic, Vnf
from wirespeed.study.kinds.registry import Tables, broken_rules


def routed(
    kind: str, vnfs: int = 1, *, both: bool, version: int, flows: int, field: FlowField
) -> Frames:
    traffic = Traffic(ip_version=version, flows=flows, flow_field=field)
    return Frames(Topology(kind, vnfs, both), traffic, Sut(vnf=Vnf("l3fwd")))


def setup_of(frames: Frames, name: str) -> Setup:
    wired = wiring_of(frames)
    forwards = tuple(f for f in wired.forwards if f.vnf == name)
    attached = {side: Attachment((f"{side}:0",), (f"{side}:0",)) for side in SIDES}
    return Setup(
        name, frames, forwards, attached, wired.entries, (1,), DropCause.VNF_TX_RING_FULL,
        PurePosixPath("/run"), wired.streams,
    )  # fmt: skip


def tables_of(frames: Frames) -> Tables:
    return Tables(
        frames.topology, frames.traffic, frames.sut, frames.search, routing=frames.routing
    )


class Table:
    """Content of a route file, parsed independently of the data plane."""

    def __init__(self, text: str) -> None:
        lines = [line.split() for line in text.splitlines()]
        assert lines[0] == ["wirespeed-routes", "1"]
        self.hops = {words[1]: words[2:] for words in lines if words[0] == "hop"}
        self.routes = [
            (ipaddress.ip_network(words[1]), words[2]) for words in lines if words[0] == "route"
        ]

    def look_up(self, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[str]:
        """Return port, source and target of the next hop with the longest prefix."""
        found = [(net.prefixlen, hop) for net, hop in self.routes if address in net]
        return self.hops[max(found)[1]]


@given(
    frames=st.builds(
        routed,
        kind=st.sampled_from(["pvp", "chain", "parallel", "host"]),
        vnfs=st.integers(1, 4),
        both=st.booleans(),
        version=st.sampled_from([4, 6]),
        flows=st.integers(1, 1000),
        field=st.sampled_from(FlowField),
    ),
    flow=st.integers(0, 999),
    router=st.sampled_from([StaticRouter(), Router()]),
)
def test_every_flow_is_routed_to_where_its_stream_goes(
    frames: Frames, flow: int, router: StaticRouter
) -> None:
    frames = replace(frames, sut=Sut(vnf=Vnf(router.name)))
    frames = replace(frames, topology=replace(frames.topology, vnfs=frames.topology.vnfs
                     if frames.topology.kind in ("chain", "parallel") else 1))  # fmt: skip
    if any(router.faults(frames)):
        return
    wired, stepped = wiring_of(frames), frames.traffic.flow_field is FlowField.DST_IP
    for name in wired.vnfs:
        setup = setup_of(frames, name)
        [(path, text)] = router.files(setup).items()
        table = Table(text)
        for task in router.tasks(setup):
            assert task.type == router.name
            assert task.keys == {"routes": path}
            assert task.tx == ("a:0", "b:0")
        for stream in wired.streams:
            side = "a" if stream.from_port == "east" else "b"
            [forward] = [f for f in setup.forwards if f.from_port == side]
            each = flows_of_each(frames.traffic, len(wired.streams) // len(frames.directions))
            first = ipaddress.ip_address(stream_ips(stream.number, frames.traffic.ip_version)[1])
            port, _, target = table.look_up(first + (flow % each if stepped else 0))
            assert SIDES[int(port)] == forward.to_port
            assert target == forward.dst_mac


def test_router_counts_frames_beyond_the_mtu_by_cause() -> None:
    frames = routed("pvp", both=False, version=4, flows=1, field=FlowField.SRC_PORT)
    counts = Router().counts(setup_of(replace(frames, sut=Sut(vnf=Vnf("router"))), "vnf0"))
    assert counts.causes["too_big"] is counts.causes["fragment"] is DropCause.MTU
    assert counts.causes["no_route"] is DropCause.NO_ROUTE


@pytest.mark.parametrize(
    ("frames", "key"),
    [
        (routed("pvp", both=True, version=4, flows=257, field=FlowField.DST_IP), "traffic.flows"),
        (replace(Frames(sut=Sut(vnf=Vnf("l3fwd")), topology=Topology("pvp")),
                 traffic=Traffic(pcap="/some.pcap")), "traffic.pcap"),
    ],
)  # fmt: skip
def test_traffic_that_cannot_be_routed_is_refused(frames: Frames, key: str) -> None:
    assert key in [fault.key for fault in broken_rules(tables_of(frames))]


def test_discards_with_a_known_cause_are_separated_from_the_rest() -> None:
    role = TaskRole("t", "a", "b")
    counts = TaskCounts(
        "vnf0", (role,), DropCause.VNF_DISCARD, DropCause.VNF_TX_RING_FULL,
        {"no_route": DropCause.NO_ROUTE},
    )  # fmt: skip
    assert counts.detailed == ("t",)
    seen = {"rx": 10, "tx": 3, "tx_fail": 1, "discard": 6, "handled": 0, "no_route": 4}
    hop = counts.read({"t": seen}, {})
    assert {cause: n for (_, cause), n in hop.drops.items() if n} == {
        DropCause.NO_ROUTE: 4, DropCause.VNF_DISCARD: 2, DropCause.VNF_TX_RING_FULL: 1,
    }  # fmt: skip
    assert sum(hop.entered.values()) == sum(hop.left.values()) + sum(hop.drops.values())


@pytest.mark.parametrize("version", [4, 6])
def test_generated_routes_lead_to_the_hops_of_all_directions(version: int) -> None:
    traffic = Traffic(FrameSizes.parse("128"), ip_version=version, flows=4)
    frames = Frames(
        Topology("host", bidirectional=True), traffic, Sut(vnf=Vnf("l3fwd")),
        routing=Routing(ipv4=500, ipv6=100, next_hops=2, seed=3),
    )  # fmt: skip
    assert not list(broken_rules(tables_of(frames)))
    [text] = StaticRouter().files(setup_of(frames, wiring_of(frames).vnfs[0])).values()
    table = Table(text)
    assert len(table.routes) == 500 + 100 + 2
    assert len({net for net, _ in table.routes}) == len(table.routes)
    assert {hop for _, hop in table.routes} == set(table.hops)
    assert [hop[0] for hop in table.hops.values()] == ["1", "0", "0", "0", "1", "1"]
