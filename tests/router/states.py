# SPDX-License-Identifier: Apache-2.0
"""Draw random routing states: changes of routes, next-hop objects and neighbours, one by one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from tests.router import netlink
from tests.router.netlink import CREATE, EXCLUSIVE, REPLACE, Hop, Network

GATEWAYS = 8  # of each version of IP on each interface
SINGLES = 6  # next-hop objects of each version
GROUPS = 8
_OTHER_TABLE = 77
_SPECIAL = (netlink.BLACKHOLE, netlink.UNREACHABLE, netlink.PROHIBIT, netlink.THROW)


def gateways(version: int, side: int) -> list[str]:
    """Return the addresses of gateways on the cable of host a (1) or b (2)."""
    if version == 4:
        return [f"10.{side}.0.{16 + i}" for i in range(GATEWAYS)]
    return [f"2001:db8:{side}::{0x10 + i:x}" for i in range(GATEWAYS // 2)] + [
        f"fe80::{side}:{i + 1:x}" for i in range(GATEWAYS // 2)
    ]


def is_forwarded(address: IPv4Address | IPv6Address) -> bool:
    """Return whether a router may forward packets to an address: RFC 1812, RFC 4291."""
    first = address.packed[0]
    if address.version == 4:
        return 0 < first < 224 and first != 127
    return first >> 5 == 1 or first >> 1 == 0x7E


@dataclass(slots=True)
class States:
    """The state that is drawn last, as far as the next one needs it.

    interfaces: indexes of those on the cables of hosts a and b. with_objects: next-hop objects.
    """

    random: random.Random
    interfaces: tuple[int, int]
    with_objects: bool = True
    live: dict[tuple[Network, int], bool] = field(default_factory=dict)
    """Routes by prefix and metric: of a type without next hops, as far as is known."""
    touched: list[Network] = field(default_factory=list)
    """Prefixes of the last state's changes."""

    def messages(self, most: int) -> list[bytes]:
        """Return up to `most` changes to another state."""
        self.touched = []
        return [self._change() for _ in range(self.random.randint(1, most))]

    def clear(self) -> list[bytes]:
        """Return the deletions of all routes."""
        self.touched = [prefix for prefix, _ in self.live]
        gone = [netlink.route(netlink.DELROUTE, 0, prefix, metric=metric)
                for prefix, metric in self.live]  # fmt: skip
        self.live.clear()
        return gone

    def addresses(self, count: int) -> list[str]:
        """Return addresses in and next to changed and other prefixes, and anywhere."""
        found: dict[str, None] = {}
        prefixes = [*self.touched, *(prefix for prefix, _ in self.live)]
        others = self.random.sample(prefixes, min(len(prefixes), count))
        for prefix in [*self.touched, *others]:
            for number in self._near(prefix):
                if 0 <= number < 1 << prefix.max_prefixlen:
                    address = _address(prefix.version, number)
                    if is_forwarded(address):
                        found[str(address)] = None
        while len(found) < count:
            found[str(next(self._anywhere()))] = None
        # The first are those of the prefixes that have changed.
        return list(found)[:count]

    def _near(self, prefix: Network) -> list[int]:
        first = int(prefix.network_address)
        last = first + prefix.num_addresses - 1
        near = [first, last, self.random.randint(first, last)]
        return [*near, self.random.choice((first - 1, last + 1))]

    def _anywhere(self) -> Iterator[IPv4Address | IPv6Address]:
        while True:
            version = self.random.choice((4, 6))
            bits = 32 if version == 4 else 128
            number = self.random.getrandbits(bits)
            address = _address(version, number if version == 4 else number >> 3 | 1 << 125)
            if is_forwarded(address):
                yield address

    def _change(self) -> bytes:
        draw = self.random.random()
        if self.with_objects and draw < 0.08:
            return self._object()
        if draw < 0.1:
            return self._other_table()
        if draw < 0.35 and self.live:
            prefix, metric = self.random.choice(list(self.live))
            del self.live[prefix, metric]
            self.touched.append(prefix)
            return netlink.route(netlink.DELROUTE, 0, prefix, metric=metric)
        prefix, metric = self._prefix(), self.random.choice((0, 0, 0, 10, 20))
        verbs = [CREATE | EXCLUSIVE] * 12 + [CREATE | REPLACE] * 6
        is_special = self.random.random() < 0.1
        # Of IPv6 routes with and without next hops for one key, Linux takes them in turns.
        # Of several IPv4 default routes it takes the one whose gateway answers.
        if prefix.version == 4:
            verbs += [CREATE | netlink.APPEND] if prefix.prefixlen > 0 else []
        elif not (is_special or self.live.get((prefix, metric), False)):
            verbs.append(CREATE | netlink.APPEND)
        self.live[prefix, metric] = is_special or self.live.get((prefix, metric), False)
        self.touched.append(prefix)
        target = self._special() if is_special else self._target(prefix)
        return target(netlink.NEWROUTE, self.random.choice(verbs), prefix, metric=metric)

    def _other_table(self) -> bytes:
        """Return a route that no rule leads to."""
        prefix = self._prefix()
        return netlink.route(
            netlink.NEWROUTE, CREATE | REPLACE, prefix, type_=netlink.BLACKHOLE, table=_OTHER_TABLE
        )

    def _prefix(self) -> Network:
        """Return a prefix: anywhere, inside another one, with the same start, or the default."""
        draw = self.random.random()
        version = self.random.choice((4, 6))
        if draw < 0.03:
            return ip_network("0.0.0.0/0" if version == 4 else "::/0")
        bits = 32 if version == 4 else 128
        length = self.random.choice(
            (8, 12, 16, 20, 22, 24, 25, 28, 31, 32)
            if version == 4
            else (3, 16, 19, 29, 32, 36, 44, 48, 49, 56, 64, 80, 127, 128)
        )
        start = next(a for a in self._anywhere() if a.version == version)
        if draw < 0.5 and self.live:
            outer, _ = self.random.choice(list(self.live))
            inside = self.random.getrandbits(outer.max_prefixlen - outer.prefixlen or 1)
            if draw < 0.25:
                inside = 0
            number = int(outer.network_address) | inside % outer.num_addresses
            start, bits = _address(outer.version, number), outer.max_prefixlen
            length = self.random.randint(outer.prefixlen, bits)
        elif draw < 0.53:  # of a neighbour
            start = ip_address(self.random.choice(gateways(version, 2)[: GATEWAYS // 2]))
            length = self.random.choice((bits, bits - 2, bits - 5))
        return ip_network((int(start) >> bits - length << bits - length, length)) if (
            start.version == 4
        ) else ip_network((start.packed, length), strict=False)  # fmt: skip

    def _hop(self, version: int, most: int = 1) -> Hop:
        side = self.random.choice((0, 1))
        if version == 4 and self.random.random() < 0.1:
            version = 6
        gateway = self.random.choice(gateways(version, side + 1))
        return Hop(self.interfaces[side], gateway, self.random.randint(1, most))

    def _special(self) -> Callable[..., bytes]:
        kind = self.random.choice(_SPECIAL)
        return lambda message, flags, of, metric: netlink.route(
            message, flags, of, type_=kind, metric=metric
        )

    def _target(self, prefix: Network) -> Callable[..., bytes]:
        """Return what makes the message of a route to next hops that are drawn."""
        draw, version, number = self.random.random(), prefix.version, 0
        hops: Sequence[Hop] = [self._hop(version)]
        if self.with_objects and draw < 0.2:
            first = 0 if version == 4 else SINGLES
            single = 1 + first + self.random.randrange(SINGLES)
            number = self.random.choice((single, 100 + self.random.randrange(GROUPS)))
        elif draw < 0.25:
            hops = [Hop(self.random.choice(self.interfaces))]
        elif draw < 0.5:
            drawn = {self._hop(version, 8) for _ in range(self.random.randint(2, 8))}
            hops = list({(hop.interface, hop.gateway): hop for hop in drawn}.values())
        return lambda kind, flags, of, metric: netlink.route(
            kind, flags, of, hops, metric=metric, nexthop=number
        )

    def _object(self) -> bytes:
        """Return a change of a next-hop object: new, another gateway, other members, or gone."""
        draw = self.random.random()
        number = 1 + self.random.randrange(2 * SINGLES)
        version = 4 if number <= SINGLES else 6
        if draw < 0.1:
            return netlink.nexthop(netlink.DELNEXTHOP, 0, self.random.choice((number, 100)))
        if draw < 0.5:
            side = self.random.choice((0, 1))
            hop = Hop(self.interfaces[side], self.random.choice(gateways(version, side + 1)))
            return netlink.nexthop(netlink.NEWNEXTHOP, CREATE | REPLACE, number, version, hop)
        first = 1 if version == 4 else 1 + SINGLES
        members = self.random.sample(range(first, first + SINGLES), self.random.randint(1, 4))
        weighted = [(member, self.random.randint(1, 8)) for member in members]
        return netlink.group(CREATE | REPLACE, 100 + self.random.randrange(GROUPS), weighted)


def _address(version: int, number: int) -> IPv4Address | IPv6Address:
    return IPv4Address(number) if version == 4 else IPv6Address(number)
