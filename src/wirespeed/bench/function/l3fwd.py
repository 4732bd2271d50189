# SPDX-License-Identifier: Apache-2.0
"""Run this project's router as a network function, with a static route for each stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from wirespeed.bench.function.counts import TaskCounts
from wirespeed.bench.function.fib_memory import fib_bytes
from wirespeed.bench.function.forwarder import counts_of_lanes, lanes, task_between
from wirespeed.bench.function.generated_routes import generated_tables, route_lines
from wirespeed.bench.function.interface import Demand, Setup
from wirespeed.bench.function.wsdp_tasks import WsdpFunctionKind
from wirespeed.bench.program.config import WsdpTask
from wirespeed.bench.routing.table import RoutingTable
from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.routes import destinations, most_destinations, not_routable
from wirespeed.bench.topology.wiring import PORTS, Forward
from wirespeed.model.input.fault import Fault
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.routing import Routing
from wirespeed.model.study.spec import Frames, VnfMode

_FORMAT = "wirespeed-routes 1"
_CAUSES = {
    "no_route": DropCause.NO_ROUTE,
    "ttl_expired": DropCause.TTL_EXPIRED,
    "bad_header": DropCause.BAD_HEADER,
}


class StaticRouter(WsdpFunctionKind):
    name = "l3fwd"
    summary = "this project's router with static routes: TTL, checksum, next hop's address"
    causes: Mapping[str, DropCause] = _CAUSES
    settings: tuple[str, ...] = ("routes", "hops")
    multipath = False
    """True if a route may have several next hops."""

    def faults(self, frames: Frames) -> Iterator[Fault]:
        vnf = frames.sut.vnf
        if vnf.kind != self.name:
            return
        if vnf.mode is not VnfMode.MAC:
            yield Fault("sut.vnf.mode", str(vnf.mode), "a router has no mode; leave it out")
        if frames.routing is not None and frames.routing.ecmp > 1 and not self.multipath:
            allowed = f'must be 1 with sut.vnf.kind = "{self.name}"; other routers have more'
            yield Fault("routing.ecmp", frames.routing.ecmp, allowed)
        yield from not_routable(frames, self.name)

    def rewritten(
        self, _frames: Frames, _header: Header, own: str, target: str, _side: str
    ) -> tuple[Header, str | None]:
        return Header(own, target), target

    def demand(self, frames: Frames) -> Demand:
        """Return the memory of the tables; each function of a shared process has its own."""
        vnfs, routing = frames.topology.vnfs, frames.routing
        routes = len(frames.directions) * vnfs * most_destinations(frames.traffic.flows)
        each = fib_bytes(frames.traffic.ip_version, routes)
        if routing is not None:
            each += sum(_bytes_of(routing, version) for version in routing.versions)
        return Demand(tables_bytes=vnfs * each)

    def tasks(self, setup: Setup) -> tuple[WsdpTask, ...]:
        return tuple(_task(self.name, setup, forward, queue) for forward, queue in lanes(setup))

    def files(self, setup: Setup) -> Mapping[str, str]:
        lines = (_FORMAT, *_lines(setup), *_generated_lines(setup))
        return {_path(setup): "\n".join(lines) + "\n"}

    def counts(self, setup: Setup) -> TaskCounts:
        counts = counts_of_lanes(setup, DropCause.VNF_DISCARD)
        return replace(counts, causes=self.causes, settings=self.settings)


def _bytes_of(routing: Routing, version: int) -> int:
    """Return the size of the tables of the generated prefixes of an IP version."""
    prefixes = routing.prefixes(version)
    return fib_bytes(version, prefixes, generated_tables(version, prefixes, routing.seed))


def _path(setup: Setup) -> str:
    return str(setup.run_dir / f"{setup.name}.routes")


def _task(kind: str, setup: Setup, forward: Forward, queue: int) -> WsdpTask:
    """Build a task from a queue of one port to the same queue of the routed port."""
    task = task_between(setup, forward, queue, kind, {"routes": _path(setup)})
    return replace(task, tx=tuple(setup.attachments[side].transmit[queue] for side in setup.sides))


def _lines(setup: Setup) -> Iterator[str]:
    """Yield a next hop for each direction, and the routes of that direction's streams to it."""
    for forward in setup.forwards:
        hop = setup.sides.index(forward.to_port)
        yield f"hop {hop} {hop} {setup.mac(forward.to_port)} {forward.dst_mac}"
        for prefix in stream_prefixes(setup, forward):
            yield f"route {prefix} {hop}"


def stream_prefixes(setup: Setup, forward: Forward) -> tuple[str, ...]:
    """Return the destinations of the streams of a direction."""
    start = PORTS[setup.sides.index(forward.from_port)]
    streams = [stream for stream in setup.streams if stream.from_port == start]
    found = (p for stream in streams for p in destinations(setup.frames, stream, len(streams)))
    return tuple(dict.fromkeys(found))


def _generated_lines(setup: Setup) -> Iterator[str]:
    """Yield the generated routes, to the next hops of all directions."""
    routing = setup.frames.routing
    if routing is not None and routing.versions:
        macs = {
            setup.sides.index(each.to_port): (setup.mac(each.to_port), each.dst_mac)
            for each in setup.forwards
        }
        yield from route_lines(RoutingTable(routing, tuple(sorted(macs))), macs)
