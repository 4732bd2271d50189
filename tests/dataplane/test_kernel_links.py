# SPDX-License-Identifier: Apache-2.0
"""Check that the kernel sees the ports of a router that follows it: their links and MTUs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing

import pytest
from scapy.layers.inet import UDP
from scapy.packet import Raw

from tests.dataplane.kernel_router import (
    ADDRESSES,
    Host,
    KernelRouter,
    frame_to,
    is_to,
    kernel_router,
    know_neighbours,
    raw_socket,
    run,
)
from tests.dataplane.program import DEADLINE_S

pytestmark = pytest.mark.root

PAYLOAD = Raw(b"x" * 100)
A, B = (ADDRESSES[name].split("/")[0] for name in ("a", "b"))
INSIDE = "198.18.7.1"


def await_true(true: Callable[[], bool], router: KernelRouter) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < deadline, router.log()
        time.sleep(0.02)  # links and MTUs are looked at as often


def link(router: KernelRouter, interface: str) -> dict[str, object]:
    shown = json.loads(router.ip("-json", "link", "show", "dev", interface))
    assert isinstance(shown[0], dict)
    return shown[0]


def set_cable(router: KernelRouter, state: str) -> None:
    run("ip", "-n", router.b.namespace, "link", "set", "eth0", state)


def sent_back(router: KernelRouter) -> None:
    router.a.drop()
    router.a.send(frame_to(router, INSIDE) / UDP(dport=9) / PAYLOAD)
    assert router.a.receive(is_to(INSIDE)).dst == router.a.mac


def test_port_that_loses_its_link_ends_the_routes_of_its_interface() -> None:
    """The kernel ignores routes without carrier where it is told to, as routing daemons do."""
    with kernel_router() as router:
        know_neighbours(router)
        path = "/proc/sys/net/ipv4/conf/all/ignore_routes_with_linkdown"
        run("ip", "netns", "exec", router.router, "sh", "-c", f"echo 1 > {path}")
        router.ip("route", "add", "198.18.0.0/15", "via", B, "metric", "10")
        router.ip("route", "add", "198.18.0.0/15", "via", A, "metric", "20")
        router.settle()
        router.a.send(frame_to(router, INSIDE) / UDP(dport=9) / PAYLOAD)
        assert router.b.receive(is_to(INSIDE)).dst == router.b.mac
        assert "NO-CARRIER" not in str(link(router, "west")["flags"])
        set_cable(router, "down")
        await_true(lambda: "NO-CARRIER" in str(link(router, "west")["flags"]), router)
        await_true(lambda: f"via {A}" in router.ip("route", "get", INSIDE), router)
        assert router.figures()["links_down"] == 1
        router.settle()
        sent_back(router)
        set_cable(router, "up")
        await_true(lambda: f"via {B}" in router.ip("route", "get", INSIDE), router)
        router.settle()
        assert router.figures()["links_down"] == 0
        with closing(raw_socket(router.b.namespace, "eth0")) as again:  # the first one has failed
            router.a.send(frame_to(router, INSIDE) / UDP(dport=9) / PAYLOAD)
            b = Host(router.b.namespace, router.b.mac, again)
            assert b.receive(is_to(INSIDE)).dst == router.b.mac


def test_interface_mtu_above_the_ports_is_set_back() -> None:
    with kernel_router() as router:
        for mtu in ("9000", "2000"):
            router.ip("link", "set", "west", "mtu", mtu)
            await_true(lambda: link(router, "west")["mtu"] == 1500, router)
        assert (router.wsdp.directory / "log").read_text().count("is set back to 1500") == 1
        router.ip("link", "set", "west", "mtu", "1400")
        know_neighbours(router)  # settles
        assert link(router, "west")["mtu"] == 1400
