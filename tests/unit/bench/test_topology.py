# SPDX-License-Identifier: Apache-2.0
"""Check that each topology's rules carry every stream's frames to their port, and only there.

The tests send frames through the data alone. The switch knows only the rules, network functions do
only what `forwards` lists, and a NIC joins the ports of a VLAN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.bench.assembly.kinds import sut_of, wiring_of
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.bench.topology.wiring import GENERATOR, NIC, SWITCH, End, Flow, Wiring
from wirespeed.model.frame import FlowField
from wirespeed.model.study.spec import Frames, Sut, Topology, Traffic, Vnf, VnfMode

SWITCHED = [kind.name for kind in TOPOLOGIES if kind.has_switch]


def spec_of(
    kind: str,
    vnfs: int = 1,
    bidirectional: bool = False,
    mode: VnfMode = VnfMode.MAC,
    field: FlowField = FlowField.SRC_PORT,
) -> Frames:
    return Frames(
        Topology(kind, vnfs, bidirectional), Traffic(flow_field=field), Sut(vnf=Vnf(mode=mode))
    )


def as_int(mac: str) -> int:
    return int(mac.replace(":", ""), 16)


def matches(flow: Flow, port: str, dst: int) -> bool:
    address, _, mask = flow.dst_mac.partition("/")
    bits = as_int(mask) if mask else (1 << 48) - 1
    return flow.in_port == port and dst & bits == as_int(address) & bits


def joined_by_nic(spec: Frames) -> dict[str, str]:
    """Return the other virtual function in the VLAN of each."""
    found = TOPOLOGIES[spec.topology.kind].virtual_functions(spec)
    return {
        a.port: b.port
        for a in found
        for b in found
        if a is not b and a.settings.vlan == b.settings.vlan
    }


def send(
    wired: Wiring,
    mode: VnfMode,
    port: str,
    addresses: tuple[int, int],
    nic: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str | None, list[str]]:
    """Return the port where a frame arrives (None: dropped), and the functions it passed."""
    src, dst = addresses
    at = wired.peer(End(GENERATOR, port))
    passed: list[str] = []
    while True:
        assert len(passed) <= 8, "the frame goes round in circles"
        if at.owner == SWITCH:
            rules = [f for f in wired.flows if matches(f, at.port, dst)]
            assert len(rules) <= 1, f"ambiguous rules {rules}"
            if not rules:
                return None, passed
            at = wired.peer(End(SWITCH, rules[0].out_port))
        elif at.owner == NIC:
            at = wired.peer(End(NIC, nic[at.port]))
        if at.owner == GENERATOR:
            return at.port, passed
        passed.append(at.owner)
        [does] = [f for f in wired.forwards if (f.vnf, f.from_port) == (at.owner, at.port)]
        if mode is VnfMode.MACSWAP:
            src, dst = dst, src
        elif does.dst_mac is not None:
            dst = as_int(does.dst_mac)
        at = wired.peer(End(at.owner, does.to_port))


@given(
    spec=st.builds(
        spec_of,
        kind=st.sampled_from([*SWITCHED, "host", "wire"]),
        vnfs=st.integers(1, 8),
        bidirectional=st.booleans(),
        mode=st.sampled_from(VnfMode),
        field=st.sampled_from(FlowField),
    ),
    step=st.sampled_from([0, 1, 999_999]),
)
def test_every_stream_arrives_after_passing_its_functions(spec: Frames, step: int) -> None:
    wired = wiring_of(spec)
    kind, vnfs, mode = spec.topology.kind, spec.topology.vnfs, spec.sut.vnf.mode
    field = spec.traffic.flow_field
    assert len(wired.directions) == (2 if spec.topology.bidirectional else 1)
    for stream in wired.streams:
        src = as_int(stream.src_mac) + (step if field is FlowField.SRC_MAC else 0)
        dst = as_int(stream.dst_mac) + (step if field is FlowField.DST_MAC else 0)
        arrived, passed = send(wired, mode, stream.from_port, (src, dst), joined_by_nic(spec))
        assert arrived == stream.to_port
        path = wired.path(stream)
        assert (path[0], path[-1]) == (End(GENERATOR, stream.from_port), End(GENERATOR, arrived))
        met = dict.fromkeys(end.owner for end in path if end.owner not in (GENERATOR, NIC, SWITCH))
        assert list(met) == passed
        if kind in {"chain", "sriov-vhost"}:
            order = [f"vnf{i}" for i in range(vnfs)]
            assert passed == (order if stream.from_port == "east" else order[::-1])
        elif kind == "parallel":
            assert passed == [f"vnf{stream.number % vnfs}"]
        elif kind == "p2p":
            assert passed == []
        elif kind == "pvp":
            assert passed == ["vnf0"]
        else:
            assert passed


@pytest.mark.parametrize("kind", [kind for kind in SWITCHED if kind != "sriov-vhost"])
def test_a_frame_to_an_unknown_address_is_dropped(kind: str) -> None:
    wired = wiring_of(spec_of(kind, 2, bidirectional=True))
    for port in ("east", "west"):
        assert send(wired, VnfMode.MAC, port, (1, as_int("02:ff:00:00:00:01"))) == (None, [])


@given(kind=st.sampled_from(SWITCHED), vnfs=st.integers(1, 8), bidirectional=st.booleans())
def test_no_port_or_address_is_used_twice(kind: str, vnfs: int, bidirectional: bool) -> None:
    wired = wiring_of(spec_of(kind, vnfs, bidirectional))
    ends = [end for cable in wired.cables for end in (cable.a, cable.b)]
    assert len(set(ends)) == len(ends)
    assert len({s.number for s in wired.streams}) == len(wired.streams)
    keys = [(f.in_port, f.dst_mac) for f in wired.flows]
    assert len(set(keys)) == len(keys)


def test_unidirectional_traffic_needs_no_way_back() -> None:
    wired = wiring_of(spec_of("chain", 3))
    assert {(f.from_port, f.to_port) for f in wired.forwards} == {("a", "b")}
    assert send(wired, VnfMode.MAC, "west", (1, as_int("02:00:00:00:00:00")))[0] is None


def test_external_has_ports_but_no_cables() -> None:
    wired = wiring_of(replace(spec_of("external"), sut=Sut(ports=("a", "b"))))
    assert wired.cables == ()
    assert [(s.from_port, s.to_port) for s in wired.streams] == [("east", "west")]


def paths(spec: Frames) -> list[str]:
    return [" ".join(path) for path in sut_of(spec).paths]


def test_the_path_of_a_stream_has_every_port_in_order() -> None:
    assert paths(spec_of("p2p")) == ["tg:east switch:east switch:west tg:west"]
    there = "tg:east switch:east switch:vnf0a vnf0:a vnf0:b switch:vnf0b switch:west tg:west"
    back = " ".join(reversed(there.split()))
    assert paths(spec_of("pvp", 1, bidirectional=True)) == [there, back]
    chain = paths(spec_of("chain", 3))[0].split()
    assert [end for end in chain if end.startswith("vnf")] == [
        "vnf0:a", "vnf0:b", "vnf1:a", "vnf1:b", "vnf2:a", "vnf2:b",
    ]  # fmt: skip


def test_external_topology_has_no_known_paths() -> None:
    assert paths(replace(spec_of("external"), sut=Sut(ports=("a", "b")))) == []
