# SPDX-License-Identifier: Apache-2.0
"""Make the subscriber, route and next-hop tables of a Broadband Network Gateway.

A few numbers and a seed give tables of any size. docs/reference/bng.md describes the text format.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from wirespeed.model.errors import BadInput

FORMAT = "wirespeed-bng-tables 1"
CVIDS = range(1, 4095)
SVIDS = range(1, 4095)
LINES = len(SVIDS) * len(CVIDS)
KEYS = 1 << 28
PORTS = 16
HOPS = 510
SLASH_24 = range(1 << 16, 224 << 16)  # 1.0.0.0/24 to 223.255.255.0/24
TUNNELS = int(IPv4Address("198.51.100.1"))
FIRST_LABEL = 16
# Subscribers' MACs, and next hops', count up in their low three octets.
FIRST_MAC = 0x020000000000
FIRST_HOP_MAC = 0x020010000000
SESSIONS = range(1, 0xFFFF)  # PPPoE's; 0 and 0xffff are reserved


@dataclass(frozen=True, slots=True)
class TableSpec:
    """Numbers from which gateway tables are made."""

    users: int
    routes: int
    hops: int = 64
    ports: int = 1
    mpls: bool = True
    sparse: bool = False
    """Tags and keys are random instead of consecutive, so that a gateway must hash them."""
    host: IPv4Address | None = None
    """Address of each subscriber's one static host; None: the gateway learns hosts by ARP."""
    seed: int = 1
    pppoe: bool = False
    """Every subscriber has a session, which requires `host`."""


@dataclass(frozen=True, slots=True)
class Hop:
    id: int
    tunnel: IPv4Address
    label: int | None
    mac: int
    port: int

    def line(self) -> str:
        label = "-" if self.label is None else self.label
        return f"hop {self.id} {self.tunnel} {label} {mac_text(self.mac)} {self.port}"


@dataclass(frozen=True, slots=True)
class Route:
    prefix: IPv4Address
    length: int
    hop: int

    def line(self) -> str:
        return f"route {self.prefix}/{self.length} {self.hop}"


@dataclass(frozen=True, slots=True)
class User:
    svid: int
    cvid: int
    key: int
    port: int
    host: tuple[IPv4Address, int] | None = None
    session: int | None = None

    def line(self) -> str:
        text = f"user {self.svid} {self.cvid} {self.key} {self.port}"
        if self.host is not None:
            text += f" {self.host[0]} {mac_text(self.host[1])}"
        return text if self.session is None else f"{text} {self.session}"


def mac_text(mac: int) -> str:
    return ":".join(f"{octet:02x}" for octet in mac.to_bytes(6))


def check(spec: TableSpec) -> None:
    """Raise BadInput for the first number out of range."""
    limits = {
        "users": (spec.users, 0, LINES),
        "routes": (spec.routes, 0, len(SLASH_24)),
        "hops": (spec.hops, 1, HOPS),
        "ports": (spec.ports, 1, PORTS),
    }
    for name, (value, least, most) in limits.items():
        if not least <= value <= most:
            raise BadInput(f"{name} = {value}: must be from {least} to {most}")
    if spec.pppoe and spec.host is None:
        raise BadInput("PPPoE sessions need a host: with PPPoE no host is learnt by ARP")


def hops(spec: TableSpec) -> Iterator[Hop]:
    """Yield the next hops, assigned to ports in turn."""
    for i in range(spec.hops):
        label = FIRST_LABEL + i if spec.mpls else None
        yield Hop(i, IPv4Address(TUNNELS + i), label, FIRST_HOP_MAC + i, i % spec.ports)


def routes(spec: TableSpec) -> Iterator[Route]:
    """Yield distinct random /24 routes in ascending order, assigned to next hops in turn."""
    chosen = random.Random(spec.seed).sample(SLASH_24, spec.routes)  # noqa: S311 not cryptography
    for i, prefix in enumerate(sorted(chosen)):
        yield Route(IPv4Address(prefix << 8), 24, i % spec.hops)


def users(spec: TableSpec) -> Iterator[User]:
    """Yield the subscribers, in equal shares per port.

    Session IDs repeat from subscriber 65,535 on: they must be unique only within one pair of tags.
    """
    lines: Sequence[int] = range(spec.users)
    keys: Sequence[int] = range(spec.users)
    if spec.sparse:
        rng = random.Random(spec.seed + 1)  # noqa: S311 not cryptography
        lines, keys = rng.sample(range(LINES), spec.users), rng.sample(range(KEYS), spec.users)
    for i, (line, key) in enumerate(zip(lines, keys, strict=True)):
        host = None if spec.host is None else (spec.host, FIRST_MAC + i)
        svid, cvid = SVIDS[line // len(CVIDS)], CVIDS[line % len(CVIDS)]
        session = SESSIONS[i % len(SESSIONS)] if spec.pppoe else None
        yield User(svid, cvid, key, i * spec.ports // spec.users, host, session)


def table_lines(spec: TableSpec) -> Iterator[str]:
    """Yield the lines of the table file. Raises BadInput."""
    check(spec)
    yield FORMAT
    for entries in (hops(spec), routes(spec), users(spec)):
        for entry in entries:
            yield entry.line()
