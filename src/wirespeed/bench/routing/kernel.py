# SPDX-License-Identifier: Apache-2.0
"""Prepare a network namespace for a routing table, and count the routes that its kernel has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.host.network import QUIET, inside
from wirespeed.bench.routing.table import (
    Hop,
    RoutingTable,
    backup_mac,
    hop_address,
    own_addresses,
)
from wirespeed.bench.topology.wiring import PORTS, generator_mac
from wirespeed.model.study.routing import Routing, RoutingDaemon
from wirespeed.remote.interface import Runner

# Keep ports from sending frames of their own. Without link-local addresses there are no
# solicitations; multicast group reports repeat after a day (value in ms).
_SYSCTLS = {
    4: (
        "net.ipv4.ip_forward=1",
        "net.ipv4.conf.all.rp_filter=0",
        "net.ipv4.conf.default.rp_filter=0",
    ),
    6: (
        "net.ipv6.conf.default.addr_gen_mode=1",
        "net.ipv6.conf.default.mldv2_unsolicited_report_interval=86400000",
        "net.ipv6.conf.all.forwarding=1",
    ),
}
# MAC addresses of the next hops by port: those of the generator's ports.
GENERATOR_MACS: Mapping[int, str] = {
    number: generator_mac(port) for number, port in enumerate(PORTS)
}
# The kernel's name for routes of each source (rtnetlink(7)).
_PROTOCOLS = {
    RoutingDaemon.STATIC: "static",
    RoutingDaemon.FRR: "bgp",
    RoutingDaemon.BIRD: "bird",
}
_COUNTS = ("/proc/net/fib_triestat", "/proc/net/rt6_stats")
# Routes that are loaded in a second at least, also by a slow host: 64,000 were measured.
_SLOWEST = 2_000
# Lines of `ip route` that begin with a digit are routes. Where a route has several next hops, lines
# for each of them follow.
_COUNT = (
    'ip -n "$1" "-$2" route show proto "$3" | '
    "awk '/^[0-9a-f]/ {routes++} /^[ \\t]*nexthop/ {hops++} END {print routes + 0, hops + 0}'"
)
# Number of routes with one next hop that lead to an address.
_LEADING = (
    'ip -n "$1" "-$2" route show proto "$3" | '
    'awk -v hop="$4" \'{for (i = 2; i < NF; i++) if ($i == "via" && $(i + 1) == hop) n++} '
    "END {print n + 0}'"
)


def forwarding_sysctls(versions: Collection[int]) -> tuple[str, ...]:
    """Return the settings of a namespace that forwards these IP versions, before it has ports."""
    words = tuple(words for each in sorted(versions) for words in _SYSCTLS[each])
    return words if 6 in versions else (*words, *QUIET)


def load_s(routing: Routing) -> float:
    """Return the longest time in which all routes are loaded, in seconds."""
    return (routing.ipv4 + routing.ipv6) * routing.ecmp / _SLOWEST


def neighbours(table: RoutingTable, hops: Sequence[Hop], macs: Mapping[int, str]) -> Iterator[str]:
    """Yield the commands of ip(8) that give next hops their MAC addresses.

    macs: by port, of those that are no backups; these have addresses derived from them.
    """
    for version in table.routing.versions:
        for hop in hops:
            mac = macs[hop.port]
            yield (
                f"neighbour replace {hop_address(version, hop)} dev {PORTS[hop.port]} "
                f"lladdr {backup_mac(mac) if hop.backup else mac} nud permanent"
            )


@dataclass(frozen=True, slots=True)
class RouterNamespace:
    """The network namespace of a router, whose ports have the names of the generator's."""

    runner: Runner
    name: str

    def prepare(self, table: RoutingTable, targets: Mapping[int, str] = GENERATOR_MACS) -> None:
        """Give its ports addresses, and know the next hops there: nobody would answer ARP.

        targets: MAC address of the next hops by port.
        """
        commands = []
        for version in table.routing.versions:
            nodad = " nodad" if version == 6 else ""
            for port in table.ports:
                for address in own_addresses(version, port, table.routing):
                    commands.append(f"address replace {address} dev {PORTS[port]}{nodad}")
        self.batch([*commands, *neighbours(table, table.all_hops, targets)])

    def batch(self, commands: Iterable[str], within_s: float = 30.0) -> None:
        """Run commands of ip(8)."""
        text = "".join(f"{command}\n" for command in commands)
        self.runner.run(["ip", "-n", self.name, "-batch", "-"], stdin=text, timeout_s=within_s)

    def without_carrier(self) -> tuple[str, ...]:
        """Return the interfaces that are up and have no carrier, or had none some moments ago.

        LOWER_UP is the carrier, NO-CARRIER what Linux has reported of it.
        """
        words = ["ip", "-n", self.name, "-oneline", "link", "show", "up"]
        lines = (line.split() for line in self.runner.run(words).stdout.splitlines())
        flags = {line[1].rstrip(":"): set(line[2].strip("<>").split(",")) for line in lines}
        return tuple(
            name for name, has in flags.items() if "NO-CARRIER" in has or "LOWER_UP" not in has
        )

    def prefixes(self) -> dict[int, int]:
        """Return the prefixes of all tables by IP version, as the kernel's statistics have them.

        An IPv6 route may count once for each of its next hops. It takes no time that grows with
        the IPv6 routes, and 0.1 s with 1,000,000 IPv4 routes.
        """
        text = self.runner.run([*inside(self.name), "cat", *_COUNTS]).stdout
        lines = text.splitlines()
        ipv4 = next(
            (line.split()[1] for line in lines if line.strip().startswith("Prefixes:")), "0"
        )
        ipv6 = lines[-1].split()[3]
        return {4: int(ipv4), 6: int(ipv6, 16)}

    def leading_to(self, address: str, version: int, routing: Routing) -> int:
        """Return the number of routes of this source with this next hop."""
        protocol = _PROTOCOLS[routing.daemon]
        words = ["sh", "-c", _LEADING, "sh", self.name, str(version), protocol, address]
        return int(self.runner.run(words, timeout_s=120.0).stdout)

    def complete(self, version: int, routing: Routing) -> tuple[int, bool]:
        """Return the number of routes of this source, and whether they have all next hops.

        A daemon gives a route to the kernel once it knows a next hop, and again with each further.
        """
        protocol = _PROTOCOLS[routing.daemon]
        words = ["sh", "-c", _COUNT, "sh", self.name, str(version), protocol]
        routes, hops = map(int, self.runner.run(words, timeout_s=120.0).stdout.split())
        wanted = routing.prefixes(version)
        several = routing.ecmp > 1
        return routes, routes == wanted and hops == (wanted * routing.ecmp if several else 0)
