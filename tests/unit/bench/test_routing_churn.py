# SPDX-License-Identifier: Apache-2.0
"""Check which routes change during trials, when, and the commands for a BGP peer and ip(8)."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import ip_address, ip_network

import pytest

from wirespeed.bench.interface import BenchError
from wirespeed.bench.routing import churn
from wirespeed.bench.routing.bfd import bfd_sessions, latest
from wirespeed.bench.routing.churn import Churn
from wirespeed.bench.routing.destinations import destinations
from wirespeed.bench.routing.table import RoutingTable
from wirespeed.bench.routing.texts import (
    bird,
    change_commands,
    frr_bgpd,
    ip_commands,
    peer,
)
from wirespeed.model.study.spec import (
    Destinations,
    Frames,
    Routing,
    RoutingDaemon,
    Sut,
    Topology,
    Vnf,
    Vswitch,
)
from wirespeed.study.kinds.registry import Tables, broken_rules

ROUTING = Routing(ipv4=400, ipv6=200, next_hops=3, ecmp=2, seed=5, churn_per_s=100,
                  destinations=Destinations.PREFIXES)  # fmt: skip
TABLE = RoutingTable(ROUTING, (0, 1))


def changing(table: RoutingTable) -> list[str]:
    return [each.prefix for group in table.churned for each in group]


def test_same_seed_changes_the_same_prefixes_of_the_table() -> None:
    whole = {prefix for version in (4, 6) for prefix, _ in TABLE.routes(version)}
    found = changing(TABLE)
    assert len(found) == len(set(found)) == 150  # a quarter of each version
    assert set(found) < whole
    assert found == changing(RoutingTable(ROUTING, (0, 1)))
    assert found != changing(RoutingTable(replace(ROUTING, seed=6), (0, 1)))
    assert {len(group) for group in TABLE.churned} == {5}
    assert RoutingTable(replace(ROUTING, churn_per_s=0), (0, 1)).churned == ()


@pytest.mark.parametrize(
    ("per_s", "prefixes", "size"), [(1, 2, 1), (20, 40, 1), (100_000, 150, 150)]
)
def test_slow_changes_concern_few_prefixes_and_fast_ones_a_quarter(
    per_s: int, prefixes: int, size: int
) -> None:
    table = RoutingTable(replace(ROUTING, churn_per_s=per_s), (0, 1))
    assert len(changing(table)) == prefixes
    assert {len(group) for group in table.churned} == {size}


@pytest.mark.parametrize("version", [4, 6])
def test_no_frame_goes_to_a_prefix_that_changes(version: int) -> None:
    networks = [ip_network(prefix) for prefix, _ in TABLE.routes(version)]
    chosen = set(changing(TABLE))
    for port in (0, 1):
        for text in destinations(TABLE, version, port):
            address = ip_address(text)
            longest = max((net for net in networks if address in net), key=lambda n: n.prefixlen)
            assert str(longest) not in chosen


def test_peer_announces_changing_prefixes_by_protocols_of_their_own() -> None:
    name, found = "", dict[str, list[str]]()
    for line in peer(TABLE):
        if match := re.match(r"protocol static (\w+) \{", line):
            name = match[1]
        elif match := re.match(r"route (\S+) blackhole", line):
            found.setdefault(match[1], []).append(name)
            assert ("bgp_next_hop" in line) == name.startswith("c")
    chosen = set(changing(TABLE))
    assert set(found) == {prefix for version in (4, 6) for prefix, _ in TABLE.routes(version)}
    for prefix, names in found.items():
        assert len(names) == ROUTING.ecmp
        assert all(each.startswith("c" if prefix in chosen else "r") for each in names)


def test_ip_commands_of_a_change_are_those_of_the_table() -> None:
    added = {line for version in (4, 6) for line in ip_commands(TABLE, version)}
    for group in range(len(TABLE.churned)):
        assert set(change_commands(TABLE, group, "add")) < added
    gone = [line.split()[1:3] for line in change_commands(TABLE, 0, "del")]
    assert gone == [["del", each.prefix] for each in TABLE.churned[0]]


class Source:
    """Routes that note what is changed; kernel and router agree after some looks."""

    ready_s = 0.0

    def __init__(self, looks: int = 0) -> None:
        self.table = TABLE
        self.done: list[tuple[int, bool]] = []
        self.looks = looks

    @property
    def routes(self) -> Source:
        return self

    def change(self, group: int, *, announces: bool) -> None:
        self.done.append((group, announces))

    def missing(self) -> str:
        self.looks -= 1
        return "IPv4 routes: 1 of 2" if self.looks >= 0 else ""

    def alive(self) -> str | None:
        return None


def test_changes_withdraw_and_announce_each_group_in_turn() -> None:
    source = Source(looks=2)
    made = Churn("r", source)  # type: ignore[arg-type]
    made.begin()
    steps = made.steps(0.5)
    assert [at for at, _ in steps] == pytest.approx([0.05 * i for i in range(10)])
    for _, act in steps[:5]:
        act()
    assert source.done == [(0, False), (0, True), (1, False), (1, True), (2, False)]
    made.rest()
    assert source.done[-1] == (2, True)
    assert made.settle().changes == 6 * 5
    made.begin()
    made.rest()
    found = made.settle()
    assert (found.changes, found.late_s) == (0, 0.0)
    assert 0.0 <= found.behind_s < 60.0


def test_changes_due_after_the_traffic_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = iter([10.0, 11.0])
    monkeypatch.setattr(churn.time, "monotonic", lambda: next(now_s))
    source = Source()
    made = Churn("r", source)  # type: ignore[arg-type]
    (_, first), (_, second), *_ = made.steps(0.5)
    first()
    second()
    assert source.done == [(0, False)]


def test_routes_that_do_not_come_back_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(churn, "_SETTLE_S", 0.0)
    made = Churn("vnf0", Source(looks=10**6))  # type: ignore[arg-type]
    with pytest.raises(BenchError, match="vnf0: after changes of routes it waits for IPv4 routes"):
        made.settle()


def test_bfd_is_configured_for_each_session_and_only_if_wanted() -> None:
    for lines in (peer, bird, frr_bgpd):
        plain = list(lines(TABLE))
        with_bfd = list(lines(RoutingTable(replace(ROUTING, bfd=True), (0, 1))))
        assert not any("bfd" in line for line in plain)
        sessions = [line for line in with_bfd if line.endswith(("bfd on;", "bfd profile bench"))]
        assert len(sessions) == ROUTING.ecmp


def bfd_answer(state: str, since: str) -> str:
    return f"""BIRD 2.0.12 ready.
bfd1:
IP address                Interface  State      Since         Interval  Timeout
10.255.0.1                bgp        {state}         2026-11-26 {since}    0.050    0.150
10.255.1.1                bgp        Down       2026-11-26 17:01:03.456    1.000    0.000
"""


@pytest.mark.parametrize(
    ("state", "since", "seen"),
    [
        ("Up", "17:01:02.122", "Up since 2026-11-26 17:01:02.123"),
        ("Up", "17:01:02.149", "Up since 2026-11-26 17:01:02.123"),
        ("Up", "17:01:02.273", "Up since 2026-11-26 17:01:02.273"),
        ("Down", "17:01:02.123", "Down since 2026-11-26 17:01:02.123"),
    ],
)
def test_bfd_sessions_have_their_state_and_the_time_of_its_change(
    state: str, since: str, seen: str
) -> None:
    first = latest({}, bfd_sessions(bfd_answer("Up", "17:01:02.123")))
    assert str(first["10.255.0.1"]) == "Up since 2026-11-26 17:01:02.123"
    again = latest(first, bfd_sessions(bfd_answer(state, since)))
    assert {end: str(session) for end, session in again.items()} == {
        "10.255.0.1": seen,
        "10.255.1.1": "Down since 2026-11-26 17:01:03.456",
    }


ROUTER, L3FWD = Sut(vnf=Vnf("router")), Sut(vnf=Vnf("l3fwd"))
LINUX = Sut(Vswitch(kind="linux-router"))


@pytest.mark.parametrize(
    ("routing", "topology", "sut", "key", "text"),
    [
        (Routing(ipv4=200, churn_per_s=5), "host", L3FWD, "routing.churn_per_s", "from a file"),
        (Routing(ipv4=99, churn_per_s=5), "host", ROUTER, "routing.churn_per_s", "100 prefixes"),
        (Routing(ipv4=200, bfd=True), "p2p", LINUX, "routing.bfd", 'routing.daemon = "frr"'),
    ],
)
def test_changes_and_bfd_that_cannot_be_are_refused(
    routing: Routing, topology: str, sut: Sut, key: str, text: str
) -> None:
    frames = Frames(Topology(topology), sut=sut, routing=routing)
    tables = Tables(frames.topology, frames.traffic, frames.sut, frames.search, routing=routing)
    [fault] = broken_rules(tables)
    assert fault.key == key
    assert text in str(fault)


@pytest.mark.parametrize("sut", [LINUX, ROUTER])
@pytest.mark.parametrize("daemon", list(RoutingDaemon))
def test_every_source_of_routes_takes_changes(sut: Sut, daemon: RoutingDaemon) -> None:
    routing = Routing(daemon, ipv4=200, churn_per_s=5, bfd=daemon is not RoutingDaemon.STATIC)
    frames = Frames(Topology("p2p" if sut is LINUX else "host"), sut=sut, routing=routing)
    tables = Tables(frames.topology, frames.traffic, frames.sut, frames.search, routing=routing)
    assert list(broken_rules(tables)) == []
