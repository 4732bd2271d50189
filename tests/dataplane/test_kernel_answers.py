# SPDX-License-Identifier: Apache-2.0
"""Check what the kernel answers for packets that a router which follows it does not forward."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import ICMPv6DestUnreach, ICMPv6PacketTooBig, ICMPv6TimeExceeded
from scapy.packet import Packet, Raw

from tests.dataplane.kernel_router import KernelRouter, frame_to, kernel_router, know_neighbours

pytestmark = pytest.mark.root

PAYLOAD = Raw(b"x" * 100)
LARGE = Raw(b"x" * 1350)
B, B6 = "10.2.0.2", "2001:db8:2::2"


@pytest.fixture(scope="module")
def router() -> Iterator[KernelRouter]:
    with kernel_router() as made:
        know_neighbours(made)
        yield made


@pytest.fixture
def narrow(router: KernelRouter) -> Iterator[KernelRouter]:
    """Yield the router while packets of 1,300 octets are the largest that leave it."""
    router.ip("link", "set", "west", "mtu", "1300")
    router.settle()
    yield router
    router.ip("link", "set", "west", "mtu", "1500")
    router.settle()


def answer(router: KernelRouter, frame: Packet, wanted: Callable[[Packet], bool]) -> Packet:
    router.a.drop()
    router.a.send(frame)
    return router.a.receive(wanted)


def test_kernel_answers_an_expired_ttl_with_its_own_address(router: KernelRouter) -> None:
    frame = frame_to(router, B, ttl=1) / UDP(dport=9) / PAYLOAD
    found = answer(router, frame, lambda seen: ICMP in seen and seen[ICMP].type == 11)
    assert found[IP].src == "10.1.0.1"


def test_kernel_answers_an_expired_hop_limit(router: KernelRouter) -> None:
    frame = frame_to(router, B6, ttl=1) / UDP(dport=9) / PAYLOAD
    answer(router, frame, lambda seen: ICMPv6TimeExceeded in seen)


def test_kernel_answers_that_there_is_no_route(router: KernelRouter) -> None:
    """The kernel limits these answers for each host, and counts all earlier answers to it."""
    host = "10.1.0.9"
    router.ip("neighbour", "replace", host, "lladdr", router.a.mac, "dev", "east",
              "nud", "permanent")  # fmt: skip
    frame = frame_to(router, "198.18.7.1") / UDP(dport=9) / PAYLOAD
    frame[IP].src = host
    found = answer(router, frame, lambda seen: ICMP in seen and seen[ICMP].type == 3)
    assert (found[IP].src, found[ICMP].code) == ("10.1.0.1", 0)  # net unreachable


def test_kernel_answers_that_there_is_no_ipv6_route(router: KernelRouter) -> None:
    frame = frame_to(router, "2001:2::7") / UDP(dport=9) / PAYLOAD
    found = answer(router, frame, lambda seen: ICMPv6DestUnreach in seen)
    assert found[ICMPv6DestUnreach].code == 0  # no route to destination


def test_kernel_answers_a_packet_that_must_not_be_fragmented_with_the_mtu(
    narrow: KernelRouter,
) -> None:
    frame = frame_to(narrow, B) / UDP(dport=9) / LARGE
    frame[IP].flags = "DF"
    found = answer(narrow, frame, lambda seen: ICMP in seen and seen[ICMP].type == 3)
    assert (found[ICMP].code, found[ICMP].nexthopmtu) == (4, 1300)


def test_kernel_answers_an_ipv6_packet_that_is_too_big_with_the_mtu(narrow: KernelRouter) -> None:
    frame = frame_to(narrow, B6) / UDP(dport=9) / LARGE
    found = answer(narrow, frame, lambda seen: ICMPv6PacketTooBig in seen)
    assert found[ICMPv6PacketTooBig].mtu == 1300
