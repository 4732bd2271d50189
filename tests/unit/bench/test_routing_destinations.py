# SPDX-License-Identifier: Apache-2.0
"""Check that frames go to each prefix of a generated table, by the port that it leads to."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.assembly.kinds import needs_of, wiring_of
from wirespeed.bench.routing.destinations import destinations, own_addresses
from wirespeed.bench.routing.table import RoutingTable, table_of
from wirespeed.bench.traffic.frames.content import Sender
from wirespeed.bench.traffic.frames.prefixes import PrefixFrames
from wirespeed.model.frame import FlowField
from wirespeed.model.study.spec import (
    Destinations,
    Frames,
    Routing,
    Sut,
    Topology,
    Traffic,
    Vnf,
    Vswitch,
)
from wirespeed.routing.formats import prefix_text
from wirespeed.routing.generate import Route
from wirespeed.study.kinds.registry import Tables, broken_rules

PREFIXES = Routing(ipv4=400, ipv6=200, next_hops=2, destinations=Destinations.PREFIXES)


def longest(routes: list[Route], address: int) -> Route:
    """Return the route of an address, by trying all."""
    holding = [r for r in routes if r.address >> (32 - r.length) == address >> (32 - r.length)]
    return max(holding, key=lambda route: route.length)


@given(st.sets(st.tuples(st.integers(0, 255), st.integers(24, 32)), min_size=1, max_size=60))
def test_own_address_belongs_to_no_more_specific_prefix(found: set[tuple[int, int]]) -> None:
    whole = {(number >> (32 - length) << (32 - length), length) for number, length in found}
    routes = sorted(Route(4, address, length, 0) for address, length in whole)
    for route, address in zip(routes, own_addresses(routes), strict=True):
        inside = range(route.address, route.address + (1 << (32 - route.length)))
        own = [each for each in inside if longest(routes, each) == route]
        assert (address in own) if own else address is None


@pytest.mark.parametrize("version", [4, 6])
def test_destinations_of_a_port_are_in_the_prefixes_that_lead_there(version: int) -> None:
    table = RoutingTable(PREFIXES, (0, 1))
    networks = [(ip_network(prefix), hop.port) for prefix, hop in table.routes(version)]
    for port in (0, 1):
        seen = []
        for text in destinations(table, version, port):
            address = ip_address(text)
            holding = [(net.prefixlen, net, to) for net, to in networks if address in net]
            _, network, leads_to = max(holding)
            assert leads_to == port
            seen.append(network)
        assert len(set(seen)) == len(seen) > 50
    both = sum(len(destinations(table, version, port)) for port in (0, 1))
    assert both > 0.9 * PREFIXES.prefixes(version)


def test_prefixes_of_a_table_are_written_as_networks() -> None:
    table = RoutingTable(PREFIXES, (1,))
    assert prefix_text(table.generated(4)[0]) == next(table.routes(4))[0]


def test_streams_of_a_direction_share_its_prefixes() -> None:
    frames = Frames(Topology("parallel", 3, bidirectional=True), sut=Sut(vnf=Vnf("router")))
    wiring = wiring_of(frames)
    run, host = PurePosixPath("/run"), FakeHost({})
    content = PrefixFrames(frames.traffic, table_of(PREFIXES, wiring), wiring.streams, run)
    content.prepare(host)
    sent = {}
    for stream in wiring.streams:
        keys = content.sender_keys(Sender(stream, 1, 0, 1))
        assert not keys.keys() & {"flows", "flow_field", "dst_ip"}
        sent[stream.number] = host.files[keys["destinations"]].split()
        assert content.receiver_keys(stream.from_port, 1) == {
            "flows": str(len(sent[stream.number]))
        }
    together = [address for addresses in sent.values() for address in addresses]
    assert len(set(together)) == len(together) > 0.9 * PREFIXES.ipv4 - len(sent)


def test_needs_have_a_flow_for_each_prefix() -> None:
    linux = Sut(Vswitch(kind="linux-router"))
    assert needs_of(Frames(sut=linux, routing=PREFIXES)).flows == PREFIXES.ipv4


@pytest.mark.parametrize(
    ("traffic", "sut", "routing", "key"),
    [
        (Traffic(flows=5), Vswitch(kind="linux-router"), PREFIXES, "traffic.flows"),
        (Traffic(flow_field=FlowField.DST_IP), Vswitch(kind="linux-router"), PREFIXES,
         "traffic.flow_field"),
        (Traffic(), Vswitch(kind="linux-router"),
         Routing(ipv6=200, destinations=Destinations.PREFIXES), "routing.ipv4"),
    ],
)  # fmt: skip
def test_traffic_that_cannot_go_to_each_prefix_is_refused(
    traffic: Traffic, sut: Vswitch, routing: Routing, key: str
) -> None:
    frames = Frames(Topology("p2p"), traffic, Sut(sut), routing=routing)
    tables = Tables(frames.topology, traffic, frames.sut, frames.search, routing=routing)
    assert [fault.key for fault in broken_rules(tables)] == [key]
