# SPDX-License-Identifier: Apache-2.0
"""Check a router that follows a kernel: real routes of iproute2, frames by Scapy, real answers."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from tests.dataplane.kernel_router import (
    KernelRouter,
    forget_routes,
    frame_to,
    is_to,
    kernel_router,
    know_neighbours,
    run,
)
from tests.dataplane.program import DEADLINE_S, check, eal_section, running

pytestmark = pytest.mark.root

PAYLOAD = Raw(b"x" * 100)
B, B6 = "10.2.0.2", "2001:db8:2::2"
SHARED = 32  # lookups, so that each CPU keeps one of each next hop


@pytest.fixture(scope="module")
def shared() -> Iterator[KernelRouter]:
    with kernel_router() as made:
        know_neighbours(made)
        yield made


@pytest.fixture
def router(shared: KernelRouter) -> Iterator[KernelRouter]:
    """Yield a router without routes but those of its links, and cables without frames."""
    yield shared
    forget_routes(shared)
    shared.settle()
    shared.a.drop()
    shared.b.drop()


def forwarded(router: KernelRouter, destination: str, mac: str, flow: int = 1) -> None:
    """Send a frame to an address; check that it reaches this neighbour, as a router sends it."""
    router.a.send(frame_to(router, destination, flow=flow) / UDP(dport=9) / PAYLOAD)
    frame = router.b.receive(is_to(destination))
    assert (frame.src, frame.dst) == (router.macs["west"], mac)
    assert (frame.hlim if IPv6 in frame else frame.ttl) == 63
    assert frame[Raw].load == PAYLOAD.load


@pytest.mark.parametrize(
    ("prefix", "inside", "via"),
    [("198.18.0.0/15", "198.18.7.1", B), ("2001:2::/48", "2001:2::7", B6)],
)
def test_kernel_route_is_followed_until_it_is_deleted(
    router: KernelRouter, prefix: str, inside: str, via: str
) -> None:
    router.ip("route", "add", prefix, "via", via)
    router.settle()
    forwarded(router, inside, router.b.mac)
    router.ip("route", "replace", "blackhole", prefix)
    router.settle()
    router.ip("route", "replace", prefix, "via", via)
    router.settle()
    forwarded(router, inside, router.b.mac)
    router.ip("route", "delete", prefix)
    router.settle()
    frame = frame_to(router, inside) / UDP(dport=9) / PAYLOAD
    before = router.figures()["no_route"]
    router.a.send(frame)
    router.wsdp.control.await_task("r", lambda seen: seen["no_route"] > before)


def test_kernel_several_routes_of_a_prefix_leave_the_one_that_it_uses(
    router: KernelRouter,
) -> None:
    macs = {f"10.2.0.{host}": f"02:00:00:00:00:{host:02x}" for host in (3, 4, 5)}
    for address, mac in macs.items():
        router.ip("neighbour", "replace", address, "lladdr", mac, "dev", "west", "nud", "permanent")
    for verb, address in (
        ("add", "10.2.0.3"),
        ("append", "10.2.0.4"),
        ("replace", "10.2.0.5"),
        ("delete", "10.2.0.5"),
    ):
        router.ip("route", verb, "198.18.0.0/15", "via", address)
    router.settle()
    forwarded(router, "198.18.7.1", macs["10.2.0.4"])
    for address in macs:
        router.ip("neighbour", "delete", address, "dev", "west")


def test_kernel_prefix_of_two_interfaces_is_that_of_the_kernel(router: KernelRouter) -> None:
    for interface in ("east", "west"):
        router.ip("-6", "route", "append", "2001:2:5::/48", "dev", interface)
        router.settle()
    router.ip("-6", "neighbour", "replace", "2001:2:5::9", "lladdr", "02:00:00:00:00:09",
              "dev", "east", "nud", "permanent")  # fmt: skip
    router.settle()
    router.a.send(frame_to(router, "2001:2:5::9") / UDP(dport=9) / PAYLOAD)
    assert router.a.receive(is_to("2001:2:5::9")).dst == "02:00:00:00:00:09"
    router.ip("-6", "neighbour", "delete", "2001:2:5::9", "dev", "east")


def test_kernel_connected_hosts_are_forwarded_to_at_once(router: KernelRouter) -> None:
    forwarded(router, B, router.b.mac)
    forwarded(router, B6, router.b.mac)
    assert router.figures()["neighbours"] >= 4


def test_kernel_neighbour_that_moves_is_followed(router: KernelRouter) -> None:
    for mac in ("02:00:00:00:00:77", router.b.mac):
        router.ip("neighbour", "replace", B, "lladdr", mac, "dev", "west", "nud", "permanent")
        router.settle()
        forwarded(router, B, mac)


@pytest.mark.parametrize("objects", [False, True], ids=["multipath", "nexthop-objects"])
def test_kernel_multipath_uses_all_next_hops(router: KernelRouter, objects: bool) -> None:
    macs = {"10.2.0.3": "02:00:00:00:00:03", "10.2.0.4": "02:00:00:00:00:04"}
    for address, mac in macs.items():
        router.ip("neighbour", "replace", address, "lladdr", mac, "dev", "west", "nud", "permanent")
    if objects:
        for number, address in enumerate(macs, 1):
            router.ip("nexthop", "add", "id", str(number), "via", address, "dev", "west")
        router.ip("nexthop", "add", "id", "9", "group", "1/2")
        router.ip("route", "add", "198.18.0.0/15", "nhid", "9")
    else:
        hops = [word for one in macs for word in ("nexthop", "via", one, "dev", "west")]
        router.ip("route", "add", "198.18.0.0/15", *hops)
    router.settle()
    assert router.figures()["groups"] == 1, router.figures()
    used = set()
    for port in range(1, 33):
        router.a.send(frame_to(router, "198.18.0.1") / UDP(sport=port, dport=9) / PAYLOAD)
        used.add(router.b.receive(is_to("198.18.0.1")).dst)
    assert used == set(macs.values())
    for address in macs:
        router.ip("neighbour", "delete", address, "dev", "west")


def test_check_of_ipv6_routes_that_share_a_next_hop_object_finds_no_difference(
    router: KernelRouter,
) -> None:
    """Asked for an address, Linux may answer with the prefix of another route of the object."""
    router.ip("nexthop", "add", "id", "6", "via", "2001:db8:2::2", "dev", "west")
    for number in range(16):
        router.ip("-6", "route", "add", f"2400:{number:x}00::/40", "nhid", "6")
    router.settle()


def test_check_of_an_ipv6_route_whose_object_is_in_a_group_of_another_finds_no_difference(
    router: KernelRouter,
) -> None:
    """Asked for an address of the one, Linux may answer with the other's next hops."""
    for number, (address, interface) in enumerate(
        (("2001:db8:2::2", "west"), ("2001:db8:1::2", "east")), 6
    ):
        router.ip("nexthop", "add", "id", str(number), "via", address, "dev", interface)
    router.ip("nexthop", "add", "id", "9", "group", "6/7")
    router.ip("-6", "route", "add", "2400::/16", "nhid", "9")
    router.ip("-6", "route", "add", "2401::/16", "nhid", "6")
    for number in range(SHARED):
        router.ip("route", "get", "fibmatch", f"2400::{number:x}")
    router.settle()


def test_check_of_an_ipv6_route_whose_object_a_deleted_one_had_finds_no_difference(
    router: KernelRouter,
) -> None:
    """Asked for the one, Linux may answer that there is no route."""
    router.ip("nexthop", "add", "id", "6", "via", "2001:db8:2::2", "dev", "west")
    for prefix in ("2400::/16", "2401::/16"):
        router.ip("-6", "route", "add", prefix, "nhid", "6")
    for number in range(SHARED):
        router.ip("route", "get", f"2401::{number:x}")
    router.ip("-6", "route", "delete", "2401::/16", "nhid", "6")
    router.settle()


def test_kernel_answers_for_its_addresses(router: KernelRouter) -> None:
    """ARP, ping and TCP reach the kernel, and its answers the cable."""
    ether = Ether(src=router.a.mac, dst="ff:ff:ff:ff:ff:ff")
    router.a.send(ether / ARP(hwsrc=router.a.mac, psrc="10.1.0.2", pdst="10.1.0.1"))
    reply = router.a.receive(lambda frame: ARP in frame and frame[ARP].op == 2)
    assert reply[ARP].hwsrc == router.macs["east"]
    router.a.send(frame_to(router, "10.1.0.1") / ICMP(id=77) / PAYLOAD)
    router.a.receive(lambda frame: ICMP in frame and frame[ICMP].type == 0)
    before = router.figures()["punted_protocol"]
    router.a.send(frame_to(router, "10.1.0.1", ttl=1) / TCP(sport=777, dport=179, flags="S"))
    router.a.receive(lambda frame: TCP in frame and frame[TCP].sport == 179)
    assert router.figures()["punted_protocol"] > before


@pytest.mark.parametrize("kind", ["expired", "multicast"])
def test_kernel_flood_leaves_bgp_alone(router: KernelRouter, kind: str) -> None:
    frame = {
        "expired": frame_to(router, B, ttl=1),
        "multicast": frame_to(router, "239.1.1.1"),
    }[kind]
    if kind == "multicast":
        frame.dst = "01:00:5e:01:01:01"
    before = router.figures()
    flood = [bytes(frame / UDP(dport=9) / PAYLOAD)] * 100
    for _ in range(30):  # the port may drop one: nothing sends it again
        router.a.send(*flood)
        router.a.send(frame_to(router, "10.1.0.1", ttl=1) / TCP(sport=778, dport=179, flags="S"))
    router.a.receive(lambda frame: TCP in frame and frame[TCP].dport == 778)
    after = router.figures()
    assert after["punted_rest"] > before["punted_rest"]
    assert after["over_rate_protocol"] == before["over_rate_protocol"]
    assert after["punted_protocol"] - before["punted_protocol"] < 1000


def tagged(router: KernelRouter, destination: str, *, vlan: int) -> Packet:
    frame = frame_to(router, destination)
    return Ether(src=frame.src, dst=frame.dst) / Dot1Q(vlan=vlan, prio=5) / frame.payload


def test_kernel_vlan_that_no_interface_has_is_dropped(router: KernelRouter) -> None:
    before = router.figures()
    router.a.send(tagged(router, B, vlan=7) / UDP(dport=9) / PAYLOAD)
    router.wsdp.control.await_task("r", lambda seen: seen["unknown_vlan"] > before["unknown_vlan"])
    assert router.figures()["punted_rest"] == before["punted_rest"]


def test_kernel_tag_of_a_priority_alone_is_no_vlan(router: KernelRouter) -> None:
    router.a.send(tagged(router, B, vlan=0) / UDP(dport=9) / PAYLOAD)
    frame = router.b.receive(is_to(B))
    assert (frame.src, frame.dst, frame.ttl) == (router.macs["west"], router.b.mac, 63)
    router.a.send(tagged(router, "10.1.0.1", vlan=0) / ICMP(id=78) / PAYLOAD)
    router.a.receive(lambda seen: ICMP in seen and seen[ICMP].type == 0 and seen[ICMP].id == 78)


def test_kernel_interface_down_stops_its_frames(router: KernelRouter) -> None:
    before = router.figures()["interface_down"]
    router.ip("link", "set", "east", "down")
    try:
        router.settle()
        router.a.send(frame_to(router, B) / UDP(dport=9) / PAYLOAD)
        router.wsdp.control.await_task("r", lambda seen: seen["interface_down"] > before)
    finally:
        router.ip("link", "set", "east", "up")
        router.ip("-6", "address", "replace", "2001:db8:1::1/64", "dev", "east", "nodad")
        know_neighbours(router)
    forwarded(router, B, router.b.mac)


def test_kernel_state_that_is_not_mirrored_is_named_once(router: KernelRouter) -> None:
    router.ip("rule", "add", "to", "198.51.100.0/24", "table", "77", "priority", "100")
    router.ip("route", "add", "198.51.100.0/24", "via", B, "table", "77")
    try:
        seen = router.wsdp.control.await_task(
            "r", lambda now: now["refused_rule"] > 0 and now["refused_table"] > 0
        )
        assert seen["malformed"] == 0
        assert_refusals_are_named_once(router)
        router.ip("route", "add", "198.18.0.0/15", "via", B)
        router.settle()
        assert_refusals_are_named_once(router)
    finally:
        router.ip("rule", "delete", "priority", "100")
        router.ip("route", "flush", "table", "77")


def assert_refusals_are_named_once(router: KernelRouter) -> None:
    log = (router.wsdp.directory / "log").read_text()
    assert log.count("policy rules are not followed") == 1
    assert log.count("routes of tables other than main, local and those of VRFs are not used") == 1


def test_kernel_that_routes_otherwise_than_the_tables_is_found_without_a_question(
    router: KernelRouter,
) -> None:
    """Packets do not show that a policy rule concerns them, so they go by the main table."""
    before = router.figures()["sampled_wrong"]
    router.ip("route", "add", "198.18.0.0/15", "via", B)
    router.settle()
    router.ip("rule", "add", "to", "198.18.0.0/15", "table", "77", "priority", "100")
    router.ip("route", "add", "blackhole", "198.18.0.0/15", "table", "77")
    try:
        router.wsdp.control.await_task("r", lambda seen: seen["sampled_wrong"] > before)
        assert router.differences() > 0
        assert '"kernel": "dropped", "fib": "by west to' in router.log()
        log = (router.wsdp.directory / "log").read_text()
        assert "it routes otherwise than the tables" in log
    finally:
        router.ip("rule", "delete", "priority", "100")
        router.ip("route", "flush", "table", "77")


def test_kernel_route_left_to_the_kernel_is_forwarded_by_it(router: KernelRouter) -> None:
    router.ip("route", "add", "198.18.0.0/15", "via", B, "mtu", "1400")
    router.settle()
    assert router.figures()["routes_by_kernel"] >= 1
    before = router.figures()["by_kernel"]
    router.a.send(frame_to(router, "198.18.0.1") / UDP(dport=9) / PAYLOAD)
    assert router.b.receive(is_to("198.18.0.1")).dst == router.b.mac
    assert router.figures()["by_kernel"] > before


def test_kernel_frame_larger_than_an_mbuf_is_dropped_whole(shared: KernelRouter) -> None:
    """A ring has no MTU that would limit its interface's."""
    rings = "[ring.i]\nsize = 64\n[ring.o]\nsize = 64\n"
    tasks = (
        "[task.s]\ntype = router\nlcore = 1\nrx = ring:i\ntx = ring:o\nkernel = north\n"
        f"kernel_netns = /run/netns/{shared.router}\n"
        "[task.back]\ntype = io\nlcore = 2\nrx = ring:o\ntx = ring:i\n"
    )
    with running(f"[pool]\nmbufs = 4096\n{rings}{tasks}") as other:
        shared.ip("link", "set", "north", "mtu", "9000", "up")
        shared.ip("address", "add", "10.3.0.1/24", "dev", "north")
        shared.ip("neighbour", "replace", "10.3.0.2", "lladdr", "02:00:00:00:00:32",
                  "dev", "north", "nud", "permanent")  # fmt: skip
        send = "from socket import *; socket(AF_INET, SOCK_DGRAM).sendto(bytes(4000), {})"
        to = send.format(("10.3.0.2", 9))
        run("ip", "netns", "exec", shared.router, sys.executable, "-c", to)
        other.control.await_task("s", lambda seen: seen["from_kernel_no_room"] > 0)
    shared.settle()


def test_kernel_port_of_no_tx_is_refused(shared: KernelRouter, tmp_path: Path) -> None:
    done = check(
        f"{eal_section()}[pool]\nmbufs = 1024\n[port.a]\ndevice = net_ring0\n"
        "[port.c]\ndevice = net_ring1\n"
        "[task.r]\ntype = router\nlcore = 1\nrx = c:0\ntx = a:0\n"
        f"kernel = north\nkernel_netns = /run/netns/{shared.router}\n",
        tmp_path,
    )
    assert done.returncode != 0
    assert "rx: number 0 has no interface: no tx is on the same port" in done.stderr


def test_kernel_reload_from_a_file_is_refused(router: KernelRouter) -> None:
    assert router.wsdp.control.ask("reload", "r", "/dev/null") == {
        "error": "r: its tables follow the kernel's: change those"
    }


def test_kernel_notifications_that_are_lost_lead_to_a_dump() -> None:
    """A socket of 4 kB cannot hold what `ip -batch` changes at once."""
    with kernel_router("kernel_buffer_bytes = 4096\n") as router:
        know_neighbours(router)
        routes = [f"route add 198.18.{i // 250}.{i % 250}/32 via {B}" for i in range(3000)]
        deadline = time.monotonic() + DEADLINE_S
        lost = router.figures()["notifications_lost"]  # by the setup, maybe
        while router.figures()["notifications_lost"] == lost:
            assert time.monotonic() < deadline
            router.ip("route", "flush", "proto", "boot")
            from_file(router, routes)
        router.settle()
        assert router.figures()["routes_ipv4"] >= len(routes)
        assert router.figures()["dumps"] > 1
        forwarded(router, "198.18.11.1", router.b.mac)
        assert router.wsdp.end() == 0


@pytest.mark.parametrize(("room", "fits"), [(20_000, True), (10_000_000, False)])
def test_room_from_the_start_takes_routes_and_is_done_without_where_it_does_not_fit(
    room: int, fits: bool
) -> None:
    with kernel_router(f"room_ipv4 = {room}\n") as router:
        know_neighbours(router)
        router.wsdp.control.await_task("r", lambda seen: bool(seen["spare_tables"]))
        before = router.figures()
        routes = [f"route add 198.18.{i // 250}.{i % 250}/32 via {B}" for i in range(12_000)]
        from_file(router, routes)
        router.settle()
        after = router.figures()
        assert after["routes_ipv4"] == before["routes_ipv4"] + len(routes)
        assert (after["builds"] == before["builds"]) == fits
        assert (after["in_place"], after["routes_without_room"]) == (0, 0)
        forwarded(router, "198.18.47.1", router.b.mac)
        assert router.wsdp.end() == 0


def from_file(router: KernelRouter, commands: list[str]) -> None:
    file = router.wsdp.directory / "batch"
    file.write_text("".join(f"{line}\n" for line in commands))
    router.ip("-batch", str(file))
