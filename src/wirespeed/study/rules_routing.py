# SPDX-License-Identifier: Apache-2.0
"""Find errors of [routing]: points without a router that gets the table, values that disagree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.bench.assembly.kinds import function_of, switch_of, topology_of
from wirespeed.bench.function import FUNCTIONS
from wirespeed.bench.function.interface import FunctionKind
from wirespeed.bench.switch import SWITCHES
from wirespeed.model.input.fault import Fault, show
from wirespeed.model.study.spec import Destinations, Frames, Routing, RoutingDaemon, Traffic

# With fewer prefixes, a port or a stream might have none.
_FEWEST = 100


def broken_routing_rules(frames: Frames) -> Iterator[Fault]:
    """Yield every rule that the point's routing table breaks."""
    routing = frames.routing
    if routing is None:
        return
    if not _switch_routes(frames):
        yield from _function(frames, routing)
    if routing.ecmp > routing.next_hops:
        allowed = f"must be at most routing.next_hops = {routing.next_hops}"
        yield Fault("routing.ecmp", routing.ecmp, allowed)
    if routing.destinations is Destinations.PREFIXES:
        yield from _destinations(frames, routing)
    elif routing.destination_prefixes:
        allowed = 'needs routing.destinations = "prefixes"'
        yield Fault("routing.destination_prefixes", routing.destination_prefixes, allowed)
    yield from _changes(frames, routing)
    if routing.daemon is not RoutingDaemon.STATIC and not routing.versions:
        allowed = "has nothing to learn: set routing.ipv4 or routing.ipv6"
        yield Fault("routing.daemon", str(routing.daemon), allowed)


def _changes(frames: Frames, routing: Routing) -> Iterator[Fault]:
    """Yield what keeps routes from changing, and changes from being noticed by BFD."""
    if routing.churn_per_s:
        if routing.ipv4 + routing.ipv6 < _FEWEST:
            allowed = f"needs {_FEWEST} prefixes: set routing.ipv4 or routing.ipv6"
            yield Fault("routing.churn_per_s", routing.churn_per_s, allowed)
        found = topology_of(frames).functions(frames)
        static = found and not function_of(frames).demand(frames).own_namespace
        if static and not _switch_routes(frames):
            allowed = f"must be 0: {frames.sut.vnf.kind} reads its routes from a file"
            yield Fault("routing.churn_per_s", routing.churn_per_s, allowed)
    if routing.backup and (routing.daemon is RoutingDaemon.STATIC or routing.ecmp > 1):
        allowed = 'needs routing.daemon = "frr" or "bird", and routing.ecmp = 1'
        yield Fault("routing.backup", True, allowed)
    if routing.bfd and routing.daemon is RoutingDaemon.STATIC:
        allowed = 'needs a session: set routing.daemon = "frr" or "bird"'
        yield Fault("routing.bfd", True, allowed)


def _destinations(frames: Frames, routing: Routing) -> Iterator[Fault]:
    """Yield what keeps frames from going to each prefix."""
    version, usual = frames.traffic.ip_version, Traffic()
    if (count := routing.prefixes(version)) < _FEWEST:
        allowed = f'must be at least {_FEWEST} with routing.destinations = "prefixes"'
        yield Fault(f"routing.ipv{version}", count, allowed)
    for key in ("flows", "flow_field", "pcap"):
        if (value := getattr(frames.traffic, key)) != getattr(usual, key):
            allowed = 'has no meaning with routing.destinations = "prefixes"'
            yield Fault(f"traffic.{key}", value, allowed)
    if (queues := frames.sut.vswitch.rx_queues) > 1:
        allowed = 'must be 1 with routing.destinations = "prefixes": one sender has all flows'
        yield Fault("sut.vswitch.rx_queues", queues, allowed)


def _function(frames: Frames, routing: Routing) -> Iterator[Fault]:
    """Yield what keeps the point's network functions from being the router."""
    found = topology_of(frames).functions(frames)
    if not found or not _takes_routes(function_of(frames), frames):
        kinds = " or ".join(show(kind.name) for kind in FUNCTIONS if _takes_routes(kind, frames))
        allowed = (
            f"needs a router: sut.vswitch.kind = {_routers(frames)}, or {kinds} as sut.vnf.kind"
        )
        yield Fault("routing", "(set)", allowed)
        return
    if routing.daemon is RoutingDaemon.STATIC:
        return
    if not function_of(frames).demand(frames).own_namespace:
        allowed = (
            f'must be "static": {frames.sut.vnf.kind} reads its routes from a file; sut.vnf.kind = '
            f'"router" and sut.vswitch.kind = {_routers(frames)} have routing daemons'
        )
        yield Fault("routing.daemon", str(routing.daemon), allowed)
    elif len(found) > 1:
        allowed = f'must be "static" with {len(found)} routers: a daemon and its peer serve one'
        yield Fault("routing.daemon", str(routing.daemon), allowed)


def _switch_routes(frames: Frames) -> bool:
    """Return whether the point's switch is a router that gets the table."""
    switch = switch_of(frames)
    return switch is not None and switch.needs(frames).routes


def _routers(frames: Frames) -> str:
    """Return the types of switch that are such a router, as text."""
    return " or ".join(show(kind.name) for kind in SWITCHES if kind.needs(frames).routes)


def _takes_routes(kind: FunctionKind, frames: Frames) -> bool:
    """Return whether a function of this type needs memory for a generated route."""
    none, one = (replace(frames, routing=Routing(ipv4=prefixes)) for prefixes in (0, 1))
    return kind.demand(one).tables_bytes > kind.demand(none).tables_bytes
