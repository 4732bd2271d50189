# SPDX-License-Identifier: Apache-2.0
"""Check that routers of every type get the same table, and that impossible tables are refused."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.function.generated_routes import route_lines
from wirespeed.bench.interface import BenchError
from wirespeed.bench.routing.programs import check_daemon
from wirespeed.bench.routing.table import Hop, RoutingTable, hop_address
from wirespeed.bench.routing.texts import bird, frr_bgpd, ip_commands, peer
from wirespeed.model.study.spec import (
    Frames,
    Routing,
    RoutingDaemon,
    Sut,
    Topology,
    Vnf,
    Vswitch,
)
from wirespeed.study.kinds.registry import Tables, broken_rules
from wirespeed.study.validate import validate_point

ECMP = Routing(ipv4=300, ipv6=100, next_hops=3, ecmp=2, seed=5)
BOTH = RoutingTable(ECMP, (0, 1))
MACS = {
    0: ("02:01:00:00:00:00", "02:00:00:00:00:00"),
    1: ("02:01:01:00:00:00", "02:00:01:00:00:00"),
}


def by_prefix(version: int) -> dict[str, set[str]]:
    """Return the addresses of the next hops of each prefix."""
    return {
        prefix: {hop_address(version, member) for member in BOTH.members(hop)}
        for prefix, hop in BOTH.routes(version)
    }


def test_next_hops_of_a_prefix_are_at_one_port_and_in_its_network() -> None:
    assert BOTH.members(Hop(1, 2)) == (Hop(1, 2), Hop(1, 0))
    assert [hop_address(4, hop) for hop in BOTH.members(Hop(1, 2))] == [
        "198.51.100.4",
        "198.51.100.2",
    ]
    assert hop_address(6, Hop(0, 0)) == "2001:db8:0:1::2"
    assert {hop for _, hop in BOTH.routes(4)} == set(BOTH.hops)


@pytest.mark.parametrize("version", [4, 6])
def test_ip_commands_have_each_prefix_with_its_next_hops(version: int) -> None:
    found = {}
    for command in ip_commands(BOTH, version):
        words = command.split()
        assert words[:2] == ["route", "add"]
        found[words[2]] = {after for word, after in pairwise(words) if word == "via"}
    assert found == by_prefix(version)


@pytest.mark.parametrize("version", [4, 6])
def test_peer_announces_each_prefix_once_a_session_with_its_next_hops(version: int) -> None:
    found: dict[str, list[str]] = {}
    via = ""
    for line in peer(BOTH):
        if match := re.search(r"bgp_next_hop = (\S+);", line):
            via = match[1]
        elif match := re.fullmatch(r"route (\S+) blackhole;", line):
            found.setdefault(match[1], []).append(via)
    wanted = by_prefix(version)
    assert {prefix: set(vias) for prefix, vias in found.items() if prefix in wanted} == wanted
    assert set(map(len, found.values())) == {ECMP.ecmp}


def test_daemons_have_a_session_for_each_next_hop_of_a_prefix() -> None:
    assert sum(line.startswith("protocol bgp") for line in bird(BOTH)) == ECMP.ecmp
    assert sum("remote-as" in line for line in frr_bgpd(BOTH)) == ECMP.ecmp
    assert "  maximum-paths 2" in list(frr_bgpd(BOTH))


def test_wsdp_routes_each_prefix_by_the_port_of_its_next_hops() -> None:
    lines = [line.split() for line in route_lines(BOTH, MACS)]
    ports = {words[1]: words[2] for words in lines if words[0] == "hop"}
    groups = {words[1]: words[2:] for words in lines if words[0] == "group"}
    assert Counter(ports.values()) == {"0": 3, "1": 3}
    found = {words[1]: {ports[each] for each in groups[words[2]]}
             for words in lines if words[0] == "route"}  # fmt: skip
    assert found == {
        prefix: {str(hop.port)} for version in (4, 6) for prefix, hop in BOTH.routes(version)
    }
    assert all(len(set(members)) == ECMP.ecmp for members in groups.values())


def test_seed_decides_the_prefixes_and_the_number_of_next_hops_does_not() -> None:
    def prefixes(routing: Routing) -> list[str]:
        return [prefix for prefix, _ in RoutingTable(routing, (1,)).routes(4)]

    assert prefixes(ECMP) == prefixes(replace(ECMP, next_hops=7))
    assert prefixes(ECMP) != prefixes(replace(ECMP, seed=6))


def broken(routing: Routing, topology: str, sut: Sut) -> list[str]:
    frames = Frames(Topology(topology), sut=sut, routing=routing)
    tables = Tables(frames.topology, frames.traffic, frames.sut, frames.search, routing=routing)
    return [str(fault) for fault in broken_rules(tables)]


ROUTER, L3FWD = Sut(vnf=Vnf("router")), Sut(vnf=Vnf("l3fwd"))
LINUX = Sut(Vswitch(kind="linux-router"))


@pytest.mark.parametrize(
    ("routing", "topology", "sut", "key", "text"),
    [
        (Routing(ipv4=5), "p2p", Sut(), "routing", "needs a router"),
        (Routing(ipv4=5), "p2p", ROUTER, "routing", '"l3fwd" or "router" as sut.vnf.kind'),
        (Routing(ipv4=5), "host", Sut(), "routing", 'sut.vswitch.kind = "linux-router"'),
        (Routing(RoutingDaemon.FRR, 5), "host", L3FWD, "routing.daemon", "reads its routes"),
        (Routing(ipv4=5, next_hops=2, ecmp=2), "host", L3FWD, "routing.ecmp", "must be 1"),
        (Routing(RoutingDaemon.BIRD), "p2p", LINUX, "routing.daemon", "set routing.ipv4"),
        (Routing(ipv4=5, ecmp=2), "p2p", LINUX, "routing.ecmp", "routing.next_hops = 1"),
    ],
)
def test_table_that_cannot_be_is_refused(
    routing: Routing, topology: str, sut: Sut, key: str, text: str
) -> None:
    [fault] = broken(routing, topology, sut)
    assert fault.startswith(f"{key} ")
    assert text in fault


@pytest.mark.parametrize(
    ("routing", "key"),
    [
        ({"ipv4": 1_000_001}, "routing.ipv4"),
        ({"ipv6": -1}, "routing.ipv6"),
        ({"daemon": "quagga"}, "routing.daemon"),
        ({"next_hops": 65}, "routing.next_hops"),
        ({"ecmp": 0}, "routing.ecmp"),
        ({"hops": 3}, "routing.hops"),
    ],
)
def test_value_out_of_bounds_is_refused_by_its_key(routing: dict[str, object], key: str) -> None:
    sut = {"vswitch": {"kind": "linux-router"}}
    _, faults = validate_point({"topology": {"kind": "p2p"}, "sut": sut, "routing": routing})
    assert [fault.key for fault in faults] == [key]


def test_table_does_not_go_with_tcp() -> None:
    _, faults = validate_point({"tcp": {"path": "ovs-pmd"}, "routing": {"ipv4": 5}})
    assert "routing" in [fault.key for fault in faults]


@pytest.mark.parametrize(
    ("daemon", "present", "packages"),
    [
        (RoutingDaemon.FRR, (), "apt install frr bird2"),
        (RoutingDaemon.FRR, ("/usr/sbin/bird", "/usr/lib/frr/zebra"), "apt install frr"),
        (RoutingDaemon.BIRD, (), "apt install bird2"),
    ],
)
def test_missing_daemon_is_reported_with_its_package(
    daemon: RoutingDaemon, present: tuple[str, ...], packages: str
) -> None:
    runner = FakeHost(dict.fromkeys(present, ""))
    with pytest.raises(BenchError, match=f'routing.daemon = "{daemon}"') as error:
        check_daemon(runner, Routing(daemon, ipv4=1))
    assert error.value.next_step.endswith(packages)


def test_present_daemon_is_accepted() -> None:
    programs = ("/usr/sbin/bird", "/usr/lib/frr/zebra", "/usr/lib/frr/bgpd")
    check_daemon(FakeHost(dict.fromkeys(programs, "")), Routing(RoutingDaemon.FRR, ipv4=1))
    check_daemon(FakeHost({}), Routing(ipv4=1))
