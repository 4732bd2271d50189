# SPDX-License-Identifier: Apache-2.0
"""Check that the kernel sees the ports of a router that follows it: their links and MTUs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial

import pytest
from scapy.layers.inet import UDP
from scapy.packet import Raw

from tests.dataplane.kernel_router import (
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
# A prefix, an address inside it, and the gateways a and b.
ROUTES = [
    ("198.18.0.0/15", "198.18.7.1", "10.1.0.2", "10.2.0.2"),
    ("2001:2::/48", "2001:2::7", "2001:db8:1::2", "2001:db8:2::2"),
]


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


def leads_to(router: KernelRouter, inside: str, gateway: str) -> bool:
    """Return whether the kernel sends packets to an address by this gateway."""
    return f"via {gateway} " in router.ip("route", "get", inside)


def sent(router: KernelRouter, inside: str, receiver: Host) -> None:
    """Check that a frame of host a reaches this host."""
    receiver.drop()
    router.a.send(frame_to(router, inside) / UDP(dport=9) / PAYLOAD)
    frame = receiver.receive(is_to(inside))
    assert (frame.src in router.macs.values(), frame.dst) == (True, receiver.mac)


def test_port_that_loses_its_link_ends_the_routes_of_its_interface() -> None:
    """With this sysctl the kernel ignores routes without carrier, as routing daemons do."""
    with kernel_router() as router:
        know_neighbours(router)
        for version in ("ipv4", "ipv6"):
            path = f"/proc/sys/net/{version}/conf/all/ignore_routes_with_linkdown"
            run("ip", "netns", "exec", router.router, "sh", "-c", f"echo 1 > {path}")
        for prefix, inside, via_a, via_b in ROUTES:
            router.ip("route", "add", prefix, "via", via_b, "metric", "10")
            router.ip("route", "add", prefix, "via", via_a, "metric", "20")
            router.settle()
            sent(router, inside, router.b)
        assert "NO-CARRIER" not in str(link(router, "west")["flags"])
        set_cable(router, "down")
        await_true(lambda: "NO-CARRIER" in str(link(router, "west")["flags"]), router)
        assert router.figures()["links_down"] == 1
        for _, inside, via_a, _ in ROUTES:
            await_true(partial(leads_to, router, inside, via_a), router)
            router.settle()
            sent(router, inside, router.a)
        set_cable(router, "up")
        with closing(raw_socket(router.b.namespace, "eth0")) as again:  # the first one has failed
            for _, inside, _, via_b in ROUTES:
                await_true(partial(leads_to, router, inside, via_b), router)
                router.settle()
                sent(router, inside, Host(router.b.namespace, router.b.mac, again))
        assert router.figures()["links_down"] == 0


def test_interface_mtu_above_the_ports_is_set_back() -> None:
    with kernel_router() as router:
        for mtu in ("9000", "2000"):
            router.ip("link", "set", "west", "mtu", mtu)
            await_true(lambda: link(router, "west")["mtu"] == 1500, router)
        assert (router.wsdp.directory / "log").read_text().count("is set back to 1500") == 1
        router.ip("link", "set", "west", "mtu", "1400")
        know_neighbours(router)  # settles
        assert link(router, "west")["mtu"] == 1400
