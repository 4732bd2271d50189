# SPDX-License-Identifier: Apache-2.0
"""Send a router's BGP daemon looping and broken AS paths: they bring no route, and others stay."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import closing
from ipaddress import ip_network

from scapy.layers.inet import UDP
from scapy.packet import Raw

from tests.dataplane.frr import frr
from tests.dataplane.kernel_router import (
    KernelRouter,
    entered,
    frame_to,
    is_to,
    kernel_router,
    know_neighbours,
)
from tests.dataplane.program import DEADLINE_S
from tests.dataplane.test_kernel_frr import CONFIGURATIONS

OWN, PEER = 65001, 65002
ROUTER, B = "10.2.0.1", "10.2.0.2"
ENDED, OPEN, UPDATE, NOTIFICATION, KEEPALIVE = range(5)
HOLD_S = 180
SET, SEQUENCE, CONFEDERATION = 1, 2, 3
STATIC, PAYLOAD = "203.0.113.7", Raw(b"x" * 100)


def network(address: str) -> str:
    return f"{address.removesuffix('.7')}.0/24"


def segment(kind: int, *numbers: int) -> bytes:
    return struct.pack(f"!BB{len(numbers)}H", kind, len(numbers), *numbers)


PATHS = {
    "loop": segment(SEQUENCE, PEER, OWN),
    "loop in a set": segment(SEQUENCE, PEER) + segment(SET, 64999, OWN),
    "empty segment": segment(SEQUENCE, PEER) + segment(SEQUENCE),
    "unknown segment": segment(9, PEER),
    "segment beyond the attribute": struct.pack("!BBH", SEQUENCE, 200, PEER),
    "half a number": segment(SEQUENCE, PEER) + b"\x02",
    "confederation": segment(CONFEDERATION, PEER),
    "AS 0": segment(SEQUENCE, PEER, 0),
}


def attribute(flags: int, kind: int, octets: bytes) -> bytes:
    return struct.pack("!BBH", flags | 0x10, kind, len(octets)) + octets


def message(kind: int, octets: bytes = b"") -> bytes:
    return b"\xff" * 16 + struct.pack("!HB", 19 + len(octets), kind) + octets


def update(path: bytes, prefix: str) -> bytes:
    """Return an announcement of a prefix of 24 bits with this AS path."""
    attributes = attribute(0x40, 1, b"\0") + attribute(0x40, 2, path)
    attributes += attribute(0x40, 3, socket.inet_aton(B))
    octets = b"\x18" + ip_network(prefix).network_address.packed[:3]
    return message(UPDATE, struct.pack("!HH", 0, len(attributes)) + attributes + octets)


def received(connection: socket.socket) -> int:
    """Return the type of the next message, or ENDED."""
    try:
        head = connection.recv(19, socket.MSG_WAITALL)
    except ConnectionResetError:
        return ENDED
    if len(head) < 19:
        return ENDED
    length, kind = struct.unpack("!HB", head[16:])
    if length > 19:
        connection.recv(length - 19, socket.MSG_WAITALL)
    return int(kind)


def session(router: KernelRouter) -> socket.socket:
    """Return an established session of host b with the router, with AS numbers of 2 octets.

    A daemon that has just begun takes none.
    """
    deadline = time.monotonic() + DEADLINE_S
    opening = struct.pack("!BHH4sB", 4, PEER, HOLD_S, socket.inet_aton(B), 0)
    while True:
        connection = entered(
            router.b.namespace,
            lambda: socket.create_connection((ROUTER, 179), DEADLINE_S, source_address=(B, 0)),
        )
        connection.send(message(OPEN, opening) + message(KEEPALIVE))
        while (kind := received(connection)) == OPEN:
            pass
        if kind == KEEPALIVE:
            return connection
        connection.close()
        assert time.monotonic() < deadline, kind
        time.sleep(0.1)


def is_up(connection: socket.socket) -> bool:
    """Return whether no message that has come ends the session."""
    connection.settimeout(0.1)
    kinds = list[int]()
    try:
        while ENDED not in kinds:
            kinds.append(received(connection))
    except TimeoutError:
        pass
    return not {ENDED, NOTIFICATION} & set(kinds)


def is_not_forwarded(router: KernelRouter, destination: str) -> None:
    before = router.figures()["no_route"]
    router.a.send(frame_to(router, destination) / UDP(dport=9) / PAYLOAD)
    router.wsdp.control.await_task("r", lambda seen: seen["no_route"] > before)


def forwarded(router: KernelRouter, destination: str) -> None:
    router.a.send(frame_to(router, destination) / UDP(dport=9) / PAYLOAD)
    assert router.b.receive(is_to(destination)).dst == router.b.mac


def attack(router: KernelRouter, path: bytes, number: int) -> bool:
    """Announce a prefix with a path, and another one. Return whether the session stays."""
    bad, good = f"198.18.{number}.7", f"198.19.{number}.7"
    with closing(session(router)) as connection:
        connection.send(update(path, network(bad)) + update(segment(SEQUENCE, PEER), network(good)))
        deadline = time.monotonic() + DEADLINE_S
        while stays := is_up(connection):
            if f"{network(good)} " in router.ip("route", "show", "proto", "bgp"):
                break
            assert time.monotonic() < deadline
        router.settle()
        assert network(bad) not in router.ip("route", "show")
        is_not_forwarded(router, bad)
        if stays:
            forwarded(router, good)
        forwarded(router, STATIC)
        return stays


def test_as_paths_that_must_not_be_bring_no_route_and_leave_others() -> None:
    """FRR ends the session after a path that cannot be read, and takes a new one."""
    with kernel_router() as router, frr(router.router, CONFIGURATIONS):
        know_neighbours(router)
        router.ip("route", "add", network(STATIC), "via", B)
        router.settle()
        stayed = {name: attack(router, path, n) for n, (name, path) in enumerate(PATHS.items())}
    print(f"\nsessions that stayed: {[name for name, stays in stayed.items() if stays]}")
    assert stayed["loop"]
    assert stayed["loop in a set"]
