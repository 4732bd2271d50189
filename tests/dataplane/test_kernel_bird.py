# SPDX-License-Identifier: Apache-2.0
"""Check a router that follows a kernel with real BIRD: routes of a BGP peer until it is gone."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scapy.layers.inet import UDP
from scapy.packet import Raw

from tests.dataplane.kernel_router import (
    KernelRouter,
    frame_to,
    is_to,
    kernel_router,
    know_neighbours,
    run,
)
from tests.dataplane.program import DEADLINE_S

pytestmark = pytest.mark.root

PAYLOAD = Raw(b"x" * 100)
ROUTES = 2000
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
PEER = """
router id 10.2.0.2;
protocol device {{ }}
protocol static {{ ipv4; {routes} }}
protocol bgp {{
  local 10.2.0.2 as 65002; neighbor 10.2.0.1 as 65001;
  ipv4 {{ import none; export all; next hop self; }};
}}
"""


def prefix(number: int) -> str:
    return f"198.18.{number // 250}.{number % 250}/32"


@contextmanager
def bird(namespace: str, configuration: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run BIRD in a namespace, in the foreground, with files of its own."""
    folder.mkdir()
    (folder / "bird.conf").write_text(configuration)
    words = ["bird", "-f", "-c", str(folder / "bird.conf"), "-s", str(folder / "bird.ctl")]
    with subprocess.Popen(["ip", "netns", "exec", namespace, *words]) as process:
        try:
            yield process
        finally:
            process.kill()


def await_true(true: Callable[[], bool], router: KernelRouter) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < deadline, router.figures()
        time.sleep(0.05)  # routes take longer


def peer_of(routes: int) -> str:
    """Return the configuration of a peer with this many routes."""
    return PEER.format(routes=" ".join(f"route {prefix(i)} blackhole;" for i in range(routes)))


def test_routes_of_a_bgp_peer_are_followed_until_it_ends(tmp_path: Path) -> None:
    """BGP itself passes the router, which hands it to the kernel."""
    with kernel_router() as router:
        know_neighbours(router)
        before = router.figures()["routes_ipv4"]
        with bird(router.router, ROUTER.format(), tmp_path / "router"):
            with bird(router.b.namespace, peer_of(ROUTES), tmp_path / "peer"):
                await_true(lambda: router.figures()["routes_ipv4"] >= before + ROUTES, router)
                router.settle()
                for number in (0, ROUTES // 2, ROUTES - 1):
                    destination = prefix(number).removesuffix("/32")
                    router.a.send(frame_to(router, destination) / UDP(dport=9) / PAYLOAD)
                    frame = router.b.receive(is_to(destination))
                    assert (frame.src, frame.dst) == (router.macs["west"], router.b.mac)
            await_true(lambda: router.figures()["routes_ipv4"] == before, router)
        router.settle()
        unknown = router.figures()["no_route"]
        router.a.send(frame_to(router, "198.18.0.0") / UDP(dport=9) / PAYLOAD)
        await_true(lambda: router.figures()["no_route"] > unknown, router)


def test_routes_of_a_bgp_peer_end_when_its_cable_is_pulled(tmp_path: Path) -> None:
    """BIRD would wait 240 s for a peer that says nothing; it sees that the link is gone."""
    with kernel_router() as router:
        know_neighbours(router)
        before = router.figures()["routes_ipv4"]
        with (
            bird(router.router, ROUTER.format(), tmp_path / "router"),
            bird(router.b.namespace, peer_of(ROUTES), tmp_path / "peer"),
        ):
            await_true(lambda: router.figures()["routes_ipv4"] >= before + ROUTES, router)
            run("ip", "-n", router.b.namespace, "link", "set", "eth0", "down")
            await_true(lambda: router.figures()["routes_ipv4"] <= before, router)
