# SPDX-License-Identifier: Apache-2.0
"""Derive the destination prefixes of a stream, for routers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from wirespeed.bench.topology.addresses import flows_of_each, stream_ips
from wirespeed.bench.topology.wiring import Stream
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames

# Distance between the IPv4 addresses of two streams.
_ADDRESSES = 256


def destinations(frames: Frames, stream: Stream, streams: int) -> Iterator[str]:
    """Yield prefixes that hold exactly the destinations of the stream's flows.

    streams: number of streams of its direction.
    """
    traffic = frames.traffic
    _, written = stream_ips(stream.number, traffic.ip_version)
    first = ipaddress.ip_address(written)
    stepped = traffic.flow_field is FlowField.DST_IP
    last = first + (flows_of_each(traffic, streams) - 1 if stepped else 0)
    yield from map(str, ipaddress.summarize_address_range(first, last))


def most_destinations(flows: int) -> int:
    """Return an upper bound on the prefixes that hold a range of this many addresses."""
    return 2 * flows.bit_length()


def not_routable(frames: Frames, router: str) -> Iterator[Fault]:
    """Yield the traffic that a router cannot forward by destination alone."""
    traffic = frames.traffic
    if frames.bng is not None:
        yield Fault("bng", "(set)", f"{router} knows IP only, not a gateway's frames")
    if traffic.pcap is not None:
        yield Fault("traffic.pcap", traffic.pcap, f"has destinations {router} has no route to")
    if traffic.encapsulation is not Encapsulation.NONE:
        tags = str(traffic.encapsulation)
        yield Fault("traffic.encapsulation", tags, f"must be none: {router} takes untagged frames")
    both_ways = frames.topology.bidirectional and traffic.ip_version == 4
    if both_ways and traffic.flow_field is FlowField.DST_IP and traffic.flows > _ADDRESSES:
        allowed = f"must be at most {_ADDRESSES}: else both directions have the same addresses"
        yield Fault("traffic.flows", traffic.flows, allowed)
