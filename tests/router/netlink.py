# SPDX-License-Identifier: Apache-2.0
"""Change and ask a kernel's routes by netlink: many messages by one system call.

The layout is that of linux/rtnetlink.h and linux/nexthop.h.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address

from tests.dataplane.kernel_router import entered

Network = IPv4Network | IPv6Network
parsed = lru_cache(maxsize=4096)(ip_address)
"""The address of a text; the same ones are asked for several times."""

NEWROUTE, DELROUTE, GETROUTE = 24, 25, 26
NEWNEIGHBOUR = 28
NEWNEXTHOP, DELNEXTHOP = 104, 105
CREATE, EXCLUSIVE, REPLACE, APPEND = 0x400, 0x200, 0x100, 0x800
UNICAST, LOCAL, BLACKHOLE, UNREACHABLE, PROHIBIT, THROW = 1, 2, 6, 7, 8, 9
MAIN = 254

_REQUEST, _ACK = 0x1, 0x4
_ERROR = 2
_BOOT, _STATIC = 3, 4
_FIB_MATCH = 0x2000
_DST, _SRC, _OIF, _GATEWAY, _PRIORITY = 1, 2, 4, 5, 6
_MULTIPATH, _TABLE, _VIA, _NH_ID = 9, 15, 18, 30
_NDA_DST, _NDA_LLADDR = 1, 2
_PERMANENT = 0x80
_NHA_ID, _NHA_GROUP, _NHA_OIF, _NHA_GATEWAY = 1, 2, 5, 6
_BUFFER_BYTES = 8 << 20
_FLOWS = 1024  # so that a next hop with 1 of 32 weights is not missed
SO_RCVBUFFORCE = 33  # <asm-generic/socket.h>; Python has no name for it


@dataclass(frozen=True, slots=True)
class Hop:
    """A next hop: an interface's index, a gateway or "" for a neighbour, its weight."""

    interface: int
    gateway: str = ""
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """Decision of the kernel on packets to an address.

    error: errno of a route get, 0 where there is a route. hops: one, or those of a route.
    has_object: the route has a next-hop object; known of whole routes alone.
    """

    error: int = 0
    type: int = UNICAST
    hops: frozenset[tuple[int, str]] = field(default_factory=frozenset)
    has_object: bool = False


def _attribute(kind: int, octets: bytes) -> bytes:
    padding = b"\0" * (-len(octets) % 4)
    return struct.pack("=HH", 4 + len(octets), kind) + octets + padding


def _family(version: int) -> int:
    return socket.AF_INET if version == 4 else socket.AF_INET6


def _gateway(version: int, gateway: str) -> bytes:
    """Return the attribute of a gateway, of another version of IP than the route's perhaps."""
    if gateway == "":
        return b""
    address = ip_address(gateway)
    if address.version == version:
        return _attribute(_GATEWAY, address.packed)
    return _attribute(_VIA, struct.pack("=H", _family(address.version)) + address.packed)


def _multipath(version: int, hops: Sequence[Hop]) -> bytes:
    rows = b""
    for hop in hops:
        via = _gateway(version, hop.gateway)
        rows += struct.pack("=HBBi", 8 + len(via), 0, hop.weight - 1, hop.interface) + via
    return _attribute(_MULTIPATH, rows)


def route(
    kind: int, flags: int, prefix: Network, hops: Sequence[Hop] = (), *, type_: int = UNICAST,
    nexthop: int = 0, metric: int = 0, table: int = MAIN,
) -> bytes:  # fmt: skip
    """Return a message about a route: by hops, by a next-hop object, or of a type without any."""
    version = prefix.version
    text = struct.pack("=BBBBBBBBI", _family(version), prefix.prefixlen, 0, 0, 0, _STATIC, 0,
                       type_, 0)  # fmt: skip
    text += _attribute(_DST, prefix.network_address.packed)
    text += _attribute(_TABLE, struct.pack("=I", table))
    if metric:
        text += _attribute(_PRIORITY, struct.pack("=I", metric))
    if nexthop:
        text += _attribute(_NH_ID, struct.pack("=I", nexthop))
    elif len(hops) == 1:
        text += _attribute(_OIF, struct.pack("=I", hops[0].interface))
        text += _gateway(version, hops[0].gateway)
    elif hops:
        text += _multipath(version, hops)
    return _message(kind, flags, text)


def nexthop(kind: int, flags: int, number: int, version: int = 4, hop: Hop | None = None) -> bytes:
    """Return a message about a next-hop object."""
    text = struct.pack("=BBBBI", 0 if hop is None else _family(version), 0, _STATIC, 0, 0)
    text += _attribute(_NHA_ID, struct.pack("=I", number))
    if hop is not None:
        text += _attribute(_NHA_OIF, struct.pack("=I", hop.interface))
        text += _attribute(_NHA_GATEWAY, ip_address(hop.gateway).packed)
    return _message(kind, flags, text)


def group(flags: int, number: int, members: Sequence[tuple[int, int]]) -> bytes:
    """Return a message about a group: ids of objects and their weights, up to 65,536."""
    rows = b"".join(
        struct.pack("=IBBH", member, (weight - 1) & 0xFF, (weight - 1) >> 8, 0)
        for member, weight in members
    )
    text = struct.pack("=BBBBI", 0, 0, _STATIC, 0, 0)
    text += _attribute(_NHA_ID, struct.pack("=I", number)) + _attribute(_NHA_GROUP, rows)
    return _message(NEWNEXTHOP, flags, text)


def neighbour(interface: int, address: str, mac: str) -> bytes:
    """Return a message that makes or moves a permanent neighbour."""
    packed = ip_address(address).packed
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    text = struct.pack("=BBHiHBB", family, 0, 0, interface, _PERMANENT, 0, 0)
    text += _attribute(_NDA_DST, packed)
    text += _attribute(_NDA_LLADDR, bytes.fromhex(mac.replace(":", "")))
    return _message(NEWNEIGHBOUR, CREATE | REPLACE, text)


def _message(kind: int, flags: int, text: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(text), kind, flags | _REQUEST, 0, 0) + text


def _attributes(octets: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(octets):
        length, kind = struct.unpack_from("=HH", octets, at)
        yield kind & 0x3FFF, octets[at + 4 : at + length]
        at += length + -length % 4


def _address(attributes: dict[int, bytes]) -> str:
    if _VIA in attributes:
        return str(ip_address(attributes[_VIA][2:]))
    return str(ip_address(attributes[_GATEWAY])) if _GATEWAY in attributes else ""


def _hops(attributes: dict[int, bytes]) -> Iterator[tuple[int, str]]:
    if _MULTIPATH not in attributes:
        if _OIF in attributes:
            yield struct.unpack("=I", attributes[_OIF])[0], _address(attributes)
        return
    rows, at = attributes[_MULTIPATH], 0
    while at < len(rows):
        length, _, _, interface = struct.unpack_from("=HBBi", rows, at)
        yield interface, _address(dict(_attributes(rows[at + 8 : at + length])))
        at += length + -length % 4


class Netlink:
    """A netlink socket of another namespace."""

    def __init__(self, namespace: str) -> None:
        self.socket = entered(
            namespace, lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        )
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, _BUFFER_BYTES)
        self.socket.bind((0, 0))

    def change(self, messages: Sequence[bytes]) -> list[int]:
        """Have the kernel take messages in turn; return the errno of each, 0 for success."""
        return [_error(kind, text) for kind, text in self._exchange(messages, _ACK)]

    def ask(self, addresses: Sequence[str], *, whole: bool = False) -> list[Answer]:
        """Return what the kernel does with packets to these; whole: with all hops of the route."""
        messages = []
        for one in addresses:
            address = parsed(one)
            text = struct.pack("=BBBBBBBBI", _family(address.version), address.max_prefixlen,
                               0, 0, 0, 0, 0, 0, _FIB_MATCH if whole else 0)  # fmt: skip
            messages.append(_message(GETROUTE, 0, text + _attribute(_DST, address.packed)))
        return [_answer(kind, text) for kind, text in self._exchange(messages, 0)]

    def ask_flows(self, address: str) -> frozenset[tuple[int, str]]:
        """Return the next hops of packets of many sources to an IPv6 address."""
        target = ip_address(address).packed
        header = struct.pack("=BBBBBBBBI", _family(6), 128, 128, 0, 0, 0, 0, 0, 0)
        messages = [
            _message(GETROUTE, 0, header + _attribute(_DST, target)
                     + _attribute(_SRC, ip_address(f"2001:db8:ffff::{number:x}").packed))
            for number in range(1, _FLOWS + 1)
        ]  # fmt: skip
        answers = [_answer(kind, text) for kind, text in self._exchange(messages, 0)]
        return frozenset(hop for answer in answers for hop in answer.hops)

    def close(self) -> None:
        self.socket.close()

    def _exchange(self, messages: Sequence[bytes], flags: int) -> list[tuple[int, bytes]]:
        """Send messages; return type and payload of the reply to each."""
        octets = b""
        for number, message in enumerate(messages):
            length, kind, own = struct.unpack_from("=IHH", message)
            octets += struct.pack("=IHHII", length, kind, own | flags, number, 0) + message[16:]
        self.socket.send(octets)
        replies: dict[int, tuple[int, bytes]] = {}
        while len(replies) < len(messages):
            received, at = self.socket.recv(1 << 20), 0
            while at < len(received):
                length, kind, _, number, _ = struct.unpack_from("=IHHII", received, at)
                replies[number] = kind, received[at + 16 : at + length]
                at += length + -length % 4
        return [replies[number] for number in range(len(messages))]


def _error(kind: int, text: bytes) -> int:
    return -int(struct.unpack_from("=i", text)[0]) if kind == _ERROR else 0


def _answer(kind: int, text: bytes) -> Answer:
    if kind == _ERROR:
        error = _error(kind, text)
        assert error in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EACCES, errno.EINVAL), error
        return Answer(error)
    attributes = dict(_attributes(text[12:]))
    return Answer(0, text[7], frozenset(_hops(attributes)), _NH_ID in attributes)
