# SPDX-License-Identifier: Apache-2.0
"""Find errors of [routing]: points without a router that gets the table, values that disagree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wirespeed.bench.assembly.kinds import function_of, switch_of, topology_of
from wirespeed.bench.function import FUNCTIONS
from wirespeed.bench.function.interface import FunctionKind
from wirespeed.bench.switch.linux.router_kind import NAME as LINUX_ROUTER
from wirespeed.model.input.fault import Fault, show
from wirespeed.model.study.routing import Routing, RoutingDaemon
from wirespeed.model.study.spec import Frames


def broken_routing_rules(frames: Frames) -> Iterator[Fault]:
    """Yield every rule that the point's routing table breaks."""
    routing = frames.routing
    if routing is None:
        return
    switch = switch_of(frames)
    if switch is None or switch.name != LINUX_ROUTER:
        yield from _function(frames, routing)
    if routing.ecmp > routing.next_hops:
        allowed = f"must be at most routing.next_hops = {routing.next_hops}"
        yield Fault("routing.ecmp", routing.ecmp, allowed)
    if routing.daemon is not RoutingDaemon.STATIC and not routing.versions:
        allowed = "has nothing to learn: set routing.ipv4 or routing.ipv6"
        yield Fault("routing.daemon", str(routing.daemon), allowed)


def _function(frames: Frames, routing: Routing) -> Iterator[Fault]:
    """Yield what keeps the point's network functions from being the router."""
    found = topology_of(frames).functions(frames)
    if not found or not _takes_routes(function_of(frames), frames):
        kinds = " or ".join(show(kind.name) for kind in FUNCTIONS if _takes_routes(kind, frames))
        allowed = (
            f"needs a router: sut.vswitch.kind = {show(LINUX_ROUTER)}, or {kinds} as sut.vnf.kind"
        )
        yield Fault("routing", "(set)", allowed)
    elif routing.daemon is not RoutingDaemon.STATIC:
        allowed = (
            f'must be "static": {frames.sut.vnf.kind} reads its routes from a file; '
            f"sut.vswitch.kind = {show(LINUX_ROUTER)} has routing daemons"
        )
        yield Fault("routing.daemon", str(routing.daemon), allowed)


def _takes_routes(kind: FunctionKind, frames: Frames) -> bool:
    """Return whether a function of this type needs memory for a generated route."""
    none, one = (replace(frames, routing=Routing(ipv4=prefixes)) for prefixes in (0, 1))
    return kind.demand(one).tables_bytes > kind.demand(none).tables_bytes
