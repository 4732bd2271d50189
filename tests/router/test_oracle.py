# SPDX-License-Identifier: Apache-2.0
"""Check frames of a router against the kernel's answers in 10,000 random routing states.

Changes come by netlink as `ip` makes them, or by real FRR and BIRD.
"""

from __future__ import annotations

import platform
import random
import subprocess
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest

from tests.dataplane.bgp_peer import bird
from tests.dataplane.frr import frr
from tests.router import netlink
from tests.router.netlink import CREATE, Hop
from tests.router.oracle import Difference, Oracle, check_shares, compare_states, oracle
from tests.router.states import gateways

STATES, DAEMON_STATES = 4700, 300
PREFIX, FLOWS = ip_network("198.18.0.0/15"), 8192
BIRD = """
router id 10.2.0.1;
protocol device {{ scan time 1; }}
protocol kernel {{ ipv4 {{ export all; }}; merge paths on; }}
protocol kernel {{ ipv6 {{ export all; }}; merge paths on; }}
protocol static {{ ipv4; {ipv4} }}
protocol static {{ ipv6; {ipv6} }}
"""
Routes = dict[str, list[tuple[str, int]]]  # next hops with weights; none: a blackhole


@pytest.fixture
def made() -> Iterator[Oracle]:
    with oracle() as one:
        yield one


@pytest.mark.parametrize("with_objects", [False, True], ids=["routes", "nexthop-objects"])
def test_router_forwards_as_the_kernel_answers_in_random_states(
    made: Oracle, with_objects: bool
) -> None:
    seen = compare_states(made, STATES, 32, addresses=16, most=6, with_objects=with_objects)
    print(f"\n{STATES} states, {seen.changes} changes, {seen.addresses} addresses, "
          f"{made.again} times again, {len(seen.differences)} differences")  # fmt: skip
    assert seen.differences == []
    assert seen.changes > STATES
    figures = made.router.figures()
    assert (figures["malformed"], figures["sampled_wrong"]) == (0, 0)


def test_router_spreads_flows_by_the_weights_of_their_next_hops(made: Oracle) -> None:
    check_shares(made, random.Random(32), groups=50)


def test_router_spreads_flows_by_weights_above_256(made: Oracle) -> None:
    """Linux 6.12 has 16 bits for the weight of a member of a group; earlier ones refuse it."""
    hops = [
        (made.interfaces["east"], gateways(4, 1)[0]),
        (made.interfaces["west"], gateways(4, 2)[0]),
    ]
    objects = [netlink.nexthop(netlink.NEWNEXTHOP, CREATE, number, 4, Hop(*hop))
               for number, hop in enumerate(hops, 1)]  # fmt: skip
    assert made.change(objects) == 0
    refused = made.change([netlink.group(CREATE, 9, [(1, 1000), (2, 3000)])])
    release = tuple(map(int, platform.release().split(".")[:2]))
    assert refused == (release < (6, 12))
    if refused:
        pytest.skip("weights have 8 bits on this kernel")
    assert made.change([netlink.route(netlink.NEWROUTE, CREATE, PREFIX, nexthop=9)]) == 0
    shares = made.shares(str(PREFIX[1]), FLOWS)
    for hop, wanted in zip(hops, (0.25, 0.75), strict=True):
        side = ("east", "west")[hops.index(hop)]
        assert abs(shares[side, made.neighbours[hop]] - wanted) < 0.02, shares


def drawn(random: random.Random, version: int) -> tuple[str, list[tuple[str, int]]]:
    """Return a random prefix with its next hops, as a routing daemon may have it."""
    if version == 4:
        length = random.choice((8, 16, 20, 24, 28, 32))
        start = random.choice((20, 21, 22)) << 24 | random.getrandbits(24)
        prefix = ip_network((start >> 32 - length << 32 - length, length))
    else:
        length = random.choice((32, 44, 48, 64, 128))
        start = 0x2400 << 112 | random.getrandbits(112)
        prefix = ip_network((start.to_bytes(16, "big"), length), strict=False)
    known = [address for address in gateways(version, 2) if not address.startswith("fe80")]
    hops = random.sample(known, random.choice((0, 1, 1, 1, 2, 3)))
    return str(prefix), [(hop, random.randint(1, 8)) for hop in hops]


def change(random: random.Random, routes: Routes) -> Routes:
    """Delete some routes, and draw others. Return those that are new, or have other hops."""
    for prefix in random.sample(sorted(routes), min(len(routes), 3)):
        del routes[prefix]
    new = dict(drawn(random, random.choice((4, 6))) for _ in range(5))
    routes.update(new)
    return new


def compared(made: Oracle, random: random.Random, routes: Routes) -> list[Difference]:
    """Compare addresses of some of these prefixes, which a daemon brings into the kernel."""
    prefixes = [ip_network(prefix) for prefix in random.sample(sorted(routes), min(len(routes), 8))]
    where = {str(prefix[0]) for prefix in prefixes} | {str(prefix[-1]) for prefix in prefixes}
    return made.differences_of_daemons(sorted(where))


def bird_text(routes: Routes) -> str:
    texts: dict[int, list[str]] = {4: [], 6: []}
    for prefix, hops in routes.items():
        vias = " ".join(f"via {hop} weight {weight}" for hop, weight in hops)
        texts[ip_network(prefix).version].append(f"route {prefix} {vias or 'blackhole'};")
    return BIRD.format(ipv4=" ".join(texts[4]), ipv6=" ".join(texts[6]))


def test_router_forwards_as_the_kernel_answers_in_states_of_bird(
    made: Oracle, tmp_path: Path
) -> None:
    drawing, routes = random.Random(32), Routes()
    change(drawing, routes)
    folder, wrong = tmp_path / "bird", list[Difference]()
    with bird(made.router.router, bird_text(routes), folder):
        made.router.wsdp.control.await_task("r", lambda seen: seen["routes_ipv4"] > 20)
        for _ in range(DAEMON_STATES):
            change(drawing, routes)
            (folder / "bird.conf").write_text(bird_text(routes))
            words = ["birdc", "-s", str(folder / "bird.ctl"), "configure"]
            assert subprocess.run(words, capture_output=True, check=True).stdout
            wrong += compared(made, drawing, routes)
    assert wrong == []


def frr_lines(word: str, prefix: str, hops: list[tuple[str, int]]) -> list[str]:
    kind = "ip" if ip_network(prefix).version == 4 else "ipv6"
    targets = [hop for hop, _ in hops] or ["blackhole"]
    return [f"{word}{kind} route {prefix} {target}" for target in targets]


def test_router_forwards_as_the_kernel_answers_in_states_of_frr(made: Oracle) -> None:
    """FRR's routes have next-hop objects."""
    drawing, routes, wrong = random.Random(32), Routes(), list[Difference]()
    with frr(made.router.router, {"zebra": "", "staticd": ""}) as daemons:
        for _ in range(DAEMON_STATES):
            before = dict(routes)
            new = change(drawing, routes)
            lines = [
                line for prefix, hops in before.items() if routes.get(prefix) != hops
                for line in frr_lines("no ", prefix, hops)
            ]  # fmt: skip
            for prefix, hops in new.items():
                lines += frr_lines("", prefix, hops)
            daemons.configure(*lines)
            wrong += compared(made, drawing, routes)
        figures = made.router.figures()
    assert wrong == []
    assert figures["groups"] > 0
