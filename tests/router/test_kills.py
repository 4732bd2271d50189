# SPDX-License-Identifier: Apache-2.0
"""Kill wsdp and routing daemons at random moments: frames go by the last good tables meanwhile."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scapy.layers.inet import UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from tests.dataplane.bgp_peer import bird, peer_of
from tests.dataplane.frr import frr
from tests.dataplane.kernel_router import (
    KernelRouter,
    Wsdp,
    cables,
    frame_to,
    is_to,
    kernel_router,
    know_neighbours,
    persist,
    run,
    set_up,
)
from tests.dataplane.program import DEADLINE_S
from tests.dataplane.test_kernel_bird import ROUTER
from tests.dataplane.test_kernel_frr import CONFIGURATIONS

KILLS, ROUTES = 20, 300
LATEST_S = 0.5  # after the start, while routes change
STATIC, B = "203.0.113.7", "10.2.0.2"
PAYLOAD = Raw(b"x" * 100)


def forwarded(router: KernelRouter, destination: str = STATIC) -> None:
    router.a.send(frame_to(router, destination) / UDP(dport=9) / PAYLOAD)
    frame = router.b.receive(is_to(destination))
    assert (frame.src, frame.dst) == (router.macs["west"], router.b.mac)


@pytest.fixture
def router() -> Iterator[KernelRouter]:
    """Yield a router with a route that no daemon has."""
    with kernel_router() as made:
        know_neighbours(made)
        made.ip("route", "add", "203.0.113.0/24", "via", B)
        made.settle()
        yield made


def kill(router: KernelRouter, names: tuple[str, ...]) -> None:
    """Kill daemons in turn at random moments of their routes' coming."""
    drawing = random.Random(32)
    with frr(router.router, CONFIGURATIONS) as daemons:
        for number in range(KILLS):
            name = names[number % len(names)]
            until = time.monotonic() + drawing.uniform(0, LATEST_S)
            while time.monotonic() < until:
                forwarded(router)  # a frame that is lost ends the test
            daemons.kill(name)
            for _ in range(10):
                forwarded(router)
            daemons.start(name)


@pytest.mark.parametrize("name", ["zebra", "bgpd"])
def test_kill_of_a_daemon_of_frr_loses_no_frame_of_another_route(
    router: KernelRouter, name: str, tmp_path: Path
) -> None:
    with bird(router.b.namespace, peer_of(ROUTES), tmp_path / "peer"):
        kill(router, (name,))
    router.settle()


def test_kill_of_bird_leaves_its_routes_in_force(router: KernelRouter, tmp_path: Path) -> None:
    """BIRD's routes stay in the kernel until it is there again."""
    drawing = random.Random(32)
    before = router.figures()["routes_ipv4"]
    with bird(router.b.namespace, peer_of(ROUTES), tmp_path / "peer"):
        for number in range(KILLS):
            with bird(router.router, ROUTER.format(), tmp_path / f"router{number}"):
                if number == 0:
                    router.wsdp.control.await_task(
                        "r", lambda seen: seen["routes_ipv4"] >= before + ROUTES
                    )
                until = time.monotonic() + drawing.uniform(0, LATEST_S)
                while time.monotonic() < until:
                    forwarded(router)
            forwarded(router)
            if number == 0:
                router.settle()
                forwarded(router, "198.18.1.7")
    router.settle()


@contextmanager
def churn(router: str, folder: Path) -> Iterator[None]:
    """Change routes all the time, so that tables are being exchanged."""
    ended = threading.Event()
    add, delete = folder / "add", folder / "delete"
    for file, verb in ((add, "replace"), (delete, "delete")):
        file.write_text("".join(f"route {verb} 198.18.{i // 250}.{i % 250}/32 via {B}\n"
                                for i in range(ROUTES)))  # fmt: skip

    def turn() -> None:
        while not ended.is_set():
            run("ip", "-n", router, "-batch", str(add))
            run("ip", "-n", router, "-batch", str(delete))

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_wsdp_killed_while_tables_are_exchanged_forwards_again_after_its_restart(
    tmp_path: Path,
) -> None:
    drawing, outages = random.Random(32), list[float]()
    with cables() as made:
        persist(made)
        macs = set_up(made.router)
        run("ip", "-n", made.router, "route", "add", "203.0.113.0/24", "via", B)
        with churn(made.router, tmp_path):
            killed = 0.0
            for _ in range(KILLS + 1):
                with made.running(Wsdp()) as wsdp:
                    router = KernelRouter(made.a, made.b, made.router, macs, wsdp)
                    answered(router)
                    if killed:
                        outages.append(time.monotonic() - killed)
                    until = time.monotonic() + drawing.uniform(0, LATEST_S)
                    while time.monotonic() < until:
                        forwarded(router)
                    killed = time.monotonic()
                    wsdp.process.kill()
                    wsdp.process.wait()
        shown = sorted(outages)
        print(f"\n{KILLS} kills of wsdp: outage median {shown[len(shown) // 2]:.2f} s, longest "
              f"{shown[-1]:.2f} s")  # fmt: skip
        with made.running(Wsdp()) as wsdp:
            KernelRouter(made.a, made.b, made.router, macs, wsdp).settle()
        assert "east" in run("ip", "-n", made.router, "link", "show")
    assert made.router not in run("ip", "netns", "list")


def answered(router: KernelRouter) -> None:
    """Wait until a frame is forwarded."""
    deadline = time.monotonic() + DEADLINE_S
    router.b.drop()
    router.b.socket.settimeout(0.05)
    wanted = is_to(STATIC)
    while time.monotonic() < deadline:
        router.a.send(frame_to(router, STATIC) / UDP(dport=9) / PAYLOAD)
        try:
            while not wanted(Ether(router.b.socket.recv(65536))):
                pass
        except TimeoutError:
            continue
        # Those that were sent again come, too.
        router.b.drop()
        return
    raise AssertionError(router.log())
