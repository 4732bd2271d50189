# SPDX-License-Identifier: Apache-2.0
"""Compare a router's frames with the kernel's answers (`ip route get`).

A frame to an address shows what the router does with it: the cable and the MAC address by which it
leaves, or the cause for which it does not. A route that is changed last, the marker, shows by its
frames that all changes before it are in force: notifications come in the order of the changes.
"""

from __future__ import annotations

import errno
import random
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

from tests.dataplane.kernel_router import (
    ADDRESSES,
    ADDRESSES_V6,
    Host,
    KernelRouter,
    Wsdp,
    kernel_router,
    run,
)
from tests.dataplane.program import DEADLINE_S
from tests.router import netlink
from tests.router.netlink import CREATE, REPLACE, Answer, Hop, Netlink, parsed
from tests.router.states import States, gateways

MARKER = "192.0.2.1"
RENEWED = ip_network("2001:db8:ffff::/48")
_MARKER_FLOW = 0xFFFF
_RESEND_S = 0.1
_LOST_S = 10.0  # far beyond what a router takes that has a CPU
_CHANGE_S = 0.0005  # a change takes longer, and needs the CPU meanwhile
_SOURCES = {4: ADDRESSES["a"].split("/")[0], 6: ADDRESSES_V6["a"].split("/")[0]}
_UDP = 17
_ROUTES_MOST = 400
_FLOWS = 8192
_WINDOW = 128  # frames on their way at once

# Causes for which the router forwards a frame by itself to nobody; "kernel": the kernel decides.
_CAUSES = {
    "local": ("local",), "neighbour": ("neighbour",), "blackhole": ("blackhole",),
    "kernel": ("no_route", "by_kernel"),
}  # fmt: skip

# By which cable, to which MAC address; or a cause alone.
Way = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Difference:
    address: str
    kernel: frozenset[Way]
    router: Way


def checksum(octets: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def frame(ether: bytes, destination: str, flow: int, number: int = 0) -> bytes:
    """Return a frame of UDP whose payload has the state's number; flow: its source port."""
    target = parsed(destination)
    source = parsed(_SOURCES[target.version])
    udp = struct.pack("!HHHHI", flow, 9, 28, 0, number) + bytes(16)
    if target.version == 6:
        header = struct.pack("!IHBB", 6 << 28, 28, _UDP, 64) + source.packed + target.packed
        return ether + b"\x86\xdd" + header + udp
    header = struct.pack("!BBHHHBBH", 0x45, 0, 48, flow, 0, 64, _UDP, 0)
    header += source.packed + target.packed
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return ether + b"\x08\x00" + header + udp


def read(octets: bytes) -> tuple[str, int, int] | None:
    """Return destination, flow and number of such a frame; None for another one."""
    if octets[12:14] == b"\x08\x00" and octets[23] == _UDP and len(octets) >= 46:
        target, at = socket.inet_ntop(socket.AF_INET, octets[30:34]), 34
    elif octets[12:14] == b"\x86\xdd" and octets[20] == _UDP and len(octets) >= 66:
        target, at = socket.inet_ntop(socket.AF_INET6, octets[38:54]), 54
    else:
        return None
    flow, port, _, _, number = struct.unpack_from("!HHHHI", octets, at)
    return (target, flow, number) if port == 9 else None


class Oracle:
    """A router, the answers of its kernel, and those of its frames."""

    def __init__(self, router: KernelRouter) -> None:
        self.router = router
        self.netlink = Netlink(router.router)
        self.interfaces = {
            name: int(run("ip", "netns", "exec", router.router, "cat",
                          f"/sys/class/net/{name}/ifindex"))
            for name in ("east", "west")
        }  # fmt: skip
        self.ether = bytes.fromhex((router.macs["east"] + router.a.mac).replace(":", ""))
        self.neighbours: dict[tuple[int, str], str] = {}
        self.turn = 0
        self.figures: dict[str, int] = {}
        """Figures of the router since which no frame was sent but markers."""
        self.again = 0
        """Times that frames were sent again."""
        self._know_gateways()
        for host in (router.a, router.b):
            # Its kernel would send the router packets, which count as local.
            run("ip", "netns", "exec", host.namespace, "sysctl", "-qw",
                "net.ipv6.conf.eth0.disable_ipv6=1")  # fmt: skip

    def _know_gateways(self) -> None:
        messages = []
        for side, index in enumerate(self.interfaces.values(), 1):
            for version in (4, 6):
                for number, gateway in enumerate(gateways(version, side)):
                    mac = f"02:00:00:{version:02x}:{side:02x}:{number:02x}"
                    self.neighbours[index, gateway] = mac
                    messages.append(netlink.neighbour(index, gateway, mac))
            host = self.router.a if side == 1 else self.router.b
            name = "a" if side == 1 else "b"
            for text in (ADDRESSES[name], ADDRESSES_V6[name]):
                address = text.split("/")[0]
                self.neighbours[index, address] = host.mac
                messages.append(netlink.neighbour(index, address, host.mac))
        assert not any(self.netlink.change(messages))

    def change(self, messages: Sequence[bytes]) -> int:
        """Have the kernel and the router take changes. Return how many the kernel refused."""
        self.turn += 1
        gateway = gateways(4, 1)[self.turn % len(gateways(4, 1))]
        east = self.interfaces["east"]
        marker = netlink.route(netlink.NEWROUTE, CREATE | REPLACE, ip_network(f"{MARKER}/32"),
                               [Hop(east, gateway)])  # fmt: skip
        # Of IPv6 routes with an object, Linux keeps lookups until a route is added. Where one of
        # another route, which is deleted, is kept, it answers that the network is unreachable.
        renewed = netlink.route(netlink.NEWROUTE, CREATE | REPLACE, RENEWED,
                                [Hop(east, gateways(6, 1)[0])])  # fmt: skip
        errors = self.netlink.change([*messages, renewed, marker])
        assert errors[-2:] == [0, 0]
        self._await_marker(self.neighbours[east, gateway])
        return sum(error != 0 for error in errors)

    def _await_marker(self, mac: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        octets = frame(self.ether, MARKER, _MARKER_FLOW, self.turn)
        while True:
            assert time.monotonic() < deadline, self.router.log()
            self._send(octets)
            if self._marker_comes(mac):
                break
            time.sleep(_CHANGE_S)
        while not (figures := self.router.figures())["in_step"]:
            assert time.monotonic() < deadline, figures
        self.figures = figures

    def _marker_comes(self, mac: str) -> bool:
        """Return whether the next marker of this turn is to this address."""
        cable = self.router.a.socket
        cable.settimeout(_RESEND_S)
        try:
            while True:
                octets = cable.recv(2048)
                if read(octets) == (MARKER, _MARKER_FLOW, self.turn):
                    return octets[:6].hex(":") == mac
        except TimeoutError:
            return False

    def _send(self, octets: bytes) -> None:
        """Send a frame as soon as there is room on the cable."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                self.router.a.send(octets)
                return
            except OSError as fault:
                if fault.errno != errno.ENOBUFS or time.monotonic() > deadline:
                    raise

    def send(self, addresses: Sequence[str]) -> tuple[dict[str, Way], Counter[str]]:
        """Send a frame to each address; return the ways of those that came, and others by cause.

        All are sent again where a cable has dropped one, since nobody had a CPU to read it.
        """
        deadline = time.monotonic() + DEADLINE_S
        while (seen := self._send_once(addresses)) is None:
            assert time.monotonic() < deadline, self.router.figures()
            self.again += 1
            self.turn += 1  # a frame that comes late is none of the next ones
        return seen

    def _send_once(self, addresses: Sequence[str]) -> tuple[dict[str, Way], Counter[str]] | None:
        before, self.figures = self.figures or self.router.figures(), {}
        for number, address in enumerate(addresses):
            self._send(frame(self.ether, address, number, self.turn))
        found: dict[str, Way] = {}
        until = time.monotonic() + _LOST_S
        counts: Counter[str] = Counter()
        while len(found) + counts.total() < len(addresses):
            if time.monotonic() > until:
                return None
            for name, host in (("east", self.router.a), ("west", self.router.b)):
                found |= self._received(name, host, addresses)
            if len(found) < len(addresses):
                counts = _causes(before, self.router.figures())
        return found, counts

    def _received(self, name: str, host: Host, addresses: Sequence[str]) -> dict[str, Way]:
        """Return the ways of the frames of this turn that have come by a cable."""
        found: dict[str, Way] = {}
        for octets in self._frames(host):
            target, flow, _ = read(octets) or ("", 0, 0)
            assert target == str(parsed(addresses[flow]))
            found[addresses[flow]] = name, octets[:6].hex(":")
        return found

    def _frames(self, host: Host) -> Iterator[bytes]:
        """Yield the frames of this turn, but no marker, that wait at a host."""
        host.socket.setblocking(False)
        try:
            while True:
                octets = host.socket.recv(2048)
                seen = read(octets)
                if seen and seen[2] == self.turn and seen[1] != _MARKER_FLOW:
                    yield octets
        except BlockingIOError:
            return

    def _await_frames(self, count: int) -> list[tuple[bytes, str]]:
        """Return this many frames of this turn, with the interface they left by."""
        deadline = time.monotonic() + DEADLINE_S
        found: list[tuple[bytes, str]] = []
        while len(found) < count:
            assert time.monotonic() < deadline, (len(found), count)
            for name, host in (("east", self.router.a), ("west", self.router.b)):
                found += [(octets, name) for octets in self._frames(host)]
        return found

    def shares(self, address: str, flows: int) -> dict[Way, float]:
        """Return the share of frames of different flows that leave by each way."""
        counts: Counter[Way] = Counter()
        for first in range(0, flows, _WINDOW):
            many = range(first, min(first + _WINDOW, flows))
            for flow in many:
                self._send(frame(self.ether, address, flow, self.turn))
            for octets, name in self._await_frames(len(many)):
                counts[name, octets[:6].hex(":")] += 1
        return {way: count / flows for way, count in counts.items()}

    def differences_of_daemons(self, addresses: Sequence[str]) -> list[Difference]:
        """Return the `differences` where others than `change` change the kernel's routes."""
        answers = self.netlink.ask(addresses)
        # What was changed before the answers is in the router now.
        self.change([])
        return self.differences(addresses, answers)

    def differences(
        self, addresses: Sequence[str], answers: Sequence[Answer] | None = None
    ) -> list[Difference]:
        """Return the addresses for which the kernel answers otherwise than frames are forwarded.

        answers: the kernel's, older than the last `change`; default: those of now. Where they
        change meanwhile, frames are sent again.
        """
        deadline = time.monotonic() + DEADLINE_S
        before = answers or self.netlink.ask(addresses)
        while True:
            frames, causes = self.send(addresses)
            after = self.netlink.ask(addresses)
            if after == before:
                return self._compare(addresses, before, frames, causes)
            assert time.monotonic() < deadline, "the kernel's routes change all the time"
            before = after
            self.change([])

    def _compare(
        self, addresses: Sequence[str], answers: Sequence[Answer], frames: dict[str, Way],
        causes: Counter[str],
    ) -> list[Difference]:  # fmt: skip
        wrong, expected = [], Counter[str]()
        for address, answer in zip(addresses, answers, strict=True):
            wanted, way = self._way(address, answer), frames.get(address, ("", ""))
            if way[0] == "":
                expected[wanted[1] if wanted[0] == "" else "forwarded"] += 1
            if way != wanted and (way[0] != "" or wanted[0] != ""):
                wanted_all = self._ways(address)
                if way not in wanted_all:
                    wrong.append(Difference(address, wanted_all, way))
        # Of frames that do not come, causes are known by number alone.
        if not wrong and expected != causes:
            wrong.append(
                Difference(
                    f"any of {addresses}",
                    frozenset((cause, str(number)) for cause, number in expected.items()),
                    ("", str(causes)),
                )
            )
        return wrong

    def _ways(self, address: str) -> frozenset[Way]:
        [answer] = self.netlink.ask([address], whole=True)
        if answer.error or answer.type != netlink.UNICAST:
            return frozenset([self._way(address, answer)])
        hops = answer.hops
        # Of the routes with an object, Linux may answer with another one (rt6_get_pcpu_route).
        if answer.has_object and parsed(address).version == 6:
            hops = self.netlink.ask_flows(address)
        return frozenset(
            self._way(address, Answer(0, netlink.UNICAST, frozenset([hop]))) for hop in hops
        )

    def _way(self, address: str, answer: Answer) -> Way:
        """Return what a frame has to show for an answer of one hop."""
        if answer.error == errno.EINVAL:
            return "", "blackhole"
        if answer.error:
            return "", "kernel"
        if answer.type != netlink.UNICAST:
            return "", "local"
        [(index, gateway)] = answer.hops
        for name, number in self.interfaces.items():
            if number == index:
                neighbour = self.neighbours.get((index, gateway or str(parsed(address))))
                return (name, neighbour) if neighbour else ("", "neighbour")
        return "", "kernel"


def _causes(before: dict[str, Any], after: dict[str, Any]) -> Counter[str]:
    grown = {
        name: sum(after[figure] - before[figure] for figure in figures)
        for name, figures in _CAUSES.items()
    }
    return Counter({name: number for name, number in grown.items() if number})


@contextmanager
def oracle(wsdp: Wsdp | None = None) -> Iterator[Oracle]:
    with kernel_router(wsdp=wsdp or Wsdp("punt_fps = 0\n")) as router:
        made = Oracle(router)
        try:
            yield made
        finally:
            made.netlink.close()


@dataclass(slots=True)
class Comparison:
    differences: list[tuple[int, Difference]] = field(default_factory=list)
    """With the number of the state."""
    addresses: int = 0
    changes: int = 0
    """That the kernel took."""


def compare_states(
    made: Oracle, states: int, seed: int, *, addresses: int, most: int, with_objects: bool
) -> Comparison:
    """Compare addresses in random states, each of which differs by up to `most` changes."""
    drawn = States(random.Random(seed), _both(made), with_objects)
    seen = Comparison()
    for number in range(states):
        messages = drawn.messages(most) if len(drawn.live) < _ROUTES_MOST else drawn.clear()
        seen.changes += len(messages) - made.change(messages)
        where = drawn.addresses(addresses)
        seen.differences += [(number, each) for each in made.differences(where)]
        seen.addresses += len(where)
    return seen


def _both(made: Oracle) -> tuple[int, int]:
    return made.interfaces["east"], made.interfaces["west"]


def check_shares(made: Oracle, drawing: random.Random, groups: int) -> None:
    """Check that flows spread over the next hops of a route by random weights, within 2%."""
    prefix = ip_network("198.18.0.0/15")
    for _ in range(groups):
        sides = [(side, gateway) for side in (1, 2) for gateway in gateways(4, side)]
        members = drawing.sample(sides, drawing.randint(2, 6))
        hops = [Hop(_both(made)[side - 1], gateway, drawing.randint(1, 10))
                for side, gateway in members]  # fmt: skip
        message = netlink.route(netlink.NEWROUTE, CREATE | REPLACE, prefix, hops)
        assert made.change([message]) == 0
        shares = made.shares("198.18.7.1", _FLOWS)
        total = sum(hop.weight for hop in hops)
        for (side, gateway), hop in zip(members, hops, strict=True):
            name = ("east", "west")[side - 1]
            way = name, made.neighbours[made.interfaces[name], gateway]
            assert abs(shares.get(way, 0.0) - hop.weight / total) < 0.02, (hops, shares)
