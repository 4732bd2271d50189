# SPDX-License-Identifier: Apache-2.0
"""Check a router that follows a kernel with real BIRD: routes of a BGP peer until it is gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from scapy.layers.inet import UDP

from tests.dataplane.bgp_peer import (
    PAYLOAD,
    ROUTES,
    await_true,
    bird,
    check_followed,
    peer_of,
    pull_cable,
)
from tests.dataplane.kernel_router import frame_to, kernel_router, know_neighbours

pytestmark = pytest.mark.root

ROUTER = """
router id 10.2.0.1;
protocol device {{ }}
protocol direct {{ ipv4; }}
protocol kernel {{ ipv4 {{ export where source = RTS_BGP; }}; }}
protocol bgp {{
  local 10.2.0.1 as 65001; neighbor 10.2.0.2 as 65002;
  ipv4 {{ import all; export none; }};
}}
"""


def test_routes_of_a_bgp_peer_are_followed_until_it_ends(tmp_path: Path) -> None:
    """BGP itself passes the router, which hands it to the kernel."""
    with kernel_router() as router:
        know_neighbours(router)
        before = router.figures()["routes_ipv4"]
        with bird(router.router, ROUTER.format(), tmp_path / "router"):
            with bird(router.b.namespace, peer_of(ROUTES), tmp_path / "peer"):
                check_followed(router, before)
            await_true(lambda: router.figures()["routes_ipv4"] == before, router)
        router.settle()
        unknown = router.figures()["no_route"]
        router.a.send(frame_to(router, "198.18.0.0") / UDP(dport=9) / PAYLOAD)
        await_true(lambda: router.figures()["no_route"] > unknown, router)


def test_routes_of_a_bgp_peer_end_when_its_cable_is_pulled(tmp_path: Path) -> None:
    """BIRD would wait 240 s for a silent peer; it sees that the link is gone."""
    with kernel_router() as router:
        know_neighbours(router)
        before = router.figures()["routes_ipv4"]
        with (
            bird(router.router, ROUTER.format(), tmp_path / "router"),
            bird(router.b.namespace, peer_of(ROUTES), tmp_path / "peer"),
        ):
            await_true(lambda: router.figures()["routes_ipv4"] >= before + ROUTES, router)
            pull_cable(router, before)
