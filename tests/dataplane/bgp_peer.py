# SPDX-License-Identifier: Apache-2.0
"""Run BIRD, above all as the BGP peer of a router under test."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scapy.layers.inet import UDP
from scapy.packet import Raw

from tests.dataplane.kernel_router import KernelRouter, frame_to, is_to, run
from tests.dataplane.program import DEADLINE_S

PAYLOAD = Raw(b"x" * 100)
ROUTES = 2000
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


def check_followed(router: KernelRouter, before: int) -> None:
    """Wait until the router has the peer's routes, and check frames to some of them.

    before: number of its IPv4 routes without the peer.
    """
    await_true(lambda: router.figures()["routes_ipv4"] >= before + ROUTES, router)
    router.settle()
    for number in (0, ROUTES // 2, ROUTES - 1):
        destination = prefix(number).removesuffix("/32")
        router.a.send(frame_to(router, destination) / UDP(dport=9) / PAYLOAD)
        frame = router.b.receive(is_to(destination))
        assert (frame.src, frame.dst) == (router.macs["west"], router.b.mac)


def pull_cable(router: KernelRouter, before: int) -> None:
    """Take the peer's link down, and wait until the router has none of its routes."""
    run("ip", "-n", router.b.namespace, "link", "set", "eth0", "down")
    await_true(lambda: router.figures()["routes_ipv4"] <= before, router)
