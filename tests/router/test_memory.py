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

B, STATIC, LATER = "10.2.0.2", "203.0.113.7", "198.18.0.0/15"
ROOM_MIB = 128  # a table takes 69 MiB, mbufs 20


def forwarded(router: KernelRouter, destination: str) -> None:
    router.a.send(frame_to(router, destination) / UDP(dport=9) / Raw(b"x" * 100))
    assert router.b.receive(is_to(destination)).dst == router.b.mac


def test_router_without_memory_for_a_second_table_names_it_and_keeps_the_first() -> None:
    with cables() as made:
        persist(made)
        macs = set_up(made.router)
        run("ip", "-n", made.router, "neighbour", "replace", B, "lladdr", made.b.mac, "dev",
            "west", "nud", "permanent")  # fmt: skip
        run("ip", "-n", made.router, "route", "add", "203.0.113.0/24", "via", B)
        with made.running(Wsdp("", ROOM_MIB)) as wsdp:
            router = KernelRouter(made.a, made.b, made.router, macs, wsdp)
            wsdp.control.await_task("r", lambda seen: seen["builds"] > 0)
            forwarded(router, STATIC)
            router.ip("route", "add", LATER, "via", B)
            wsdp.control.await_task("r", lambda seen: seen["build_failures"] > 0)
            forwarded(router, STATIC)
            assert router.differences() > 0
            log = router.log()
            assert f'"prefix": "{LATER}"' in log
            assert "memory" in log
            assert "the former tables stay in force" in log
            assert router.figures()["in_step"] == 0
