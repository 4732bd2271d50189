# SPDX-License-Identifier: Apache-2.0
"""Check how gaps of flows and notifications of the kernel become times of prefixes."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

import pytest

from wirespeed.bench.convergence.events import EVENTS
from wirespeed.bench.convergence.flow_gaps import FlowGaps, Watched, fates, read_flow_gaps
from wirespeed.bench.convergence.own_time import own_times
from wirespeed.bench.convergence.summary import Seen, outlier_fence, spread, summarise
from wirespeed.bench.interface import BenchError
from wirespeed.bench.routing.destinations import destination_prefixes, destinations
from wirespeed.bench.routing.notifications import Notifications, read_notifications
from wirespeed.bench.routing.table import Hop, RoutingTable, backup_mac, hop_address
from wirespeed.bench.routing.texts import backup_peer, bird, frr_bgpd, peer
from wirespeed.bench.topology.wiring import Stream
from wirespeed.bench.traffic.frames.prefixes import PrefixFrames
from wirespeed.model.result.convergence import ConvergenceRun
from wirespeed.model.result.observation import DirectionCount
from wirespeed.model.study.convergence import EventKind
from wirespeed.model.study.spec import Destinations, Routing, RoutingDaemon, Traffic

MS = 1_000_000  # cycles of a TSC of 1 GHz
ROUTING = Routing(RoutingDaemon.FRR, ipv4=400, seed=5, destinations=Destinations.PREFIXES,
                  destination_prefixes=50, backup=True)  # fmt: skip
TABLE = RoutingTable(ROUTING, (1,))
NOW = (1 << 56) + 10_000 * MS


def seen_gaps(gaps: list[list[int]], last_ms: list[int]) -> FlowGaps:
    text = {
        "format": "wirespeed-flow-gaps-1", "tsc_hz": 10**9, "not_recorded": 0, "misrouted": 2,
        "unheard": 0, "looped": 1, "gaps": gaps, "last": [[ms * MS, 0, 1] for ms in last_ms],
    }  # fmt: skip
    return read_flow_gaps(json.dumps(text), NOW)


def at(ms: float) -> int:
    """Return the TSC at a time."""
    return (1 << 56) + round(ms * MS)


def watched(new_path: int | None = 1) -> Watched:
    return Watched(at(100), at(1000), 2 * MS, new_path)


def summary(gaps: list[list[int]], last_ms: list[int], told: Notifications) -> ConvergenceRun:
    count = DirectionCount("east-west", 5000, 5000, 5000, 0, 4800, 3, 0, 0, 0, 0)
    prefixes = [f"10.0.{flow}.0/24" for flow in range(len(last_ms))]
    return summarise(
        Seen("withdrawal", prefixes, watched(), seen_gaps(gaps, last_ms), told, float, count, 1000)
    )


def test_fates_planted_hole_names_the_flows_and_its_length() -> None:
    """A frame of each flow every 2 ms; those of 7 flows are missing for 20 ms."""
    holes = [3 + 1429 * number for number in range(7)]
    gaps = [[flow, 10, 120 * MS, 142 * MS, 0, 0] for flow in holes]
    found = fates(seen_gaps(gaps, [1000] * 10_000), watched())
    dark = {flow: fate.dark for flow, fate in enumerate(found) if fate.dark}
    assert list(dark) == holes
    assert all(cycles == pytest.approx(20 * MS) for cycles in dark.values())


def test_fates_changed_path_without_loss_is_no_blackout() -> None:
    [fate] = fates(seen_gaps([[0, 0, 110 * MS, 112 * MS, 0, 1]], [1000]), watched())
    assert (fate.dark, fate.back_tsc, fate.silent) == (0, at(112), False)


def test_fates_gaps_before_the_event_do_not_count() -> None:
    [fate] = fates(seen_gaps([[0, 5, 50 * MS, 62 * MS, 0, 1]], [1000]), watched())
    assert (fate.dark, fate.back_tsc) == (0, None)


def test_fates_flow_that_never_comes_back_is_silent() -> None:
    one, other = fates(seen_gaps([], [110, 0]), watched())
    assert one.silent
    assert one.dark == pytest.approx(888 * MS)
    assert other.dark == pytest.approx(898 * MS)


def test_fates_same_path_again_is_back_after_loss() -> None:
    gaps = [[0, 30, 110 * MS, 172 * MS, 0, 0]]
    assert fates(seen_gaps(gaps, [1000]), watched(None))[0].back_tsc == at(172)
    assert fates(seen_gaps(gaps, [1000]), watched(1))[0].back_tsc is None


def test_summary_has_phases_faults_and_slowest() -> None:
    gaps = [[0, 20, 100 * MS, 142 * MS, 0, 1], [1, 0, 104 * MS, 106 * MS, 0, 1]]
    told = Notifications({"10.0.0.0/24": at(130)}, at(103))
    found = summary(gaps, [1000, 1000, 1000], told)
    assert (found.interrupted, found.rerouted, found.unreachable) == (1, 2, 0)
    assert found.blackout == spread([0, 0, 40])
    assert (found.lost, found.blocked_ms, found.linear_ms) == (200, 200, 400)
    assert (found.misrouted, found.looped, found.duplicated) == (2, 1, 3)
    [slow] = found.slowest
    assert (slow.prefix, slow.blackout_ms, slow.rerouted_ms) == ("10.0.0.0/24", 40, 42)
    # The third prefix has the notification of the next hop, and no frame by the new path.
    assert found.protocol == spread([30, 3, 3])
    assert found.forwarding == spread([12, 3])
    assert found.reroute == spread([42, 6])


def test_summary_names_prefixes_that_stand_out_and_not_what_stops_all() -> None:
    """All prefixes lose 100 or 102 ms, three of 50 also 20 ms."""
    gaps = [[flow, 3, 150 * MS, (252 + flow % 2 * 2) * MS, 0, 0] for flow in range(50)]
    gaps += [[flow, 10, 300 * MS, 322 * MS, 0, 0] for flow in (7, 8, 40)]
    found = summary(gaps, [1000] * 50, Notifications({}, None))
    assert found.interrupted == 50
    assert found.outliers == 3
    # Half of them were reachable in the last 2 ms.
    assert found.outlier_ms == pytest.approx(2 + 3 * 2)
    named = {own.prefix: own.own_ms for own in found.longest_own}
    assert named == pytest.approx({"10.0.7.0/24": 22, "10.0.8.0/24": 20, "10.0.40.0/24": 20})


def test_own_times_leave_out_what_most_prefixes_share() -> None:
    spans = [[(10.0, 20.0)], [(12.0, 20.0), (30.0, 35.0)], [(19.0, 22.0)], []]
    # Three of four are dark from 19 to 20.
    assert own_times(spans) == [9, 12, 2, 0]
    assert own_times([]) == []


def test_outlier_fence_is_two_intervals_above_equal_values() -> None:
    assert outlier_fence([5.0] * 9, 2.0) == 9.0
    assert outlier_fence([0.0] * 90 + [100.0] * 10, 1.0) == 2.0
    assert outlier_fence([], 1.0) == 0.0


def test_spread_of_nothing_is_none() -> None:
    assert spread([]) is None


def test_flow_gaps_of_another_format_are_refused() -> None:
    with pytest.raises(BenchError, match="wirespeed-flow-gaps-2"):
        read_flow_gaps('{"format": "wirespeed-flow-gaps-2"}', NOW)


def test_flow_gaps_that_are_incomplete_are_refused() -> None:
    with pytest.raises(BenchError, match="no room for 1,200 gaps"):
        read_flow_gaps('{"format": "wirespeed-flow-gaps-1", "not_recorded": 1200}', NOW)


def test_notifications_first_of_each_prefix_counts() -> None:
    text = """\
[2026-11-27T00:24:52.000100] [ROUTE]10.1.0.0/24 via 192.0.2.2 dev west proto bgp
[2026-11-27T00:24:52.000200] [ROUTE]10.1.0.0/24 nhid 6 via 192.0.2.3 dev west proto bgp metric 20
[2026-11-27T00:24:52.000250] [ROUTE]Deleted 10.2.0.0/24 via 192.0.2.2 dev west proto bgp
[2026-11-27T00:24:52.000300] [ROUTE]10.2.0.0/24 via 192.0.2.3 dev west proto bgp
    cache expires 2s
[2026-11-27T00:24:52.000400] [ROUTE]10.7.0.1 via 192.0.2.2 dev west
[2026-11-27T00:24:52.000500] [ROUTE]unicast 2001:db8:9::/48 dev west metric 1024 pref medium
[2026-11-27T00:24:52.000600] [NEXTHOP]Deleted id 6 via 192.0.2.3 dev west scope link proto zebra
[2026-11-27T00:24:52.000700] [NEIGH]192.0.2.2 dev west lladdr 02:00:01:00:00:0b PERMANENT
"""
    begin = 1_795_739_092 * 10**9
    found = read_notifications(text, begin + 150_000)
    assert {prefix: ns - begin for prefix, ns in found.routes_ns.items()} == {
        "10.1.0.0/24": 200_000,
        "10.2.0.0/24": 300_000,
        "10.7.0.1/32": 400_000,
        "2001:db8:9::/48": 500_000,
    }
    assert found.of("10.1.0.0/24") == begin + 200_000
    assert found.of("192.168.0.0/16") == found.hop_ns == begin + 700_000


def test_every_event_has_one_class() -> None:
    assert set(EVENTS) == set(EventKind)
    assert all(made.kind is kind for kind, made in EVENTS.items())


def test_backup_peer_announces_all_prefixes_by_another_network_and_a_longer_path() -> None:
    text = "\n".join(backup_peer(TABLE))
    prefixes = {prefix for prefix, _ in TABLE.routes(4)}
    assert set(re.findall(r"route (\S+) blackhole", text)) == prefixes
    backup = TABLE.backup(Hop(1, 0))
    assert hop_address(4, backup) == "203.0.113.130"
    assert f"bgp_next_hop = {hop_address(4, backup)}" in text
    assert "bgp_path.prepend" in text
    assert "bgp_path.prepend" not in "\n".join(peer(TABLE))


@pytest.mark.parametrize("lines", [bird, frr_bgpd])
def test_router_has_a_session_with_both_peers(lines: object) -> None:
    assert callable(lines)
    text = "\n".join(lines(TABLE))
    assert "10.255.0.2" in text
    assert "10.255.1.2" in text


def test_sinks_track_the_flows_and_both_paths() -> None:
    stream = Stream("east-west", 0, "east", "west", "02:00:00:00:00:00", "02:00:01:00:00:00")
    content = PrefixFrames(Traffic(), TABLE, [stream], PurePosixPath("/run"))
    mac = "02:00:01:00:00:00"
    assert content.receiver_keys("east", 64) == {
        "flows": "50", "track_flows": "50", "paths": f"{mac}, {backup_mac(mac)}",
    }  # fmt: skip
    assert len(destination_prefixes(TABLE, 4, 1)) == len(destinations(TABLE, 4, 1))
