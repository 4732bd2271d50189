# SPDX-License-Identifier: Apache-2.0
"""Write a routing table for iproute2 and for a BGP peer, and the files of routing daemons. Pure.

The peer is BIRD. One session cannot announce a prefix twice, so each of the N next hops of a prefix
has a session of its own. The router combines them (multipath).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from wirespeed.bench.routing.bfd import INTERVAL_MS, MULTIPLIER
from wirespeed.bench.routing.table import Hop, RoutingTable, hop_address

# Private AS numbers (RFC 6996).
_ROUTER_AS, _PEER_AS = 65001, 65002
# Retry soon: router and peer start at the same time.
_RETRY_S = 1
_HEAD = ("log stderr all;", "timeformat protocol iso long ms;", "protocol device { }")
_BFD = (
    f'protocol bfd {{ interface "*" {{ interval {INTERVAL_MS} ms; multiplier {MULTIPLIER}; }}; }}'
)
_BFD_PROFILE = "bench"


def router_end(session: int) -> str:
    """Return the router's address of a session; no generated prefix is in 10.0.0.0/8."""
    return f"10.255.{session}.1"


def peer_end(session: int) -> str:
    return f"10.255.{session}.2"


def ip_commands(table: RoutingTable, version: int) -> Iterator[str]:
    """Yield a command of `ip -batch` for each route."""
    vias = {hop: _via(table, version, hop) for hop in table.hops}
    for prefix, hop in table.routes(version):
        yield f"route add {prefix} proto static {vias[hop]}"


def _via(table: RoutingTable, version: int, hop: Hop) -> str:
    """Return the next hops of a route as ip(8) wants them."""
    members = [f"via {hop_address(version, member)}" for member in table.members(hop)]
    return members[0] if len(members) == 1 else " ".join(f"nexthop {m}" for m in members)


def change_commands(table: RoutingTable, group: int, word: str) -> Iterator[str]:
    """Yield a command of `ip -batch` for each route of a group. word: add or del."""
    for version, prefix, hop in table.churned[group]:
        yield f"route {word} {prefix} proto static {_via(table, version, hop)}"


def changing_protocols(group: int) -> str:
    """Return the pattern of the peer's protocols that announce a group of routes."""
    return f"c{group}v*"


def peer(table: RoutingTable) -> Iterator[str]:
    """Yield the lines of bird.conf of the peer."""
    versions, numbers = table.routing.versions, range(table.routing.ecmp)
    yield from (*_HEAD, f"router id {peer_end(0)};", *_bfd(table))
    for session in numbers:
        yield from (f"ipv{version} table t{version}s{session};" for version in versions)
    changing = {each.prefix for group in table.churned for each in group}
    for version in versions:
        by_hop = defaultdict[Hop, list[str]](list)
        for prefix, hop in table.routes(version):
            if prefix not in changing:
                by_hop[hop].append(prefix)
        for session in numbers:
            for hop, prefixes in by_hop.items():
                yield from _announced(table, version, session, hop, prefixes)
    yield from _changing(table)
    for session in numbers:
        exported = f"s{session}; import none; export all; next hop keep;"
        channels = (f"ipv{v} {{ table t{v}{exported} }};" for v in versions)
        yield from _bgp(session, peer_end(session), _PEER_AS, router_end(session), _ROUTER_AS)
        yield from ("passive;", *(["bfd on;"] if table.routing.bfd else []), *channels, "}")


def backup_session(table: RoutingTable) -> int:
    """Return the number of the backup peer's session: behind those of the peer."""
    return table.routing.ecmp


def sessions(table: RoutingTable) -> range:
    """Return the numbers of the router's sessions."""
    return range(table.routing.ecmp + table.routing.backup)


def backup_peer(table: RoutingTable) -> Iterator[str]:
    """Yield the lines of bird.conf of the backup peer: the same prefixes by a longer path."""
    session, versions = backup_session(table), table.routing.versions
    yield from (*_HEAD, f"router id {peer_end(session)};", *_bfd(table))
    for version in versions:
        by_port = defaultdict[int, list[str]](list)
        yield f"ipv{version} table t{version}s{session};"
        for prefix, hop in table.routes(version):
            by_port[hop.port].append(prefix)
        for port, prefixes in by_port.items():
            backup = table.backup(Hop(port, 0))
            via = hop_address(version, backup)
            yield from _announced_by(version, session, backup, via, prefixes)
    yield from _bgp(session, peer_end(session), _PEER_AS, router_end(session), _ROUTER_AS)
    exported = f"import none; export filter {{ bgp_path.prepend({_PEER_AS}); accept; }};"
    for version in versions:
        yield f"ipv{version} {{ table t{version}s{session}; {exported} next hop keep; }};"
    yield from ("passive;", *(["bfd on;"] if table.routing.bfd else []), "}")


def announcing_protocols() -> str:
    """Return the pattern of a peer's protocols that announce routes which do not change."""
    return "r*"


def _announced(
    table: RoutingTable, version: int, session: int, hop: Hop, prefixes: list[str]
) -> Iterator[str]:
    """Yield the prefixes that begin with this next hop, as one of their sessions has them."""
    via = hop_address(version, table.members(hop)[session])
    yield from _announced_by(version, session, hop, via, prefixes)


def _announced_by(
    version: int, session: int, hop: Hop, via: str, prefixes: list[str]
) -> Iterator[str]:
    yield f"protocol static r{version}s{session}p{hop.port}n{hop.number} {{"
    yield f"ipv{version} {{ table t{version}s{session};"
    yield f"import filter {{ bgp_next_hop = {via}; accept; }}; }};"
    yield from (f"route {prefix} blackhole;" for prefix in prefixes)
    yield "}"


def _changing(table: RoutingTable) -> Iterator[str]:
    """Yield the groups of routes that change, each a protocol of its own, as sessions have them."""
    for number, group in enumerate(table.churned):
        for version in sorted({each.version for each in group}):
            for session in range(table.routing.ecmp):
                yield f"protocol static c{number}v{version}s{session} {{"
                yield f"ipv{version} {{ table t{version}s{session}; }};"
                for each in group:
                    if each.version == version:
                        via = hop_address(version, table.members(each.hop)[session])
                        yield f"route {each.prefix} blackhole {{ bgp_next_hop = {via}; }};"
                yield "}"


def bird(table: RoutingTable) -> Iterator[str]:
    """Yield the lines of bird.conf of the router."""
    versions, most = table.routing.versions, table.routing.ecmp
    yield from (*_HEAD, f"router id {router_end(0)};", *_bfd(table))
    merged = [f"merge paths on limit {most};"] if most > 1 else []
    for version in versions:
        exported = "{ import none; export where source = RTS_BGP; };"
        yield from ("protocol kernel {", f"ipv{version} {exported}", *merged, "}")
    for session in sessions(table):
        yield from _bgp(session, router_end(session), _ROUTER_AS, peer_end(session), _PEER_AS)
        yield f"connect delay time {_RETRY_S}; connect retry time {_RETRY_S};"
        if table.routing.bfd:
            yield "bfd on;"
        yield from (f"ipv{version} {{ import all; export none; }};" for version in versions)
        yield "}"


def _bfd(table: RoutingTable) -> tuple[str, ...]:
    return (_BFD,) if table.routing.bfd else ()


def frr_bfdd() -> Iterator[str]:
    """Yield the lines of bfdd.conf of the router."""
    yield from ("bfd", f" profile {_BFD_PROFILE}", f"  detect-multiplier {MULTIPLIER}")
    yield from (f"  receive-interval {INTERVAL_MS}", f"  transmit-interval {INTERVAL_MS}")


def _bgp(session: int, local: str, local_as: int, other: str, other_as: int) -> Iterator[str]:
    yield f"protocol bgp s{session} {{"
    yield f"local {local} as {local_as}; neighbor {other} as {other_as};"


def frr_bgpd(table: RoutingTable) -> Iterator[str]:
    """Yield the lines of bgpd.conf of the router."""
    routing = table.routing
    yield f"router bgp {_ROUTER_AS}"
    yield f" bgp router-id {router_end(0)}"
    yield " no bgp ebgp-requires-policy"
    yield " no bgp default ipv4-unicast"
    for session in sessions(table):
        yield f" neighbor {peer_end(session)} remote-as {_PEER_AS}"
        yield f" neighbor {peer_end(session)} timers connect {_RETRY_S}"
        if routing.bfd:
            yield f" neighbor {peer_end(session)} bfd profile {_BFD_PROFILE}"
    for version in routing.versions:
        yield f" address-family ipv{version} unicast"
        for session in sessions(table):
            yield f"  neighbor {peer_end(session)} activate"
        yield f"  maximum-paths {routing.ecmp}"
        yield " exit-address-family"
