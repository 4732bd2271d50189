# SPDX-License-Identifier: Apache-2.0
"""This project's router as a network function: static routes to where each stream goes."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import replace

from wirespeed.bench.function.counts import TaskCounts
from wirespeed.bench.function.forwarder import counts_of_lanes, lanes, task_between
from wirespeed.bench.function.interface import Demand, Setup
from wirespeed.bench.function.wsdp_tasks import WsdpFunctionKind
from wirespeed.bench.program.config import WsdpTask
from wirespeed.bench.topology.addresses import Header, flows_of_each, mac_of, stream_ips
from wirespeed.bench.topology.wiring import PORTS, SIDES, End, Forward, Stream
from wirespeed.model.fault import Fault
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.spec import Frames, VnfMode
from wirespeed.model.trial import DropCause

_FORMAT = "wirespeed-routes 1"
# DPDK's rte_fib: 2^24 entries of two octets, and what its own tree takes.
_TABLE_BYTES = 40 << 20
# Streams are 256 IPv4 addresses apart.
_ADDRESSES = 256
_CAUSES = {
    "no_route": DropCause.NO_ROUTE,
    "ttl_expired": DropCause.TTL_EXPIRED,
    "bad_header": DropCause.BAD_HEADER,
}


class Router(WsdpFunctionKind):
    name = "l3fwd"
    summary = "this project's router with static routes: TTL, checksum, next hop's address"

    def faults(self, frames: Frames) -> Iterator[Fault]:
        traffic, vnf = frames.traffic, frames.sut.vnf
        if vnf.kind != self.name:
            return
        if vnf.mode is not VnfMode.MAC:
            yield Fault("sut.vnf.mode", str(vnf.mode), "a router has no mode; leave it out")
        if frames.bng is not None:
            yield Fault("sut.vnf.kind", self.name, "knows IP only, not a gateway's frames ([bng])")
        if traffic.pcap is not None:
            yield Fault("traffic.pcap", traffic.pcap, "has destinations that l3fwd has no route to")
        if traffic.encapsulation is not Encapsulation.NONE:
            tags = str(traffic.encapsulation)
            yield Fault("traffic.encapsulation", tags, "must be none: l3fwd takes untagged frames")
        both_ways = frames.topology.bidirectional and traffic.ip_version == 4
        if both_ways and traffic.flow_field is FlowField.DST_IP and traffic.flows > _ADDRESSES:
            allowed = f"must be at most {_ADDRESSES}: else both directions have the same addresses"
            yield Fault("traffic.flows", traffic.flows, allowed)

    def rewritten(
        self, _frames: Frames, _header: Header, own: str, target: str, _side: str
    ) -> tuple[Header, str | None]:
        return Header(own, target), target

    def demand(self, frames: Frames) -> Demand:
        """Functions that share a process each have tables there."""
        return Demand(tables_bytes=_TABLE_BYTES * frames.topology.vnfs)

    def tasks(self, setup: Setup) -> tuple[WsdpTask, ...]:
        return tuple(_task(setup, forward, queue) for forward, queue in lanes(setup))

    def files(self, setup: Setup) -> Mapping[str, str]:
        return {_path(setup): "\n".join((_FORMAT, *_lines(setup))) + "\n"}

    def counts(self, setup: Setup) -> TaskCounts:
        return replace(counts_of_lanes(setup, DropCause.VNF_DISCARD), causes=_CAUSES)


def _path(setup: Setup) -> str:
    return str(setup.run_dir / f"{setup.name}.routes")


def _task(setup: Setup, forward: Forward, queue: int) -> WsdpTask:
    """From a queue of one port to that queue of whichever port a route leads to."""
    task = task_between(setup, forward, queue, Router.name, {"routes": _path(setup)})
    return replace(task, tx=tuple(setup.attachments[side].transmit[queue] for side in SIDES))


def _lines(setup: Setup) -> Iterator[str]:
    """A next hop for each direction, and routes to it for what that direction's streams are sent
    to."""
    for forward in setup.forwards:
        hop = SIDES.index(forward.to_port)
        yield f"hop {hop} {hop} {mac_of(End(setup.name, forward.to_port))} {forward.dst_mac}"
        start = PORTS[SIDES.index(forward.from_port)]
        streams = [stream for stream in setup.streams if stream.from_port == start]
        found = (p for stream in streams for p in _prefixes(setup.frames, stream, len(streams)))
        for prefix in dict.fromkeys(found):
            yield f"route {prefix} {hop}"


def _prefixes(frames: Frames, stream: Stream, streams: int) -> Iterator[str]:
    """The addresses of the stream's flows, and no others. streams: of its direction."""
    traffic = frames.traffic
    _, written = stream_ips(stream.number, traffic.ip_version)
    first = ipaddress.ip_address(written)
    stepped = traffic.flow_field is FlowField.DST_IP
    last = first + (flows_of_each(traffic, streams) - 1 if stepped else 0)
    yield from map(str, ipaddress.summarize_address_range(first, last))
