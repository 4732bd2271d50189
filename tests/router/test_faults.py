# SPDX-License-Identifier: Apache-2.0
"""Check faults of a router's surroundings: no frame reaches a neighbour it is not meant for."""

from __future__ import annotations

import errno
import socket
import subprocess
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from tests.dataplane.kernel_router import (
    Host,
    KernelRouter,
    forget_routes,
    frame_to,
    is_to,
    kernel_router,
    know_neighbours,
    run,
)
from tests.router import netlink
from tests.router.netlink import CREATE, SO_RCVBUFFORCE, Hop, Netlink

B, B6, INSIDE = "10.2.0.2", "2001:db8:2::2", "198.18.7.1"
PREFIX = ip_network("198.18.0.0/15")
PAYLOAD = Raw(b"x" * 100)
MEMBERS = 256
NEIGHBOURS = 5000  # more than the tables have hops
FITTING = 3072  # of all these have a hop; the kernel forwards to the others
FLAPS = 200
UNKNOWN = 3000
BUFFER_BYTES = 64 << 20


@pytest.fixture(scope="module")
def shared() -> Iterator[KernelRouter]:
    with kernel_router() as made:
        know_neighbours(made)
        yield made


@pytest.fixture
def router(shared: KernelRouter) -> Iterator[KernelRouter]:
    """Yield a router with the routes of its links alone."""
    yield shared
    forget_routes(shared)
    know_neighbours(shared)
    shared.a.drop()
    shared.b.drop()


def forwarded(router: KernelRouter, destination: str, mac: str = "") -> None:
    router.a.send(frame_to(router, destination) / UDP(dport=9) / PAYLOAD)
    frame = router.b.receive(is_to(destination))
    assert (frame.src, frame.dst) == (router.macs["west"], mac or router.b.mac)


def read_until(host: Host, destination: str) -> None:
    while not is_to(destination)(Ether(host.socket.recv(65536))):
        pass


def refused(router: KernelRouter, *words: str) -> str:
    """Run a command that the kernel must refuse; return its words."""
    done = subprocess.run(["ip", "-n", router.router, *words], capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode != 0
    return done.stderr


def by_kernel(router: KernelRouter) -> None:
    """Check that the kernel forwards a frame."""
    before = router.figures()["by_kernel"]
    forwarded(router, INSIDE)
    assert router.figures()["by_kernel"] == before + 1


def batch(router: KernelRouter, lines: Iterator[str], file: Path) -> None:
    file.write_text("".join(f"{line}\n" for line in lines))
    router.ip("-batch", str(file))


def test_route_by_an_interface_that_the_router_has_not_is_the_kernels(
    router: KernelRouter,
) -> None:
    router.ip("link", "add", "other", "type", "veth", "peer", "name", "end")
    router.ip("link", "set", "other", "up")
    try:
        router.ip("route", "add", str(PREFIX), "dev", "other")
        router.settle()
        before = router.figures()["by_kernel"]
        router.a.send(frame_to(router, INSIDE) / UDP(dport=9) / PAYLOAD)
        router.wsdp.control.await_task("r", lambda seen: seen["by_kernel"] > before)
    finally:
        router.ip("link", "delete", "other")


def test_next_hop_that_is_the_routers_own_address_reaches_no_neighbour(
    router: KernelRouter,
) -> None:
    """Linux accepts such a route where the address is of the link itself."""
    router.ip("route", "add", str(PREFIX), "via", "10.2.0.1", "dev", "west")
    router.settle()
    router.a.send(frame_to(router, INSIDE) / UDP(dport=9) / PAYLOAD)
    forwarded(router, B)
    forwarded(router, B)
    router.b.socket.settimeout(0.2)
    with pytest.raises(TimeoutError):
        read_until(router.b, INSIDE)


def test_next_hop_that_leads_back_ends_by_its_ttl(router: KernelRouter) -> None:
    router.ip("route", "add", str(PREFIX), "via", "10.1.0.2")
    router.settle()
    router.a.drop()
    frame = frame_to(router, INSIDE, ttl=3) / UDP(dport=9) / PAYLOAD
    for ttl in (2, 1):
        router.a.send(frame)
        frame = router.a.receive(is_to(INSIDE))
        assert (frame.ttl, frame.dst) == (ttl, router.a.mac)
        frame.src, frame.dst = router.a.mac, router.macs["east"]
    router.a.send(frame)
    router.a.receive(lambda seen: ICMP in seen and seen[ICMP].type == 11)


def test_group_without_members_is_refused_and_one_of_256_is_the_kernels(
    router: KernelRouter,
) -> None:
    link = Netlink(router.router)
    west = int(router.ip("-o", "link", "show", "dev", "west").split(":")[0])
    assert link.change([netlink.group(CREATE, 9, [])]) == [errno.EINVAL]
    hops = [netlink.nexthop(netlink.NEWNEXTHOP, CREATE, 1 + i, 4, Hop(west, B))
            for i in range(MEMBERS)]  # fmt: skip
    whole = netlink.group(CREATE, 999, [(1 + i, 1) for i in range(MEMBERS)])
    route = netlink.route(netlink.NEWROUTE, CREATE, PREFIX, nexthop=999)
    assert not any(link.change([*hops, whole, route]))
    link.close()
    router.settle()
    by_kernel(router)


def test_route_of_100_next_hops_is_refused_by_name(router: KernelRouter) -> None:
    west = int(router.ip("-o", "link", "show", "dev", "west").split(":")[0])
    link = Netlink(router.router)
    hops = [Hop(west, B, weight) for weight in range(1, 101)]
    assert link.change([netlink.route(netlink.NEWROUTE, CREATE, PREFIX, hops)]) == [0]
    link.close()
    router.settle()
    by_kernel(router)
    assert router.figures()["refused_next_hops"] > 0


def test_prefix_with_host_bits_is_refused_by_the_kernel(router: KernelRouter) -> None:
    assert "Invalid prefix" in refused(router, "route", "add", "198.18.7.1/15", "via", B)
    router.settle()


def test_mtu_below_1280_ends_ipv6_of_an_interface_alone(router: KernelRouter) -> None:
    router.ip("link", "set", "west", "mtu", "1000")
    try:
        router.settle()
        before = router.figures()
        router.a.send(frame_to(router, B6) / UDP(dport=9) / PAYLOAD)
        router.wsdp.control.await_task("r", lambda seen: seen["no_route"] > before["no_route"])
        forwarded(router, B)
    finally:
        router.ip("link", "set", "west", "mtu", "1500")
        router.ip("-6", "address", "replace", "2001:db8:2::1/64", "dev", "west", "nodad")
    know_neighbours(router)
    forwarded(router, B6)


def test_two_default_routes_are_used_by_their_metrics(router: KernelRouter) -> None:
    before = router.figures()["refused_defaults"]
    router.ip("route", "add", "default", "via", B, "metric", "5")
    router.ip("route", "add", "default", "via", "10.1.0.2", "metric", "9")
    router.settle()
    forwarded(router, "9.9.9.9")
    assert router.figures()["refused_defaults"] == before
    router.ip("route", "append", "default", "via", "10.1.0.2", "metric", "5")
    router.wsdp.control.await_task("r", lambda seen: seen["refused_defaults"] > before)
    assert "several IPv4 default routes" in (router.wsdp.directory / "log").read_text()
    for metric in ("5", "5", "9"):
        router.ip("route", "delete", "default", "metric", metric)


def test_link_that_flaps_200_times_is_followed(router: KernelRouter, tmp_path: Path) -> None:
    router.ip("route", "add", str(PREFIX), "via", "10.1.0.2", "metric", "20")
    lines = (f"link set west {state}" for _ in range(FLAPS) for state in ("down", "up"))
    batch(router, lines, tmp_path / "batch")
    router.ip("-6", "address", "replace", "2001:db8:2::1/64", "dev", "west", "nodad")
    know_neighbours(router)
    forwarded(router, B)
    forwarded(router, B6)
    router.a.drop()
    router.a.send(frame_to(router, INSIDE) / UDP(dport=9) / PAYLOAD)
    assert router.a.receive(is_to(INSIDE)).dst == router.a.mac


def test_more_neighbours_than_hops_are_all_reached(router: KernelRouter, tmp_path: Path) -> None:
    router.ip("address", "add", "10.9.0.1/16", "dev", "west")
    macs = {f"10.9.{i // 250}.{2 + i % 250}": f"02:00:00:09:{i // 250:02x}:{2 + i % 250:02x}"
            for i in range(NEIGHBOURS)}  # fmt: skip
    try:
        lines = (f"neighbour replace {address} lladdr {mac} dev west nud permanent"
                 for address, mac in macs.items())  # fmt: skip
        batch(router, lines, tmp_path / "batch")
        over = NEIGHBOURS - FITTING
        router.wsdp.control.await_task("r", lambda seen: seen["neighbours_over_hops"] >= over)
        # The check takes the same ones, also after one of the first is gone.
        router.settle()
        known = router.figures()["neighbours_over_hops"]
        assert router.figures()["neighbours"] == FITTING
        assert "neighbours (neighbours_over_hops)" in router.log()
        router.ip("neighbour", "delete", "10.9.0.2", "dev", "west")
        router.wsdp.control.await_task("r", lambda seen: seen["neighbours_over_hops"] < known)
        router.settle()
        assert router.figures()["neighbours"] == FITTING
        del macs["10.9.0.2"]
        for address in list(macs)[:: NEIGHBOURS // 50]:
            forwarded(router, address, macs[address])
    finally:
        run("ip", "-n", router.router, "neighbour", "flush", "dev", "west", "nud", "permanent")
        router.ip("address", "delete", "10.9.0.1/16", "dev", "west")


def test_frames_to_thousands_of_unknown_hosts_leave_known_ones_alone(
    router: KernelRouter,
) -> None:
    router.ip("address", "add", "10.9.0.1/16", "dev", "west")
    # Host b receives each ARP request, too: its socket must not drop the frame that is awaited.
    router.b.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    try:
        router.settle()
        for first in range(0, UNKNOWN, 100):
            for host in range(first, first + 100):
                router.a.send(bytes(frame_to(router, f"10.9.{host // 250}.{2 + host % 250}")
                                    / UDP(dport=9) / PAYLOAD))  # fmt: skip
            forwarded(router, B)
        assert router.figures()["neighbours_unknown"] == 0  # no gateway is among them
    finally:
        router.ip("address", "delete", "10.9.0.1/16", "dev", "west")


def test_host_that_claims_the_routers_address_changes_nothing(router: KernelRouter) -> None:
    claim = ARP(op=2, hwsrc=router.b.mac, psrc="10.2.0.1", pdst="10.2.0.1",
                hwdst="ff:ff:ff:ff:ff:ff")  # fmt: skip
    for _ in range(20):
        router.b.send(Ether(src=router.b.mac, dst="ff:ff:ff:ff:ff:ff") / claim)
    router.settle()
    forwarded(router, B)
    router.a.send(frame_to(router, "10.2.0.1") / ICMP(id=77) / PAYLOAD)
    router.a.receive(lambda seen: ICMP in seen and seen[ICMP].type == 0 and seen[ICMP].id == 77)
