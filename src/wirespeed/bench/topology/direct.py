# SPDX-License-Identifier: Apache-2.0
"""Wire topologies in which the generator's ports lead straight into one function."""

from __future__ import annotations

from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.interface import Rewriting
from wirespeed.bench.topology.wiring import (
    GENERATOR,
    PORTS,
    SIDES,
    Cable,
    End,
    Forward,
    Stream,
    Wiring,
    generator_mac,
)
from wirespeed.model.study.spec import Frames


def streams(frames: Frames) -> tuple[Stream, ...]:
    """Return one stream for each direction."""
    ends = {0: PORTS, 1: PORTS[::-1]}
    return tuple(
        Stream(f"{start}-{end}", i, start, end, generator_mac(start), generator_mac(end))
        for i in frames.directions
        for start, end in [ends[i]]
    )


def between_ports(frames: Frames, function: Rewriting, name: str) -> Wiring:
    """Connect the generator's ports to the two sides of one function."""
    cables = tuple(
        Cable(End(GENERATOR, port), End(name, side))
        for port, side in zip(PORTS, SIDES, strict=True)
    )
    offered = streams(frames)
    return Wiring(
        cables, offered, tuple(_forward(frames, function, name, stream) for stream in offered)
    )


def _forward(frames: Frames, function: Rewriting, name: str, stream: Stream) -> Forward:
    side_of = dict(zip(PORTS, SIDES, strict=True))
    leaves = side_of[stream.to_port]
    header = Header(stream.src_mac, stream.dst_mac)
    _, target = function.rewritten(frames, header, stream.dst_mac, stream.dst_mac, leaves)
    return Forward(name, side_of[stream.from_port], leaves, target)
