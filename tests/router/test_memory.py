# SPDX-License-Identifier: Apache-2.0
"""Check a router whose memory has no room for a second table next to the one in force."""

from __future__ import annotations

from scapy.layers.inet import UDP
from scapy.packet import Raw

from tests.dataplane.kernel_router import (
    KernelRouter,
    Wsdp,
    cables,
    frame_to,
    is_to,
    persist,
    run,
    set_up,
)
from tests.dataplane.program import Running

A, B, STATIC = "10.1.0.2", "10.2.0.2", "203.0.113.7"
LATER, LATER_ADDRESS = "198.18.0.0/15", "198.19.0.7"
ROOM_MIB = 128  # a table takes 69 MiB, mbufs 20


def forwarded(router: KernelRouter, destination: str) -> None:
    router.a.send(frame_to(router, destination) / UDP(dport=9) / Raw(b"x" * 100))
    assert router.b.receive(is_to(destination)).dst == router.b.mac


def in_step(wsdp: Running, updates: int) -> dict[str, int]:
    """Wait until the tables in force have a further change, and return the figures."""
    return wsdp.control.await_task(
        "r", lambda seen: seen["in_step"] == 1 and seen["updates_in_place"] > updates
    )


def test_router_without_memory_for_a_second_table_changes_the_one_in_force() -> None:
    with cables() as made:
        persist(made)
        macs = set_up(made.router)
        for interface, address, mac in (("west", B, made.b.mac), ("east", A, made.a.mac)):
            run("ip", "-n", made.router, "neighbour", "replace", address, "lladdr", mac, "dev",
                interface, "nud", "permanent")  # fmt: skip
        run("ip", "-n", made.router, "route", "add", "203.0.113.0/24", "via", B)
        with made.running(Wsdp("", ROOM_MIB)) as wsdp:
            router = KernelRouter(made.a, made.b, made.router, macs, wsdp)
            wsdp.control.await_task("r", lambda seen: seen["builds"] > 0)
            forwarded(router, STATIC)
            router.ip("route", "add", LATER, "via", B)
            seen = in_step(wsdp, 0)
            forwarded(router, LATER_ADDRESS)
            forwarded(router, STATIC)
            router.ip("route", "replace", "203.0.113.0/24", "via", A)
            seen = in_step(wsdp, seen["updates_in_place"])
            router.a.send(frame_to(router, STATIC) / UDP(dport=9) / Raw(b"x" * 100))
            assert router.a.receive(is_to(STATIC)).dst == router.a.mac
            router.ip("route", "delete", LATER)
            in_step(wsdp, seen["updates_in_place"])
            assert router.differences() == 0
            assert router.figures()["in_place"] == 1
            assert router.figures()["build_failures"] == 0
            assert router.log().count("changes are made in the tables in force") == 1

            # Without IPv6, two tables fit.
            for interface in (*macs, "lo"):
                router.ip("-6", "address", "flush", "dev", interface)
            wsdp.control.await_task("r", lambda seen: seen["spare_tables"] == 1)
            updates = router.figures()["updates"]
            router.ip("route", "add", LATER, "via", B)
            wsdp.control.await_task("r", lambda seen: seen["updates"] > updates)
            forwarded(router, LATER_ADDRESS)
            assert router.figures()["in_place"] == 0
            assert "there is memory for a second copy of the tables again" in router.log()
