# SPDX-License-Identifier: Apache-2.0
"""Write a generated table for a router, or for a program that feeds one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address

from wirespeed.routing.generate import Route

# Next hops count up from here: RFC 2544 appendix C.2.2 and RFC 5180 section 8. No generated prefix
# holds these addresses.
_FIRST_HOP = {4: int(IPv4Address("198.18.0.2")), 6: int(IPv6Address("2001:2::2"))}
# MAC addresses of wsdp's outputs, and of the next hops.
_FIRST_SOURCE_MAC, _FIRST_TARGET_MAC = 0x020100000000, 0x020200000000


class Format(StrEnum):
    """Programs for which a table can be written."""

    BIRD = "bird"
    FRR = "frr"
    IP = "ip"
    EXABGP = "exabgp"
    WSDP = "wsdp"


@dataclass(frozen=True, slots=True)
class Table:
    """Routes in ascending order by IP version, and the number of their next hops."""

    ipv4: Sequence[Route]
    ipv6: Sequence[Route]
    next_hops: int
    outputs: int = 1
    """Outputs of wsdp; next hops take turns."""


def lines(table: Table, target: Format) -> Iterator[str]:
    """Yield the lines of the file."""
    yield from _WRITERS[target](table)


def prefix_text(route: Route) -> str:
    """Return the prefix as in 192.0.2.0/24."""
    return f"{_address(route.version, route.address)}/{route.length}"


def hop_text(version: int, hop: int) -> str:
    """Return the address of a next hop."""
    return _address(version, _FIRST_HOP[version] + hop)


def _address(version: int, number: int) -> str:
    if version == 6:
        return str(IPv6Address(number))
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _with_hops(routes: Sequence[Route], hops: int, form: str) -> Iterator[str]:
    """Yield a line for each route. form: with {prefix} and {hop}."""
    texts = {version: [hop_text(version, hop) for hop in range(hops)] for version in (4, 6)}
    for route in routes:
        yield form.format(prefix=prefix_text(route), hop=texts[route.version][route.hop])


def _bird(table: Table) -> Iterator[str]:
    for version, routes in ((4, table.ipv4), (6, table.ipv6)):
        if routes:
            yield f"protocol static wirespeed{version} {{"
            yield f"\tipv{version};"
            yield from _with_hops(routes, table.next_hops, "\troute {prefix} via {hop};")
            yield "}"


def _frr(table: Table) -> Iterator[str]:
    yield from _with_hops(table.ipv4, table.next_hops, "ip route {prefix} {hop}")
    yield from _with_hops(table.ipv6, table.next_hops, "ipv6 route {prefix} {hop}")


def _ip(table: Table) -> Iterator[str]:
    for routes in (table.ipv4, table.ipv6):
        yield from _with_hops(routes, table.next_hops, "route add {prefix} via {hop}")


def _exabgp(table: Table) -> Iterator[str]:
    for routes in (table.ipv4, table.ipv6):
        yield from _with_hops(routes, table.next_hops, "announce route {prefix} next-hop {hop}")


def _wsdp(table: Table) -> Iterator[str]:
    yield "wirespeed-routes 1"
    for hop in range(table.next_hops):
        output = hop % table.outputs
        source, target = _mac(_FIRST_SOURCE_MAC + output), _mac(_FIRST_TARGET_MAC + hop)
        yield f"hop {hop} {output} {source} {target}"
    for routes in (table.ipv4, table.ipv6):
        for route in routes:
            yield f"route {prefix_text(route)} {route.hop}"


def _mac(number: int) -> str:
    return ":".join(f"{octet:02x}" for octet in number.to_bytes(6))


_WRITERS: dict[Format, Callable[[Table], Iterator[str]]] = {
    Format.BIRD: _bird,
    Format.FRR: _frr,
    Format.IP: _ip,
    Format.EXABGP: _exabgp,
    Format.WSDP: _wsdp,
}
