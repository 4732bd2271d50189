# SPDX-License-Identifier: Apache-2.0
"""Compare what a router answers with what plain Linux of the same configuration does.

Frames are compared octet by octet, but for identifiers and checksums, with those of a namespace
that forwards by its kernel alone: by Scapy, and by the tools that users have.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_RR, fragment
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6ND_NS,
    ICMPv6ND_RS,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
    IPv6ExtHdrHopByHop,
    RouterAlert,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from tests.dataplane.kernel_router import (
    Host,
    KernelRouter,
    LinuxRouter,
    Wsdp,
    frame_to,
    kernel_router,
    linux_router,
)
from tests.dataplane.program import DEADLINE_S

B, B6 = "10.2.0.2", "2001:db8:2::2"
NARROW_MTU = 1300
PAYLOAD, LARGE = Raw(b"x" * 100), Raw(b"x" * 1350)
_QUIET_S = 0.3  # since the last frame: all answers have come
_EXPECTED_S = 5.0


@dataclass(frozen=True, slots=True)
class Pair:
    linux: LinuxRouter
    wsdp: KernelRouter


def _set_up(router: LinuxRouter) -> None:
    """Give a router routes of each kind, permanent neighbours, and a narrow link to b."""
    router.ip("link", "set", "west", "mtu", str(NARROW_MTU))
    for host, side in ((router.a, 1), (router.b, 2)):
        interface = "east" if side == 1 else "west"
        for address in (f"10.{side}.0.2", f"2001:db8:{side}::2"):
            router.ip("neighbour", "replace", address, "lladdr", host.mac, "dev", interface,
                      "nud", "permanent")  # fmt: skip
    router.ip("route", "add", "198.18.0.0/16", "via", B)
    router.ip("route", "add", "unreachable", "198.19.0.0/16")
    router.ip("route", "add", "prohibit", "198.20.0.0/16")
    router.ip("route", "add", "blackhole", "198.21.0.0/16")
    router.ip("-6", "route", "add", "2001:2::/48", "via", B6)
    router.ip("-6", "route", "add", "unreachable", "2001:3::/48")
    router.ip("-6", "route", "add", "prohibit", "2001:4::/48")
    router.ip("-6", "route", "add", "blackhole", "2001:5::/48")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        # net_af_packet would have the kernel put fragments together.
        wsdp = stack.enter_context(kernel_router(wsdp=Wsdp("punt_fps = 0\n", driver="net_pcap")))
        made = Pair(stack.enter_context(linux_router()), wsdp)
        _set_up(made.linux)
        _set_up(made.wsdp)
        made.wsdp.settle()
        yield made


def _plain(frame: Packet) -> bytes:
    """Return a frame without identifiers and checksums, those of a quoted packet included."""
    for layer in (IP, "IPerror"):
        if layer in frame:
            frame[layer].id = 0
            frame[layer].chksum = 0
    for layer in ("ICMP", "UDP", "TCP", "UDPerror", "TCPerror", "ICMPerror"):
        if layer in frame:
            frame[layer].chksum = 0
    for each in frame.iterpayloads():
        if hasattr(each, "cksum"):
            each.cksum = 0
    if "TCP" in frame:
        frame["TCP"].seq = 0
    return bytes(frame)


def _is_answer(frame: Packet) -> bool:
    """Return whether a frame has to do with what was sent: not what hosts send by themselves."""
    if IPv6 in frame and frame[IPv6].src.startswith("fe80"):
        return "Echo" in frame.summary()
    return not any(word in frame.summary() for word in ("MLReport", "MLDv2", "IGMP", "who has"))


def _answers(host: Host) -> list[bytes]:
    """Return the frames that wait at a host."""
    found = []
    host.socket.setblocking(False)
    try:
        while True:
            frame = Ether(host.socket.recv(65536))
            if _is_answer(frame):
                found.append(_plain(frame))
    except BlockingIOError:
        return found


def _exchange(router: LinuxRouter, frames: list[Packet], expected: int) -> Counter[bytes]:
    """Send frames of host a; return what comes to both hosts, for at least `expected` frames."""
    router.a.drop()
    router.b.drop()
    router.a.send(*frames)
    found: Counter[bytes] = Counter()
    began = last = time.monotonic()
    while True:
        # The time before the look: what came while this process had no CPU is still read.
        now = time.monotonic()
        came = [name + each for name, host in ((b"a ", router.a), (b"b ", router.b))
                for each in _answers(host)]  # fmt: skip
        found.update(came)
        if came:
            last = now
        is_quiet = now >= last + _QUIET_S and found.total() >= expected
        if is_quiet or now >= began + _EXPECTED_S:
            return found
        time.sleep(0.01)


@dataclass
class _Clock:
    """Time that passes by sleeping, each time at least this long."""

    least_s: float
    now_s: float = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += max(seconds, self.least_s)


@dataclass
class _Cable:
    """Socket to which a frame comes at each of these times."""

    clock: _Clock
    times_s: list[float]

    def setblocking(self, _flag: bool) -> None:
        pass

    def send(self, _frame: bytes) -> None:
        pass

    def recv(self, _size: int) -> bytes:
        if not self.times_s or self.times_s[0] > self.clock.now_s:
            raise BlockingIOError
        self.times_s.pop(0)
        return bytes(Ether() / IP() / UDP())


@pytest.mark.parametrize(
    ("times_s", "least_s", "expected"),
    [([0.1, 0.35, 0.6, 0.85], 0.0, 1), ([0.25, 0.5], 0.0, 0), ([0.1, 0.2], 9.0, 1)],
    ids=["apart", "none expected", "no CPU meanwhile"],
)
def test_exchange_frames_that_come_late_are_all_found(
    monkeypatch: pytest.MonkeyPatch, times_s: list[float], least_s: float, expected: int
) -> None:
    clock, number = _Clock(least_s), len(times_s)
    monkeypatch.setattr(sys.modules[__name__], "time", clock)
    a, b = (Host("", "", cast("socket.socket", _Cable(clock, times))) for times in ([], times_s))
    found = _exchange(LinuxRouter(a, b, "", {}), [], expected)
    assert found.total() == number


FRAMES: dict[str, Callable[[LinuxRouter], list[Packet]]] = {
    "forwarded": lambda r: [frame_to(r, to, ttl=ttl) / UDP(dport=9) / PAYLOAD
                            for to in ("198.18.7.1", "2001:2::7", B, B6) for ttl in (2, 64, 255)],
    "ttl": lambda r: [frame_to(r, to, ttl=ttl) / UDP(dport=9) / PAYLOAD
                      for to in (B, B6, "198.18.7.1") for ttl in (0, 1)],
    "no-route": lambda r: [frame_to(r, to) / UDP(dport=9) / PAYLOAD
                           for to in ("203.0.113.1", "2001:9::1")],
    "unreachable": lambda r: [frame_to(r, to) / UDP(dport=9) / PAYLOAD
                              for to in ("198.19.0.1", "2001:3::1")],
    "prohibited": lambda r: [frame_to(r, to) / UDP(dport=9) / PAYLOAD
                             for to in ("198.20.0.1", "2001:4::1")],
    "blackhole": lambda r: [frame_to(r, to) / UDP(dport=9) / PAYLOAD
                            for to in ("198.21.0.1", "2001:5::1")],
    "too-big": lambda r: [_unfragmented(frame_to(r, B)) / UDP(dport=9) / LARGE,
                          frame_to(r, B6) / UDP(dport=9) / LARGE],
    "fragmented": lambda r: [frame_to(r, B) / UDP(dport=9) / LARGE],
    "fragments": lambda r: _pieces(r, frame_to(r, B) / UDP(dport=9) / LARGE, 600),
    "options": lambda r: [_recorded(frame_to(r, B)) / UDP(dport=9) / PAYLOAD,
                          frame_to(r, B6) / IPv6ExtHdrHopByHop(options=[RouterAlert()])
                          / UDP(dport=9) / PAYLOAD],
    "ping": lambda r: [frame_to(r, "10.1.0.1") / ICMP(id=7) / PAYLOAD,
                       frame_to(r, "10.2.0.1") / ICMP(id=7) / PAYLOAD,
                       frame_to(r, "2001:db8:1::1") / ICMPv6EchoRequest(id=7, data=b"x" * 99),
                       frame_to(r, "2001:db8:2::1") / ICMPv6EchoRequest(id=7, data=b"x" * 99)],
    "ping-large": lambda r: _pieces(
        r, frame_to(r, "10.1.0.1") / ICMP(id=8) / Raw(b"x" * 3000), 1400),
    "closed-ports": lambda r: [frame_to(r, to) / layer for to in ("10.1.0.1", "2001:db8:1::1")
                               for layer in (UDP(dport=9), TCP(sport=99, dport=9, flags="S"))],
    "arp": lambda r: [Ether(src=r.a.mac, dst="ff:ff:ff:ff:ff:ff")
                      / ARP(hwsrc=r.a.mac, psrc="10.1.0.2", pdst=to)
                      for to in ("10.1.0.1", "10.2.0.1", "10.1.0.77")],
    "nd": lambda r: [_solicited(r, "2001:db8:1::1"), _solicited(r, "2001:db8:1::77")],
    "rs": lambda r: [Ether(src=r.a.mac, dst="33:33:00:00:00:02")
                     / IPv6(src="2001:db8:1::2", dst="ff02::2", hlim=255) / ICMPv6ND_RS()
                     / ICMPv6NDOptSrcLLAddr(lladdr=r.a.mac)],
    "priority-tag": lambda r: [Ether(src=r.a.mac, dst=r.macs["east"]) / Dot1Q(vlan=0, prio=5)
                               / frame_to(r, "10.1.0.1").payload / ICMP(id=9) / PAYLOAD],
    "martians": lambda r: [_from(frame_to(r, B), source) / UDP(dport=9) / PAYLOAD
                           for source in ("127.0.0.1", "224.0.0.1", "255.255.255.255")],
    "bad-header": lambda r: [_damaged(frame_to(r, B) / UDP(dport=9) / PAYLOAD)],
    "to-another-mac": lambda r: [_to_mac(frame_to(r, B) / UDP(dport=9) / PAYLOAD)],
}  # fmt: skip
# Only of these nothing comes: comparing nothing proves nothing.
SILENT = ("blackhole", "martians", "bad-header", "to-another-mac", "rs")


def _pieces(router: LinuxRouter, packet: Packet, size: int) -> list[Packet]:
    """Return the fragments of a packet in frames of host a."""
    ether = Ether(src=router.a.mac, dst=router.macs["east"])
    return [ether / one for one in fragment(packet[IP], size)]  # type: ignore[no-untyped-call]


def _unfragmented(frame: Packet) -> Packet:
    frame[IP].flags = "DF"
    return frame


def _recorded(frame: Packet) -> Packet:
    frame[IP].options = [IPOption_RR(routers=["192.0.2.1"] * 3)]
    return frame


def _from(frame: Packet, source: str) -> Packet:
    frame[IP].src = source
    return frame


def _damaged(frame: Packet) -> Packet:
    frame[IP].chksum = 1
    return frame


def _to_mac(frame: Packet) -> Packet:
    frame[Ether].dst = "02:00:00:00:00:99"
    return frame


def _solicited(router: LinuxRouter, target: str) -> Packet:
    last = socket.inet_pton(socket.AF_INET6, target)[-3:]
    group = socket.inet_ntop(socket.AF_INET6, b"\xff\x02" + bytes(9) + b"\x01\xff" + last)
    return (
        Ether(src=router.a.mac, dst="33:33:ff:" + last.hex(":"))
        / IPv6(src="2001:db8:1::2", dst=group, hlim=255)
        / ICMPv6ND_NS(tgt=target)
        / ICMPv6NDOptSrcLLAddr(lladdr=router.a.mac)
    )


@pytest.mark.parametrize("kind", FRAMES)
def test_router_answers_frames_as_linux_does(pair: Pair, kind: str) -> None:
    wanted = _exchange(pair.linux, FRAMES[kind](pair.linux), 0 if kind in SILENT else 1)
    assert (wanted.total() == 0) == (kind in SILENT), wanted
    found = _exchange(pair.wsdp, FRAMES[kind](pair.wsdp), wanted.total())
    assert _shown(found) == _shown(wanted)


def _shown(frames: Counter[bytes]) -> list[str]:
    """Return frames as text, so that a difference can be read."""
    return sorted(
        f"{number} x {octets[:2].decode()}{Ether(octets[2:]).summary()} {octets[2:].hex()}"
        for octets, number in frames.items()
    )


TOOLS = {
    "ping": ["ping", "-n", "-c", "2", "-i", "0.2", "-s", "900", B],
    "ping-too-big": ["ping", "-n", "-c", "1", "-W", "2", "-M", "do", "-s", "1400", B],
    "ping-router": ["ping", "-n", "-c", "1", "10.2.0.1"],
    "ping-no-route": ["ping", "-n", "-c", "1", "-W", "2", "203.0.113.7"],
    "ping-prohibited": ["ping", "-n", "-c", "1", "-W", "2", "198.20.0.7"],
    "ping6": ["ping", "-6", "-n", "-c", "1", "-s", "1400", "-M", "do", "-W", "2", B6],
    "ping6-no-route": ["ping", "-6", "-n", "-c", "1", "-W", "2", "2001:9::7"],
    "traceroute": ["traceroute", "-n", "-q", "1", B],
    "traceroute-icmp": ["traceroute", "-n", "-q", "1", "-I", B],
    "traceroute6": ["traceroute", "-6", "-n", "-q", "1", B6],
    "path-mtu": ["tracepath", "-n", B],
    "path-mtu6": ["tracepath", "-6", "-n", B6],
    "arping": ["arping", "-c", "1", "-I", "eth0", "10.1.0.1"],
    "ndisc6": ["ndisc6", "-1", "2001:db8:1::1", "eth0"],
    "rdisc6": ["rdisc6", "-1", "-r", "1", "-w", "500", "eth0"],
}


@pytest.mark.parametrize("tool", TOOLS)
def test_tool_prints_what_it_does_through_linux(pair: Pair, tool: str) -> None:
    wanted, found = (_printed(router, TOOLS[tool]) for router in (pair.linux, pair.wsdp))
    assert found == wanted


def _printed(router: LinuxRouter, words: list[str]) -> str:
    """Return what a tool prints on host a, without times and jitter."""
    # Path MTUs that an earlier tool has learnt.
    for version in ("-4", "-6"):
        subprocess.run(["ip", "-n", router.a.namespace, version, "route", "flush", "cache"],
                       check=True, capture_output=True)  # fmt: skip
    done = subprocess.run(["ip", "netns", "exec", router.a.namespace, *words], capture_output=True,
                          text=True, check=False, timeout=DEADLINE_S)  # fmt: skip
    text = re.sub(r"[ =]+\d+(\.\d+)? ?ms", " N ms", done.stdout + done.stderr)
    text = re.sub(r"rtt .*|, pipe \d+|\d+\.\d+ seconds", "", text)
    assert text, words
    return f"{text}exit status {done.returncode}"
