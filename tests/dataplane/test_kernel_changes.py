# SPDX-License-Identifier: Apache-2.0
"""Check changes of routes in the second copy of a router's tables, by figures and frames."""

from __future__ import annotations

import threading
from collections.abc import Iterator
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
)

pytestmark = pytest.mark.root

PAYLOAD = Raw(b"x" * 100)
B, B6 = "10.2.0.2", "2001:db8:2::2"
OTHER, OTHER_MAC = "10.2.0.3", "02:00:00:00:00:03"
ROUTES = 3000


@pytest.fixture(scope="module")
def router() -> Iterator[KernelRouter]:
    with kernel_router() as made:
        know_neighbours(made)
        made.ip("neighbour", "replace", OTHER, "lladdr", OTHER_MAC, "dev", "west",
                "nud", "permanent")  # fmt: skip
        made.settle()
        made.wsdp.control.await_task("r", lambda seen: seen["spare_tables"] == 1)
        yield made


def batch(router: KernelRouter, commands: Iterator[str], file: Path) -> None:
    file.write_text("".join(f"{line}\n" for line in commands))
    router.ip("-batch", str(file))


def prefix(number: int) -> str:
    return f"198.18.{number // 250}.{number % 250}/32"


def forwarded(router: KernelRouter, destination: str, mac: str) -> None:
    router.a.send(frame_to(router, destination) / UDP(dport=9) / PAYLOAD)
    assert router.b.receive(is_to(destination)).dst == mac


@pytest.mark.parametrize(
    ("prefix", "inside", "via"),
    [
        ("203.0.112.0/20", "203.0.113.1", B),
        ("2001:2::/48", "2001:2::7", B6),
        ("0.0.0.0/0", "9.9.9.9", B),
    ],
)
def test_changes_of_routes_build_no_new_tables(
    router: KernelRouter, prefix: str, inside: str, via: str
) -> None:
    before = router.figures()
    router.ip("route", "add", prefix, "via", via)
    router.settle()
    forwarded(router, inside, router.b.mac)
    router.ip("route", "replace", "blackhole", prefix)
    router.settle()
    assert router.figures()["blackhole"] == before["blackhole"]
    router.a.send(frame_to(router, inside) / UDP(dport=9) / PAYLOAD)
    router.wsdp.control.await_task("r", lambda seen: seen["blackhole"] > before["blackhole"])
    router.ip("route", "delete", "blackhole", prefix)
    router.settle()
    router.a.send(frame_to(router, inside) / UDP(dport=9) / PAYLOAD)
    router.wsdp.control.await_task("r", lambda now: now["no_route"] > before["no_route"])
    # The last update ends once the second copy has it, too.
    seen = router.wsdp.control.await_task(
        "r", lambda now: now["updates"] >= before["updates"] + 3 and now["spare_tables"] == 1
    )
    assert seen["builds"] == before["builds"]


def test_changes_in_bursts_are_in_force_and_lose_no_frame_of_another_route(
    router: KernelRouter, tmp_path: Path
) -> None:
    router.ip("route", "add", "203.0.113.0/24", "via", B)
    router.settle()
    before = router.figures()
    turns = threading.Thread(target=_churn, args=(router, tmp_path / "batch"))
    turns.start()
    sent = 0
    while turns.is_alive():
        forwarded(router, "203.0.113.7", router.b.mac)  # a frame that is lost ends the test
        sent += 1
    turns.join()
    router.settle()
    seen = router.figures()
    assert sent > 0
    assert seen["builds"] == before["builds"]
    assert seen["updated_routes"] >= before["updated_routes"] + 4 * ROUTES
    forwarded(router, "198.18.0.1", OTHER_MAC)
    batch(router, (f"route delete {prefix(i)}" for i in range(1, ROUTES, 2)), tmp_path / "batch")
    router.ip("route", "delete", "203.0.113.0/24")
    router.settle()
    assert router.figures()["routes_ipv4"] == before["routes_ipv4"] - 1


def _churn(router: KernelRouter, file: Path) -> None:
    """Add routes, lead them elsewhere, and delete every second one; twice."""
    for _ in range(2):
        batch(router, (f"route replace {prefix(i)} via {B}" for i in range(ROUTES)), file)
        batch(router, (f"route replace {prefix(i)} via {OTHER}" for i in range(ROUTES)), file)
        batch(router, (f"route delete {prefix(i)}" for i in range(0, ROUTES, 2)), file)


def test_neighbours_that_come_move_and_go_build_no_new_tables(router: KernelRouter) -> None:
    """All routes by a gateway follow it to another address."""
    before = router.figures()
    host, macs = "10.2.0.77", ("02:00:00:00:00:77", "02:00:00:00:00:78")
    router.ip("route", "add", "203.0.113.0/24", "via", OTHER)
    for mac in macs:
        router.ip("neighbour", "replace", host, "lladdr", mac, "dev", "west", "nud", "permanent")
        router.settle()
        forwarded(router, host, mac)
    assert router.figures()["neighbours"] == before["neighbours"] + 1
    for mac in ("02:00:00:00:00:04", OTHER_MAC):
        router.ip("neighbour", "replace", OTHER, "lladdr", mac, "dev", "west",
                  "nud", "permanent")  # fmt: skip
        router.settle()
        forwarded(router, "203.0.113.7", mac)
        forwarded(router, OTHER, mac)
    router.ip("neighbour", "delete", host, "dev", "west")
    router.ip("route", "delete", "203.0.113.0/24")
    router.settle()
    seen = router.figures()
    assert seen["neighbours"] == before["neighbours"]
    assert seen["builds"] == before["builds"]


def test_route_to_a_neighbour_alone_takes_the_place_of_its_own(router: KernelRouter) -> None:
    """Tables have a route to each neighbour. A second one makes new tables; its end does not."""
    before = router.figures()["builds"]
    router.ip("route", "add", "blackhole", f"{B}/32")
    router.settle()
    router.ip("route", "delete", "blackhole", f"{B}/32")
    router.settle()
    forwarded(router, B, router.b.mac)
    # A build is counted, and a second copy made, after the tables are in force.
    router.wsdp.control.await_task(
        "r", lambda seen: seen["builds"] == before + 1 and seen["spare_tables"] == 1
    )
